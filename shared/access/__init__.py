"""Who asks over HTTP: keys of ours, and tokens of issuers that policy names."""

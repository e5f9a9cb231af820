"""Who asks, over HTTP and over Kafka: keys of ours, and over HTTP tokens of issuers that policy names."""

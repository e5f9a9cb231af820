"""The labelled corpus, and how the weights of `shared.text.linear` are fitted to it: `make learn`."""

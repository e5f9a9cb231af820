"""The labelled corpus, and how the weights of `shared.language.linear` are fitted to it: `make learn`."""

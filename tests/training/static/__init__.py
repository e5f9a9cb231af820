"""Builds the static encoder: tokens, their vectors from two sentence encoders, a fit to natural sentences."""

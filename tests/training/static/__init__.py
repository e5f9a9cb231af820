"""How the static encoder is made: tokens, their vectors by two sentence encoders, a fit to natural sentences."""

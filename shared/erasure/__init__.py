"""Erasure as everybody needs it: the rules, the request, what is blotted out."""

"""Shared parts of erasure: rules, request, blanking."""

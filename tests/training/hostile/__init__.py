"""Texts with orders to a model, and similar harmless ones."""

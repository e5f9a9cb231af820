"""Texts that give orders to the model that reads them, and harmless ones that look like them."""

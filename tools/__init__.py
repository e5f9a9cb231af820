"""Developer tools, not in the wheel."""

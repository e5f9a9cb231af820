"""What developers run: none of it is in the wheel."""

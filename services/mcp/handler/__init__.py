"""What each tool does, by asking compose over HTTP."""

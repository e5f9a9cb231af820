"""The functions of the tools, which call compose over HTTP."""

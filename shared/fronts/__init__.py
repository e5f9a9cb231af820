"""Shared by services that only call compose over HTTP: callers, connections, refusals, checks of origins."""

"""What every service stands on that only asks compose over HTTP: who asks, the connections, refusals, foreign pages."""

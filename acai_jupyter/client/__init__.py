"""The typed HTTP client: the only way to reach the server."""

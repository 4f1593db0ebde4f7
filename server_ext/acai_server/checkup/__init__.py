"""Whether what the server stands on works."""

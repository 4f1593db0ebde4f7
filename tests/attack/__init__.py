"""Attack campaigns: repeatable random attempts to lose data, to see what is restricted and to break the server."""

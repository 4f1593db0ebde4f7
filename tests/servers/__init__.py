"""Real servers for tests: each a context manager that binds to loopback and ends its own process."""

"""The graph of what came from what."""

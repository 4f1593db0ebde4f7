"""Finding contents whose bytes are damaged or lost, and healing them."""

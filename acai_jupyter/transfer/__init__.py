"""Moving, hashing and packing bytes. Standard library only, Python 3.8: the client and the agent both use it."""

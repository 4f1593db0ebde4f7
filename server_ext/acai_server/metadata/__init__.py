"""Attributes, and the query language over them."""

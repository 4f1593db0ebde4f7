"""The tests; the folders say of which kind."""

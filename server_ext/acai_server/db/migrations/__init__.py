"""Migrations, in the order of their numbers. Each is written so that the version before can go on reading."""

"""Decisions on runs that others measured: how good predictions, plans of profiles and chosen machines are."""

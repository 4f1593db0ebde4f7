"""Kills clients and servers of the data lake at random moments, and checks that nothing was lost. `make kills`."""

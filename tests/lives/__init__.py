"""Servers and agents killed at random moments while jobs are in all states; afterwards every job has one right end."""

"""Which database an object store belongs to, and which copy of that database may delete from it."""

"""Power cuts: what programs write is recorded, and the disk is rebuilt as it would be after the power failed."""

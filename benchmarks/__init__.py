"""What `make bench` runs: our numbers beside the peers' and the limits, interleaved in one run."""

"""The data lake beside its peers, interleaved in one run; medians."""

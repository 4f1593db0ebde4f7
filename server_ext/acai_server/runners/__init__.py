"""Starting attempts somewhere. Protocol `Runner`, backend process; a third kind goes beside it."""

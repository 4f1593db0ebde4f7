"""Each verb once: its arguments, its call, its result. The CLI and the magics are two faces of it."""

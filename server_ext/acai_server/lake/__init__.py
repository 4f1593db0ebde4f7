"""Files, upload sessions, file sets and their manifests."""

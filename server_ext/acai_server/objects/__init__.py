"""Where bytes rest. Protocol `ObjectStore`, backends memory, filesystem and s3."""

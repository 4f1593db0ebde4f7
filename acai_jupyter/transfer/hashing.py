"""SHA-256 of files."""

import hashlib
from typing import BinaryIO

BUFFER = 1024 * 1024


def hash_stream(stream: BinaryIO) -> str:
    """Return the SHA-256 of what is left in a stream."""
    digest = hashlib.sha256()
    while True:
        piece = stream.read(BUFFER)
        if not piece:
            return digest.hexdigest()
        digest.update(piece)


def hash_bytes(data: bytes) -> str:
    """Return the SHA-256 of bytes."""
    return hashlib.sha256(data).hexdigest()


def hash_file(path: str) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hash_stream(stream)

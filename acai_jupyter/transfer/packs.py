"""Packs: one object with the bytes of many small files after each other."""

import hashlib
from typing import BinaryIO, Iterable, List, NamedTuple, Tuple

from acai_jupyter.transfer.hashing import BUFFER


class Packed(NamedTuple):
    """One file inside a pack."""

    name: str
    offset: int
    size_bytes: int
    sha256: str


class Pack(NamedTuple):
    """A pack as it was written."""

    files: List[Packed]
    size_bytes: int
    sha256: str


def write_pack(files: Iterable[Tuple[str, str]], out: BinaryIO) -> Pack:
    """Write files, given as (name, path), one after the other; each byte is read once."""
    packed: List[Packed] = []
    whole = hashlib.sha256()
    offset = 0
    for name, path in files:
        digest = hashlib.sha256()
        size = 0
        with open(path, "rb") as source:
            while True:
                piece = source.read(BUFFER)
                if not piece:
                    break
                digest.update(piece)
                whole.update(piece)
                size += len(piece)
                out.write(piece)
        packed.append(Packed(name, offset, size, digest.hexdigest()))
        offset += size
    return Pack(packed, offset, whole.hexdigest())

"""Adds bytecode for the running Python to an agent: it starts faster. Other Pythons read its sources as before."""

import io
import marshal
import struct
import zipfile
from importlib.util import MAGIC_NUMBER, source_hash

EPOCH = (1980, 1, 1, 0, 0, 0)
_UNCHECKED = 1
"""Nobody needs to compare it with its source, which is in the same file."""


def compiled(archive: bytes) -> bytes:
    """Return the agent with bytecode beside each source."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(archive)) as source, zipfile.ZipFile(out, "w") as target:
        for name in source.namelist():
            body = source.read(name)
            target.writestr(zipfile.ZipInfo(name, EPOCH), body)
            if name.endswith(".py"):
                target.writestr(zipfile.ZipInfo(name + "c", EPOCH), _bytecode(body, name))
    return out.getvalue()


def _bytecode(source: bytes, name: str) -> bytes:
    code = compile(source, name, "exec", dont_inherit=True)
    return MAGIC_NUMBER + struct.pack("<I", _UNCHECKED) + source_hash(source) + marshal.dumps(code)

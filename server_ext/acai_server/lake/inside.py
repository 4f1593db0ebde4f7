"""What other services do in the lake inside their own transaction. `app.py` hands this module to them."""

from acai_server.lake.commits import record
from acai_server.lake.filesets import add_version, read
from acai_server.lake.merging import merge

__all__ = ["add_version", "merge", "read", "record"]

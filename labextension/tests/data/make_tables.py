"""Makes the Parquet files of these tests anew: `python make_tables.py`, with pyarrow."""

from __future__ import annotations

import hashlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

ROWS = 5_000
FOLDER = Path(__file__).parent


def main() -> None:
    """Write the same table as different programs do."""
    begin = datetime(2026, 1, 1, tzinfo=UTC)
    table = pa.table(
        {
            "number": range(ROWS),
            "name": [f'<img src=x>, "{n}"\nof it' for n in range(ROWS)],
            "digest": [hashlib.sha256(str(n).encode()).digest()[:12] for n in range(ROWS)],
            "share": [None if n % 7 == 0 else n / 8 for n in range(ROWS)],
            "at": [begin + timedelta(hours=n) for n in range(ROWS)],
            "list": [[n, n + 1] for n in range(ROWS)],
        }
    )
    options = {"row_group_size": 1_000, "use_dictionary": False}
    for codec in ("snappy", "zstd", "gzip", "lz4", "brotli"):
        pq.write_table(table, FOLDER / f"{codec}.parquet", compression=codec, **options)


if __name__ == "__main__":
    main()

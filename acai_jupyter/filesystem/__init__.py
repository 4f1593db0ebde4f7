"""`acai://`: files of a project as fsspec opens them, for pandas, pyarrow, polars, duckdb and whatever else uses it."""

from acai_jupyter.filesystem.system import AcaiFileSystem

__all__ = ["AcaiFileSystem"]

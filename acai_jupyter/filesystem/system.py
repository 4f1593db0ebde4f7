"""The file system that fsspec knows as `acai`."""

from __future__ import annotations

import io
import os
import re
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from shutil import copyfileobj
from typing import TYPE_CHECKING, Any

from fsspec import AbstractFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK
from fsspec.utils import glob_translate, isfilelike, stringify_path

from acai_jupyter.client import downloads
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.files import RemoveFiles
from acai_jupyter.contract.specs import encode_path
from acai_jupyter.filesystem import addresses, links
from acai_jupyter.filesystem.addresses import Address, address
from acai_jupyter.filesystem.listing import details, entries, file_version, folder, folders_of, listed
from acai_jupyter.filesystem.reading import GrowingReadAhead, Version, VersionReader, read_ranges
from acai_jupyter.filesystem.writing import Batch, Draft, LocalFile, commit

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

BLOCK_BYTES = 8 * 1024 * 1024
"""How far a file that is read from front to back is read ahead at most."""
THREADS = 4
_MAGIC = re.compile(r"[*?\[]")


class AcaiFileSystem(AbstractFileSystem):  # type: ignore[misc]
    """Files of projects. Paths are specs: what names a version or a set is read-only, the rest means the latest."""

    protocol = addresses.PROTOCOL
    root_marker = "/"
    transaction_type = Batch
    blocksize = BLOCK_BYTES

    def __init__(self, **storage_options: Any) -> None:
        super().__init__(**storage_options)
        self._made: set[str] = set()

    @classmethod
    def _strip_protocol(cls, path: Any) -> Any:
        if isinstance(path, list):
            return [cls._strip_protocol(one) for one in path]
        return addresses.strip(stringify_path(path))

    def unstrip_protocol(self, name: str) -> str:
        """Return the URL of a path."""
        return addresses.url(name)

    @classmethod
    def _parent(cls, path: str) -> str:
        return addresses.parent(path)

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:  # noqa: FBT002 (fsspec's)
        """List a folder. What a numbered version of a set holds is remembered: it does not change."""
        del kwargs
        asked = address(path)
        found = self.dircache.get(asked.path)
        if found is None:
            found = [] if self._is_made_and_empty(asked) else listed(asked)
            if asked.is_immutable:
                self.dircache[asked.path] = found
        return [dict(one) for one in found] if detail else [one["name"] for one in found]

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Return what something is; of a file its size, version and SHA-256 too."""
        del kwargs
        asked = address(path)
        first = None if self._is_made_and_empty(asked) else next(entries(asked, 1), None)
        if first is None or first.path != asked.spec.path:
            return folder(asked.path)
        return details(asked.path, first)

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Whether something is there. A server that does not answer is an error."""
        try:
            self.info(path, **kwargs)
        except (FileNotFoundError, BadRequest):
            return False
        return True

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,  # noqa: FBT002 (fsspec's)
        detail: bool = False,  # noqa: FBT002 (fsspec's)
        **kwargs: Any,
    ) -> Any:
        """List all files below a folder: in pages, not folder by folder."""
        if maxdepth is not None:
            return super().find(path, maxdepth, withdirs, detail, **kwargs)
        asked = address(path)
        try:
            files = list(entries(asked))
        except FileNotFoundError:
            files = []
        found = {asked.named(one.path): details(asked.named(one.path), one) for one in files}
        if withdirs:
            found |= folders_of(asked, files)
        return dict(sorted(found.items())) if detail else sorted(found)

    def glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any:
        """Find files by a pattern; with a set behind it, in that set: `/img/*.png@train`."""
        project, location, file_set, below = addresses.cut(stringify_path(path))
        magic = _MAGIC.search(location)
        if not file_set or below or magic is None:
            return super().glob(path, maxdepth, **kwargs)
        root = location[: location.rindex("/", 0, magic.start())]
        depth = maxdepth if "**" in location else location[len(root) :].count("/")
        pattern = re.compile(glob_translate(location))
        kept = {}
        for name, one in self.find(f"{project}{root or '/'}{file_set}", depth, withdirs=True, detail=True).items():
            place = encode_path(address(name).spec.path)
            if pattern.match(place):
                kept[f"{project}{place}{file_set}"] = one | {"name": f"{project}{place}{file_set}"}
        return kept if kwargs.get("detail") else list(kept)

    def created(self, path: str) -> datetime:
        """Return when a version was made."""
        return file_version(address(path), self.info(path)).created_at

    def modified(self, path: str) -> datetime:
        """Return the same: a version does not change."""
        return self.created(path)

    def checksum(self, path: str) -> str:
        """Return the SHA-256."""
        return self.ukey(path)

    def ukey(self, path: str) -> str:
        """Return what is the same only as long as the content is: its SHA-256."""
        found = self.info(path)
        if found["type"] == "directory":
            raise IsADirectoryError(f"'{path}' is a folder; name one file.")
        return str(found["sha256"])

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """Return a file's content, or a slice of it."""
        del kwargs
        return Version(address(path)).read_slice(start, end)

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """Return slices of files; each file is looked up once, and neighbours are fetched together."""
        del max_gap, kwargs
        starts = starts if isinstance(starts, list) else [starts] * len(paths)
        ends = ends if isinstance(ends, list) else [ends] * len(paths)
        by_path: dict[str, list[int]] = {}
        for number, (path, _, _) in enumerate(zip(paths, starts, ends, strict=True)):
            by_path.setdefault(path, []).append(number)

        def read(path: str) -> list[bytes]:
            version = Version(address(path))
            return read_ranges(version, [version.bounds(starts[number], ends[number]) for number in by_path[path]])

        found: dict[int, Any] = {}
        with ThreadPoolExecutor(THREADS, "acai-ranges") as pool:
            for path, reading in [(path, pool.submit(read, path)) for path in by_path]:
                error = reading.exception()
                if error is not None and on_error != "return":
                    raise error
                results = reading.result() if error is None else [error] * len(by_path[path])
                found.update(zip(by_path[path], results, strict=True))
        return [found[number] for number in range(len(paths))]

    def get(
        self,
        rpath: Any,
        lpath: Any,
        recursive: bool = False,  # noqa: FBT002 (fsspec's)
        callback: Any = DEFAULT_CALLBACK,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        """Fetch files to this disk, verified; a whole folder with few requests."""
        del kwargs
        if maxdepth is not None:
            raise NotImplementedError(
                "get() fetches folders whole; find() with maxdepth and get() of a list do the rest"
            )
        if isinstance(rpath, list) or _MAGIC.search(rpath):
            self._get_each(rpath, lpath, callback, recursive)
            return
        inside = str(lpath)
        if self.isdir(rpath):
            if not recursive:
                return
            into_it = os.path.isdir(inside) and not rpath.endswith("/")  # noqa: PTH112 (a string, as given)
            inside = os.path.join(inside, address(rpath).name if into_it else "")  # noqa: PTH118
        self._fetch(rpath, inside, callback)

    def _get_each(self, rpath: Any, lpath: Any, callback: Any, recursive: bool) -> None:
        """Fetch what a list or a pattern names: to the paths of another list, or all into one folder."""
        if isinstance(rpath, list) and isinstance(lpath, list):
            pairs = list(zip(rpath, lpath, strict=True))
        else:
            pairs = [(path, os.path.join(lpath, "")) for path in self.expand_path(rpath)]  # noqa: PTH118
        callback.set_size(len(pairs))
        for remote, local in callback.wrap(pairs):
            with callback.branched(remote, local) as child:
                self.get(remote, local, recursive=recursive, callback=child)

    def get_file(
        self, rpath: str, lpath: Any = None, callback: Any = DEFAULT_CALLBACK, outfile: Any = None, **kwargs: Any
    ) -> None:
        """Fetch one file; what stands there is replaced when it is whole."""
        if outfile is not None or isfilelike(lpath):
            super().get_file(rpath, lpath, callback, outfile, **kwargs)
        elif self.isdir(rpath):
            os.makedirs(lpath, exist_ok=True)  # noqa: PTH103 (a string, as given)
        else:
            self._fetch(rpath, str(lpath), callback)

    def _fetch(self, rpath: str, lpath: str, callback: Any) -> None:
        asked = address(rpath)
        with links.told_to_python():
            client = links.client(asked.project)
            downloads.get(client, str(asked.spec), lpath, force=True, on_bytes=callback.relative_update)

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | str | None = None,
        autocommit: bool = True,  # noqa: FBT002 (fsspec's)
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> VersionReader | Draft:
        if mode == "rb":
            return VersionReader(
                self,
                Version(address(path)),
                block_size=block_size if isinstance(block_size, int) else BLOCK_BYTES,
                cache_type=kwargs.get("cache_type", GrowingReadAhead.name),
                cache_options=cache_options,
            )
        if mode not in ("wb", "xb"):
            raise io.UnsupportedOperation(f"a file version does not change: mode '{mode}' is not 'r', 'w' or 'x'")
        _to_write(path)
        if mode == "xb" and self.exists(path):
            raise FileExistsError(f"There is a file {path} already.")
        return Draft(path, autocommit=autocommit)

    def put(self, *args: Any, **kwargs: Any) -> None:
        """Upload files from this disk, in one upload session."""
        with self._one_session(reads_at_once=True):
            super().put(*args, **kwargs)

    def pipe(self, *args: Any, **kwargs: Any) -> None:
        """Write contents, in one upload session."""
        with self._one_session():
            super().pipe(*args, **kwargs)

    def copy(self, *args: Any, **kwargs: Any) -> None:
        """Copy files inside the lake, in one upload session; no bytes are sent."""
        with self._one_session():
            super().copy(*args, **kwargs)

    @contextmanager
    def _one_session(self, *, reads_at_once: bool = False) -> Iterator[None]:
        """Open a transaction for one call, unless the user has."""
        if self._intrans:
            yield
            return
        with self.transaction as batch:
            batch.reads_at_once = reads_at_once
            yield

    def put_file(
        self, lpath: str, rpath: str, callback: Any = DEFAULT_CALLBACK, mode: str = "overwrite", **kwargs: Any
    ) -> None:
        """Upload one file. In a transaction of the user's it is taken as it is now."""
        taken_now = self._intrans and not self.transaction.reads_at_once
        if taken_now or mode != "overwrite" or not os.path.isfile(lpath):  # noqa: PTH113 (a string, as given)
            super().put_file(lpath, rpath, callback, mode, **kwargs)
            return
        _to_write(rpath)
        file = LocalFile(rpath, lpath)
        if self._intrans:
            self.transaction.files.append(file)
        else:
            commit([file])

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copy one file; what the project has is not sent again."""
        del kwargs
        if self.isdir(path1):
            return
        with self.open(path1) as source, self.open(path2, "wb") as target:
            copyfileobj(source, target)

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:  # noqa: FBT002 (fsspec's)
        """Send nothing: folders are there because files are below them. That it was made is known here only."""
        del create_parents, kwargs
        self._made.add(_to_write(path).path)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:  # noqa: FBT002 (fsspec's)
        """Do the same."""
        del exist_ok
        self.mkdir(path)

    def rmdir(self, path: str) -> None:
        """Forget that it was made: a folder is gone with its last file."""
        self._made.discard(_to_write(path).path)

    def _is_made_and_empty(self, asked: Address) -> bool:
        if asked.path not in self._made:
            return False
        try:
            return next(entries(asked, 1), None) is None
        except FileNotFoundError:
            return True

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:  # noqa: FBT002 (fsspec's)
        """Delete files, with all their versions; what a file set holds is refused."""
        for one in self.expand_path(path, maxdepth=maxdepth):
            for name in self.find(one, maxdepth=maxdepth) if recursive else [one]:
                self.rm_file(name)

    def rm_file(self, path: str) -> None:
        """Delete a file, or one version of it."""
        asked = address(path)
        if asked.spec.file_set is not None:
            raise PermissionError(f"'{path}' is in a version of a file set, and that never changes.")
        asked.call(endpoints.REMOVE_FILES, RemoveFiles(str(asked.spec)))


def _to_write(path: str) -> Address:
    asked = address(path)
    if asked.is_version:
        raise PermissionError(f"'{path}' names a version, which never changes; write to '{asked.plain}'.")
    return asked

"""What is in folders and sets, as fsspec is told of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from acai_jupyter.contract import endpoints
from acai_jupyter.contract.files import ChildKind
from acai_jupyter.contract.specs import encode_path

if TYPE_CHECKING:
    from collections.abc import Iterator

    from acai_jupyter.contract.files import Child, FileVersion, Place
    from acai_jupyter.contract.filesets import Entry
    from acai_jupyter.filesystem.addresses import Address

PAGE = 1000


def details(name: str, file: Place | Entry) -> dict[str, Any]:
    """Return what fsspec is told of a file."""
    return {"name": name, "type": "file", "size": file.size_bytes, "version": file.version, "sha256": file.sha256}


def folder(name: str) -> dict[str, Any]:
    """Return what fsspec is told of a folder."""
    return {"name": name, "type": "directory", "size": 0}


def entries(asked: Address, limit: int | None = None) -> Iterator[Entry]:
    """Iterate over the files that an address names, by path; or the first few."""
    query = {"spec": str(asked.spec), "limit": limit or PAGE}
    page = asked.call(endpoints.LIST_FILES, query=query)
    yield from page.entries
    while page.next is not None and limit is None:
        page = asked.call(endpoints.LIST_FILES, query={**query, "after": page.next})
        yield from page.entries


def listed(asked: Address) -> list[dict[str, Any]]:
    """Return a folder's children, or the file itself."""
    if asked.spec.version is not None:
        return [details(asked.path, one) for one in entries(asked)]
    query: dict[str, Any] = {"path": asked.spec.path, "limit": PAGE}
    if asked.spec.file_set is not None:
        query["file_set"] = str(asked.spec.file_set)
    page = asked.call(endpoints.LIST_FOLDER, query=query)
    found = [_child(asked, page.path, child) for child in page.children]
    while page.next is not None:
        page = asked.call(endpoints.LIST_FOLDER, query={**query, "after": page.next})
        found += [_child(asked, page.path, child) for child in page.children]
    return found


def folders_of(asked: Address, files: list[Entry]) -> dict[str, dict[str, Any]]:
    """Return the folders that files are in, down from the one that was asked for."""
    root = asked.spec.path.rstrip("/")
    found: set[str] = set()
    for file in files:
        path = file.path
        while len(path) > len(root) and path not in found:
            found.add(path)
            path = path[: path.rindex("/")]
        found.add(path)
    found -= {file.path for file in files}
    return {asked.named(path or "/"): folder(asked.named(path or "/")) for path in found}


def file_version(asked: Address, found: dict[str, Any]) -> FileVersion:
    """Return all that is known of the file version that was found."""
    if found["type"] == "directory":
        raise IsADirectoryError(f"'{asked.path}' is a folder, which has no time of its own.")
    query = {"path": encode_path(asked.spec.path), "before": found["version"] + 1, "limit": 1}
    return asked.call(endpoints.LIST_VERSIONS, query=query).versions[0]


def _child(asked: Address, above: str, child: Child) -> dict[str, Any]:
    name = asked.named(above + child.name)
    if child.kind is ChildKind.FOLDER:
        return folder(name)
    return {
        "name": name,
        "type": "file",
        "size": child.size_bytes,
        "version": child.version,
        "created": child.created_at,
    }

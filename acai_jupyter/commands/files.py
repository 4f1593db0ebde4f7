"""`get`, `ls`, `cat`, `versions`, `rm`: files of the project."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.client import downloads
from acai_jupyter.commands.listings import Listing
from acai_jupyter.commands.progress import Progress
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import ago, duration, files_of, size
from acai_jupyter.commands.views import LogOutput, view_of
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.files import Child, ChildKind, FileVersion, FolderPage, RemoveFiles, VersionPage
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.specs import encode_path, parse_input

if TYPE_CHECKING:
    from argparse import Namespace

    from acai_jupyter.client.http import Client


def get(client: Client, arguments: Namespace) -> Result:
    """Fetch what a spec names."""
    began = time.monotonic()
    spec = str(parse_input(arguments.spec))
    with Progress(quiet=arguments.no_progress) as progress:
        fetched = downloads.get(client, spec, arguments.dest, force=arguments.force, on_bytes=progress.advance)
    parts = [f"{files_of(fetched.files)}, {size(fetched.size_bytes)}"]
    if fetched.unchanged_files:
        was = "was" if fetched.unchanged_files == 1 else "were"
        parts.append(f"{fetched.unchanged_files:,} {was} there already")
    return Result(" · ".join([*parts, duration(time.monotonic() - began)]), fetched, "download")


def ls(client: Client, arguments: Namespace) -> Result:
    """List a folder, of the project or of a file set."""
    page = list_folder(client, arguments.spec)
    if arguments.long:
        head = ["size", "version", "made", "name"]
        listing = Listing([_row(child) for child in page.children], ">><<", head, page.path)
    else:
        listing = Listing([[_name(child)] for child in page.children], "<", caption=page.path)
    return Result(listing.text, page, "folder", html=listing.html)


def list_folder(client: Client, text: str) -> FolderPage:
    """Return all children of a folder."""
    spec = parse_input(text)
    if spec.version is not None:
        version = client.call(endpoints.LIST_FILES, query={"spec": text}).entries[0]
        folder, _, name = version.path.rpartition("/")
        return FolderPage(f"{folder}/", [Child(name, ChildKind.FILE, version.version, version.size_bytes)])
    query: dict[str, Any] = {"path": spec.path}
    if spec.file_set is not None:
        query["file_set"] = str(spec.file_set)
    page = client.call(endpoints.LIST_FOLDER, query=query)
    children = list(page.children)
    following = page.next
    while following is not None:
        more = client.call(endpoints.LIST_FOLDER, query={**query, "after": following})
        children += more.children
        following = more.next
    return msgspec.structs.replace(page, children=children, next=None)


def cat(client: Client, arguments: Namespace) -> Result:
    """Show a file's content: as it is on a shell's output, as text on a terminal and in a notebook."""
    pieces = downloads.read(client, arguments.spec)
    if arguments.json or "ipykernel" in sys.modules:
        text = b"".join(pieces).decode(errors="replace")
        return Result(text.removesuffix("\n"), text, "text")
    output = LogOutput(view_of(arguments), is_whole=True, raw=arguments.raw)
    for piece in pieces:
        output.write(piece)
    output.close()
    return Result("", None, "text")


def versions(client: Client, arguments: Namespace) -> Result:
    """List the versions of a file, the newest first."""
    page = list_versions(client, arguments.path)
    head = ["version", "size", "made", "by", "content"]
    listing = Listing([_version_row(version) for version in page.versions], ">><<<", head, arguments.path)
    return Result(listing.text, page, "versions", html=listing.html)


def list_versions(client: Client, path: str) -> VersionPage:
    """Return all versions of a file."""
    page = client.call(endpoints.LIST_VERSIONS, query={"path": path})
    found = list(page.versions)
    following = page.next
    while following is not None:
        more = client.call(endpoints.LIST_VERSIONS, query={"path": path, "before": following})
        found += more.versions
        following = more.next
    return msgspec.structs.replace(page, versions=found, next=None)


def rm(client: Client, arguments: Namespace) -> Result:
    """Delete a version of a file, or all of them; with `--undo` bring them back."""
    spec = parse_input(arguments.spec)
    if spec.file_set is not None or spec.is_folder:
        hint = (
            f"; a file set is deleted by acai fileset rm {spec.file_set}" if spec.file_set and spec.path == "/" else ""
        )
        raise BadRequest(reason=f"'{arguments.spec[:80]}' is not a file or one of its versions{hint}")
    removed = client.call(endpoints.REMOVE_FILES, RemoveFiles(arguments.spec, undo=arguments.undo))
    path = encode_path(removed.path)
    if not removed.versions:
        return Result(f"nothing of {path} {'was' if arguments.undo else 'is there to be'} deleted", removed, "removal")
    what = f"{len(removed.versions)} version{'s' if len(removed.versions) != 1 else ''} of {path}"
    if arguments.undo:
        return Result(f"{what} {'is' if len(removed.versions) == 1 else 'are'} back", removed, "removal")
    return Result(f"{what} deleted · back: acai rm --undo {arguments.spec}", removed, "removal")


def _name(child: Child) -> str:
    return one_line(child.name) + ("/" if child.kind is ChildKind.FOLDER else "")


def _row(child: Child) -> list[str]:
    if child.kind is ChildKind.FOLDER:
        return ["", "", "", _name(child)]
    time_text = f"{child.created_at.astimezone():%Y-%m-%d %H:%M}" if child.created_at else ""
    return [size(child.size_bytes or 0), f":{child.version}", time_text, child.name]


def _version_row(version: FileVersion) -> list[str]:
    left = "deleted" if version.deleted_at else version.sha256[:12]
    storage = "" if version.storage.value == "frequent" else version.storage.value
    return [
        f":{version.version}",
        size(version.size_bytes),
        ago(version.created_at),
        version.creator,
        f"{left} {storage}",
    ]

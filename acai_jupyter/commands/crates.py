"""`export` and `verify`: a result with its lineage as one zip, and whether its files are still what they were."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
import zlib
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import msgspec

from acai_jupyter import trees
from acai_jupyter.client import downloads, filesets, lineages
from acai_jupyter.client.told import told_by_store
from acai_jupyter.commands.crate_entities import METADATA, SHA256, describe, file, folder_of
from acai_jupyter.commands.missing import no_path
from acai_jupyter.commands.results import Result
from acai_jupyter.commands.units import files_of, size
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import BadRequest, Conflict, NotFound
from acai_jupyter.contract.foreign import one_line
from acai_jupyter.contract.specs import parse_input
from acai_jupyter.contract.states import InputRole
from acai_jupyter.transfer.errors import not_written

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator

    from acai_jupyter.client.http import Client
    from acai_jupyter.contract.filesets import FileSet
    from acai_jupyter.contract.provenance import Graph

DEEP = 100
LIMIT = 2000
MAX_DESCRIPTION_BYTES = 256 * 1024**2
SHOWN = 10
_PIECE = 1024 * 1024


class Exported(msgspec.Struct, frozen=True):
    """What went into a crate."""

    file: str
    spec: str
    file_count: int
    size_bytes: int
    jobs: int


class Verified(msgspec.Struct, frozen=True):
    """What is in a crate: how many files are as described, and those that are not."""

    name: str
    file_count: int
    size_bytes: int
    changed: list[str] = []
    missing: list[str] = []
    unknown: list[str] = []
    """What is in the zip and not in its description."""

    @property
    def is_whole(self) -> bool:
        """Whether all is as described."""
        return not (self.changed or self.missing or self.unknown)


def export(client: Client, arguments: Namespace) -> Result:
    """Write the files of a set, their lineage and the code of its jobs into one zip."""
    target = Path(arguments.file)
    if target.exists() and not arguments.force:
        raise Conflict(f"{one_line(str(target))} is there already. Replace it with --force.")
    if not target.absolute().parent.is_dir():
        raise NotFound(no_path("folder", str(target.absolute().parent)))
    spec, result = _result(client, arguments.spec)
    query = {"back": DEEP, "forward": 0, "limit": LIMIT}
    graph = client.call(endpoints.GET_NEIGHBOURHOOD, ref=result.ref, query=query)
    with told_by_store(), _beside(target) as (partial, folder):
        crate = _Crate(partial, result)
        try:
            _fill(client, crate, folder, spec, graph)
            crate.close(spec, graph)
        except OSError as error:
            raise not_written(one_line(str(target)), error) from error
    jobs = sum(action.job is not None for action in graph.actions)
    found = Exported(str(target), spec, crate.count, crate.size_bytes, jobs)
    is_part = (
        graph.is_cut or any(node.more_back for node in graph.nodes) or any(one.more_inputs for one in graph.actions)
    )
    counted = f"{'a part of ' if is_part else ''}the lineage of {result.ref}: {jobs} job{'' if jobs == 1 else 's'}"
    told = [one_line(str(target)), files_of(crate.count), size(crate.size_bytes), counted]
    told.append(f"check it: acai verify {one_line(str(target))}")
    return Result(" · ".join(told), found, "crate")


def verify(client: Client | None, arguments: Namespace) -> Result:
    """Check the hashes of a crate's files; nothing is asked of a server."""
    del client
    found = look(arguments.file)
    return Result(_text(found), found, "verified", failed=not found.is_whole)


def look(path: str) -> Verified:
    """Compare the files in a crate with its description."""
    if not Path(path).is_file():
        raise NotFound(no_path("file", path))
    try:
        with zipfile.ZipFile(path) as archive:
            return _compared(archive)
    except (zipfile.BadZipFile, OSError, RuntimeError, NotImplementedError, EOFError, zlib.error) as error:
        raise BadRequest(f"{one_line(path)} is no zip that can be read ({one_line(str(error))}).") from error


def _compared(archive: zipfile.ZipFile) -> Verified:
    name, described = _described(archive)
    held: dict[str, list[zipfile.ZipInfo]] = {}
    for info in archive.infolist():
        if not info.is_dir() and info.filename != METADATA:
            held.setdefault(info.filename, []).append(info)
    changed = [path for path, one in described.items() if path in held and not _is_same(archive, held[path], one)]
    return Verified(
        name=name,
        file_count=len(described),
        size_bytes=sum(info.file_size for infos in held.values() for info in infos),
        changed=changed,
        missing=[path for path in described if path not in held],
        unknown=[path for path in held if path not in described],
    )


def _described(archive: zipfile.ZipFile) -> tuple[str, dict[str, dict[str, Any]]]:
    """Return what a crate is called, and its files by their names in the zip."""
    infos = [info for info in archive.infolist() if info.filename == METADATA]
    if len(infos) != 1 or infos[0].file_size > MAX_DESCRIPTION_BYTES:
        raise BadRequest(f"It is no crate: it has no {METADATA} that can be read.")
    try:
        graph = json.loads(archive.read(infos[0]))["@graph"]
        entities = {str(one["@id"]): one for one in graph}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise BadRequest(f"It is no crate: its {METADATA} cannot be understood.") from error
    files = {unquote(key).removeprefix("./"): one for key, one in entities.items() if _is_file(one)}
    return one_line(str(entities.get("./", {}).get("name", "a crate"))), files


def _is_file(entity: dict[str, Any]) -> bool:
    kinds = entity.get("@type")
    return "File" in (kinds if isinstance(kinds, list) else [kinds]) and "://" not in str(entity["@id"])


def _is_same(archive: zipfile.ZipFile, infos: list[zipfile.ZipInfo], entity: dict[str, Any]) -> bool:
    """Whether a name stands for one content, of the size and hash that are described; a wrong size is not unpacked."""
    (info, *others) = infos
    if others or str(info.file_size) != str(entity.get("contentSize")):
        return False
    digest = hashlib.sha256()
    try:
        with archive.open(info) as content:
            while piece := content.read(_PIECE):
                digest.update(piece)
    except (zipfile.BadZipFile, EOFError, ValueError, zlib.error):
        return False
    return digest.hexdigest() == entity.get(SHA256)


def _text(found: Verified) -> str:
    if found.is_whole:
        return f"{found.name} · {files_of(found.file_count)}, {size(found.size_bytes)} · all as they were"
    lines = [f"{found.name} is not what was exported"]
    for word, paths in (("changed", found.changed), ("missing", found.missing), ("not described", found.unknown)):
        lines += [f"  {word}: {one_line(path)}" for path in paths[:SHOWN]]
        if len(paths) > SHOWN:
            lines.append(f"  {word}: {len(paths) - SHOWN:,} more")
    return "\n".join(lines)


# -- writing


def _result(client: Client, text: str) -> tuple[str, FileSet]:
    spec = parse_input(f"@{lineages.set_of(client, text)}" if text.isdecimal() else filesets.spec_of(text))
    if spec.file_set is None:
        raise BadRequest(f"{spec} is no file set. Export one, like @model:2, or a folder of it, like /dir/@model:2.")
    result = client.call(endpoints.GET_FILE_SET, ref=str(spec.file_set))
    return (f"@{result.ref}" if spec.path == "/" else f"{spec.path}@{result.ref}"), result


@contextmanager
def _beside(target: Path) -> Iterator[tuple[Path, Path]]:
    """Give a file to write and a folder to work in, beside the target; the file takes its place when all went well."""
    with trees.temporary_folder(f".{target.name}-", str(target.absolute().parent)) as folder:
        partial = Path(folder, "crate.zip")
        yield partial, Path(folder)
        os.replace(partial, target)  # noqa: PTH105 (a path's own `replace` does the same and says less)


@dataclass
class _Crate:
    """A zip that is being written; the same set gives the same bytes."""

    path: Path
    result: FileSet
    entities: list[dict[str, Any]] = field(default_factory=list)
    size_bytes: int = 0

    def __post_init__(self) -> None:
        self._archive = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED)

    @property
    def count(self) -> int:
        """How many files are in it, its description apart."""
        return len(self.entities)

    def add(self, name: str, source: Path, said: str = "") -> None:
        """Put a file into it."""
        digest, count = hashlib.sha256(), source.stat().st_size
        with source.open("rb") as content, self._archive.open(self._info(name, count), "w") as out:
            while piece := content.read(_PIECE):
                digest.update(piece)
                out.write(piece)
        self.entities.append(file(name, count, digest.hexdigest(), said))
        self.size_bytes += count

    def add_text(self, name: str, value: Any, said: str) -> None:
        """Put a value into it, as JSON."""
        content = msgspec.json.format(msgspec.json.encode(value), indent=1)
        self._archive.writestr(self._info(name, len(content)), content)
        self.entities.append(file(name, len(content), hashlib.sha256(content).hexdigest(), said))
        self.size_bytes += len(content)

    def close(self, spec: str, graph: Graph) -> None:
        """Write the description, and end."""
        described = json.dumps(describe(spec, self.result, self.entities, graph), indent=1, ensure_ascii=False)
        self._archive.writestr(self._info(METADATA, len(described)), described)
        self._archive.close()

    def _info(self, name: str, size_bytes: int) -> zipfile.ZipInfo:
        moment = self.result.created_at.timetuple()[:6]
        info = zipfile.ZipInfo(name, (max(moment[0], 1980), *moment[1:]))
        info.compress_type, info.external_attr, info.file_size = zipfile.ZIP_DEFLATED, 0o644 << 16, size_bytes
        return info


def _fill(client: Client, crate: _Crate, folder: Path, spec: str, graph: Graph) -> None:
    _add_files(client, crate, folder / "files", spec, "files")
    code = [one.file_set for action in graph.actions for one in action.inputs if one.role is InputRole.CODE]
    gone = {node.ref for node in graph.nodes if node.file_set.deleted_at is not None}
    for number, ref in enumerate(dict.fromkeys(code)):
        if ref not in gone:
            _add_files(client, crate, folder / str(number), f"@{ref}", f"code/{folder_of(ref)}")
    for action in graph.actions:
        if action.job is not None:
            request = client.call(endpoints.GET_REQUEST, job=action.job.number)
            said = f"All that job {action.job.number} needs to be run again."
            crate.add_text(f"lineage/job-{action.job.number}.json", request, said)
    crate.add_text("lineage/graph.json", graph, "The graph of what the result was made from.")


def _add_files(client: Client, crate: _Crate, folder: Path, spec: str, place: str) -> None:
    folder.mkdir()
    downloads.get(client, spec, f"{folder}{os.sep}")
    for path in trees.regular_files(str(folder)):
        crate.add(f"{place}/{path}", folder / path)

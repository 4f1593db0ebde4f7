"""Crates and backups made by an enemy: refused in one sentence, or harmless; no write, no access gained."""

from __future__ import annotations

import gzip
import hashlib
import json
import shutil
import subprocess
import zipfile
from contextlib import closing
from typing import TYPE_CHECKING, Any

from acai_jupyter.commands.crate_entities import METADATA
from tests.integration.places import BIN, Place, Server

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.attack.campaign import Run

Zip = list[tuple[str, bytes]]
Tables = dict[str, list[Any]]
"""The lines of each file of records: its columns, then its rows."""
PLANTED = "acai_" + "f" * 43
"""A token whose hash a forger puts into what is imported."""
LARGE = 2**80
MEMORY_KIB = 1024**2
BOMB_BYTES = 200 * 1024**2


def forgeries(run: Run) -> None:
    """Forge crates, backups and exported projects in ways chosen at random."""
    with closing(Place(run.home / "home")) as place:
        place.write("data/a.txt", "a")
        place.write("data/b.txt", "b")
        server = place.start(program="acai")
        for words in (("put", "data", "/data", "--as", "data"), ("export", "@data", "crate.zip")):
            done = place.acai(*words)
            assert done.returncode == 0, done.stderr
        _administer(place, "export", "default", str(run.home / "project"))
        _administer(place, "backup", str(run.home / "backup"))
        for number in run.rounds():
            for name in run.chance.sample(list(CRATES), 3):
                _attack_verify(run, place, name, CRATES[name])
            some = run.chance.sample([name for name in RECORDS if name not in ALWAYS], 1 if run.is_short else 3)
            for name in (*ALWAYS, *some) if number == 0 else some:
                _attack_import(run, server, f"{name}-{number}", RECORDS[name])
                _attack_restore(run, f"{name}-{number}", RECORDS[name])
        if server.status().status != 200:
            run.violation("the server does not answer after forged imports")


# -- crates


def _attack_verify(run: Run, place: Place, name: str, forge: Callable[[Zip], Zip]) -> None:
    before = _names(run.home)
    path = place.work / "forged.zip"
    with zipfile.ZipFile(place.work / "crate.zip") as crate:
        content = [(one.filename, crate.read(one)) for one in crate.infolist()]
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as forged:
        for entry, data in forge(content):
            forged.writestr(entry, data)
    if name.startswith("damaged"):
        damaged = bytearray(path.read_bytes())
        for _ in range(20):
            damaged[run.chance.randrange(len(damaged))] = run.chance.randrange(256)
        path.write_bytes(damaged)
    done = _limited(place, str(BIN / "acai"), "verify", "forged.zip")
    path.unlink()
    run.figures["requests"] += 1
    _hold_sentence(run, f"acai verify of a crate: {name}", done)
    if done.returncode == 0:
        run.violation(f"a forged crate was accepted: {name}", done.stdout)
    if left := sorted(_names(run.home) - before):
        run.violation(f"a forged crate left files: {name}", *left[:5])


def _described(content: Zip, change: Callable[[list[dict[str, Any]]], object]) -> Zip:
    """Change the description of a crate."""
    forged = []
    for name, data in content:
        if name == METADATA:
            crate = json.loads(data)
            change(crate["@graph"])
            forged.append((name, json.dumps(crate).encode()))
        else:
            forged.append((name, data))
    return forged


def _wrong_content(content: Zip) -> Zip:
    return [(name, data + b"!" if name.endswith("a.txt") else data) for name, data in content]


def _twice(content: Zip) -> Zip:
    path, _ = next(one for one in content if one[0].endswith("a.txt"))
    return [*content, (path.replace("a.txt", "b.txt"), b"another")]


def _bomb(content: Zip) -> Zip:
    return [(name, b"\0" * BOMB_BYTES if name.endswith("a.txt") else data) for name, data in content]


def _traversal(content: Zip) -> Zip:
    return [*content, ("../../escaped.txt", b"x"), ("/tmp/acai-escaped.txt", b"x")]


def _oversize(content: Zip) -> Zip:
    def change(graph: list[dict[str, Any]]) -> None:
        for one in graph:
            if "contentSize" in one:
                one["contentSize"] = str(LARGE)

    return _described(content, change)


def _odd_types(content: Zip) -> Zip:
    def change(graph: list[dict[str, Any]]) -> None:
        for one in graph:
            if "contentSize" in one:
                one.update({"contentSize": {"a": [1]}, "sha256": [None], "@type": ["File", {"x": 1}]})

    return _described(content, change)


CRATES: dict[str, Callable[[Zip], Zip]] = {
    "other content": _wrong_content,
    "the same name twice": _twice,
    "a bomb": _bomb,
    "paths that lead outside": _traversal,
    "sizes beyond 64 bits": _oversize,
    "values of other types": _odd_types,
    "damaged bytes": _wrong_content,
    "damaged and twice": _twice,
}


# -- backups and exported projects


def _attack_import(run: Run, server: Server, name: str, change: Callable[[Forgery], object]) -> None:
    place = server.place
    forged = Forgery(run.home / "project", run.home / f"forged-{name}")
    change(forged)
    forged.write()
    before = _names(run.home)
    admins = place.sql("SELECT name FROM user_account WHERE is_global_admin")
    tokens = place.sql("SELECT count(*) FROM token")
    project = f"p{hashlib.sha256(name.encode()).hexdigest()[:8]}"
    done = _limited(place, str(BIN / "acai-server"), "import", str(forged.folder), "--project", project)
    run.figures["requests"] += 1
    _hold_sentence(run, f"acai-server import of a project: {name}", done)
    answer = server.ask("GET", "/v1/status", token=None, headers={"Authorization": f"Bearer {PLANTED}"})
    if answer.status != 401:
        run.violation(f"a forged project let its forger in: {name}", f"GET /v1/status answered {answer.status}")
        place.sql("DELETE FROM token WHERE name = 'planted'")
    elif place.sql("SELECT count(*) FROM token") != tokens:
        run.violation(f"a forged project brought tokens: {name}")
    if place.sql("SELECT name FROM user_account WHERE is_global_admin") != admins:
        run.violation(f"a forged project created a global admin: {name}")
    outside = [path for path in _names(run.home) - before if "/objects/" not in path and ".db" not in path]
    if done.returncode and (outside or place.sql("PRAGMA foreign_key_check")):
        run.violation(f"a refused project left something: {name}", *sorted(outside)[:5])
    run.figures["refusals"] += done.returncode != 0
    if done.returncode == 0 and change is not RECORDS["nothing"] and change not in HARMLESS:
        run.violation(f"a forged project was imported: {name}")
    shutil.rmtree(forged.folder)


def _attack_restore(run: Run, name: str, change: Callable[[Forgery], object]) -> None:
    forged = Forgery(run.home / "backup", run.home / f"forged-{name}")
    change(forged)
    forged.write()
    with closing(Place(run.home / f"restored-{name}")) as place:
        before = _names(run.home)
        done = _limited(place, str(BIN / "acai-server"), "restore", str(forged.folder))
        run.figures["requests"] += 1
        run.figures["refusals"] += done.returncode != 0
        _hold_sentence(run, f"acai-server restore of a backup: {name}", done)
        outside = [path for path in _names(run.home) - before if not path.startswith(str(place.home))]
        if outside:
            run.violation(f"a forged backup wrote outside the data folder: {name}", *sorted(outside)[:5])
        if not done.returncode and (broken := place.sql("PRAGMA foreign_key_check")):
            run.violation(f"a restored backup has records that refer to nothing: {name}", str(broken[:3]))
        if done.returncode and (place.data / "acai.db").exists():
            tables = place.sql("SELECT name FROM sqlite_master WHERE type = 'table' AND name = 'user_account'")
            if tables and place.sql("SELECT count(*) FROM user_account") != [(0,)]:
                run.violation(f"a refused backup left records: {name}")
    shutil.rmtree(forged.folder)
    shutil.rmtree(place.home)


class Forgery:
    """A backup to change at will; it is written with hashes that fit."""

    def __init__(self, source: Path, folder: Path) -> None:
        shutil.copytree(source, folder)
        self.folder = folder
        self.note: dict[str, Any] = json.loads((folder / "backup.json").read_text())
        self.raw: dict[str, bytes] = {}
        """Files of records that are written as they are."""
        self.tables: Tables = {
            path.name.removesuffix(".jsonl.gz"): [
                json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()
            ]
            for path in (folder / self.note["records"]).iterdir()
        }

    def write(self) -> None:
        """Write records and note."""
        records = self.folder / next(path.name for path in self.folder.iterdir() if path.name.startswith("records-"))
        for table, lines in self.tables.items():
            data = self.raw.get(table) or b"".join(json.dumps(line).encode() + b"\n" for line in lines)
            path = records / f"{table}.jsonl.gz"
            path.write_bytes(gzip.compress(data))
            said = {"rows": len(lines) - 1, "sha256": hashlib.sha256(path.read_bytes()).hexdigest()}
            if table == "objects":
                self.note["objects"] = said
            else:
                self.note["tables"].setdefault(table, {}).update(said)
        (self.folder / "backup.json").write_text(json.dumps(self.note))

    def row(self, table: str, at: int = 0) -> dict[str, Any]:
        """Return a row by the names of its columns."""
        head, *rows = self.tables[table]
        return dict(zip((name for name, _ in head["columns"]), rows[at], strict=True))

    def set(self, table: str, column: str, value: Any) -> None:
        """Put a value into all rows."""
        head, *rows = self.tables[table]
        at = [name for name, _ in head["columns"]].index(column)
        for row in rows:
            row[at] = value


def _token(forgery: Forgery) -> None:
    """Plant a token of an existing user."""
    user = forgery.row("user_account")["id"]
    project = forgery.note["project_id"] or 1
    moment = "2026-01-01T00:00:00Z"
    values = {
        "id": ["plain", 999_999],
        "user_id": ["plain", user],
        "project_id": ["plain", project],
        "name": ["plain", "planted"],
        "hash": ["bytes", _base64(hashlib.sha256(PLANTED.encode()).digest())],
        "scope": ["plain", "admin"],
        "all_projects": ["bool", True],
        "created_at": ["time", moment],
    }
    head = {"table": "token", "columns": [[name, kind] for name, (kind, _) in values.items()]}
    forgery.tables["token"] = [head, [value for _, value in values.values()]]


def _base64(value: bytes) -> str:
    import base64

    return base64.b64encode(value).decode()


def _admin(forgery: Forgery) -> None:
    forgery.set("user_account", "is_global_admin", value=True)
    forgery.set("user_account", "name", "mallory")


def _unknown_table(forgery: Forgery) -> None:
    forgery.tables["sqlite_master"] = [{"table": "sqlite_master", "columns": [["sql", "plain"]]}, ["CREATE TABLE x(y)"]]


def _injected_table(forgery: Forgery) -> None:
    name = 'token" ("name") SELECT 1; --'
    forgery.tables[name] = [{"table": name, "columns": [["id", "plain"]]}, [1]]


def _injected_column(forgery: Forgery) -> None:
    for name, _ in forgery.tables["file_set"][0]["columns"]:
        if name == "id":
            continue
        for column in forgery.tables["file_set"][0]["columns"]:
            if column[0] == name:
                column[0] = f'{name}") SELECT 1; --'
        return


def _missing_column(forgery: Forgery) -> None:
    head, *rows = forgery.tables["file_set_version"]
    head["columns"].pop()
    for row in rows:
        row.pop()


def _column_twice(forgery: Forgery) -> None:
    head, *rows = forgery.tables["file_set"]
    head["columns"].append(head["columns"][0])
    for row in rows:
        row.append(row[0])


def _foreign_row(forgery: Forgery) -> None:
    forgery.set("file_set", "project_id", 1 + int(forgery.row("file_set")["project_id"]))


def _records_elsewhere(forgery: Forgery) -> None:
    outside = forgery.folder.parent / f"{forgery.folder.name}-outside"
    shutil.copytree(forgery.folder / forgery.note["records"], outside, dirs_exist_ok=True)
    forgery.note["records"] = f"../{outside.name}"


def _key_outside(forgery: Forgery) -> None:
    for line in forgery.tables["objects"][1:]:
        line[0] = "../../../../escaped"
    forgery.set("object", "key", "../../../../escaped")


def _link_to_secret(forgery: Forgery) -> None:
    """Let an object of the backup be a link to a file of the server."""
    for path in sorted((forgery.folder / "objects").rglob("*")):
        if path.is_file():
            path.unlink()
            path.symlink_to("/etc/passwd")


def _other_bytes(forgery: Forgery) -> None:
    for path in sorted((forgery.folder / "objects").rglob("*")):
        if path.is_file():
            path.write_bytes(bytes(len(path.read_bytes())))


def _oversize_numbers(forgery: Forgery) -> None:
    forgery.set("blob", "size_bytes", LARGE)


def _oversize_id(forgery: Forgery) -> None:
    forgery.set("file_set", "id", LARGE)


def _negative_sizes(forgery: Forgery) -> None:
    for line in forgery.tables["objects"][1:]:
        line[1] = -5


def _records_bomb(forgery: Forgery) -> None:
    forgery.raw["file_set"] = b'{"table":"' + b"a" * BOMB_BYTES


def _row_bomb(forgery: Forgery) -> None:
    head = json.dumps(forgery.tables["file_set"][0]).encode()
    forgery.raw["file_set"] = head + b'\n["' + b"a" * BOMB_BYTES


def _not_json(forgery: Forgery) -> None:
    forgery.raw["file_set"] = b"\xff\xfe{}\n[1"


def _other_columns(forgery: Forgery) -> None:
    forgery.tables["file_set"][0]["table"] = "token"


def _short_rows(forgery: Forgery) -> None:
    for row in forgery.tables["file_set_version"][1:]:
        row.pop()


def _rows_twice(forgery: Forgery) -> None:
    forgery.tables["file_set"].append(forgery.tables["file_set"][1])


def _no_table(forgery: Forgery) -> None:
    del forgery.tables["file"]
    del forgery.note["tables"]["file"]


def _absurd_note(forgery: Forgery) -> None:
    forgery.note["project_id"] = LARGE


def _nothing(forgery: Forgery) -> None:
    """Leave it as it is: an honest backup must pass."""
    del forgery


RECORDS: dict[str, Callable[[Forgery], object]] = {
    "nothing": _nothing,
    "a token": _token,
    "a global admin": _admin,
    "a table of the database itself": _unknown_table,
    "SQL as a table's name": _injected_table,
    "SQL as a column's name": _injected_column,
    "a column less": _missing_column,
    "a column twice": _column_twice,
    "rows of another project": _foreign_row,
    "records in another folder": _records_elsewhere,
    "keys that lead outside": _key_outside,
    "links to files of the server": _link_to_secret,
    "other bytes": _other_bytes,
    "sizes beyond 64 bits": _oversize_numbers,
    "ids beyond 64 bits": _oversize_id,
    "negative sizes": _negative_sizes,
    "a bomb as the head": _records_bomb,
    "a bomb as a row": _row_bomb,
    "no JSON": _not_json,
    "the head of another table": _other_columns,
    "rows that are too short": _short_rows,
    "the same row twice": _rows_twice,
    "a missing table": _no_table,
    "a project beyond 64 bits": _absurd_note,
}
ALWAYS = ("nothing", "a token")
HARMLESS = (_admin,)
"""What may pass, as it changes nothing that matters: of users only names are taken."""


def _limited(place: Place, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a program that may have no more than a GiB of memory."""
    line = ["sh", "-c", f'ulimit -v {4 * MEMORY_KIB}; exec "$@"', "sh", *command]
    return subprocess.run(
        line, env=place.environment, cwd=place.work, capture_output=True, text=True, check=False, timeout=300
    )


def _administer(place: Place, *words: str) -> None:
    subprocess.run([str(BIN / "acai-server"), *words], env=place.environment, cwd=place.work, check=True)


def _hold_sentence(run: Run, what: str, done: subprocess.CompletedProcess[str]) -> None:
    """Whatever is refused is refused in a sentence."""
    if "Traceback" in done.stderr or done.returncode < 0:
        run.violation(f"{what} ended with status {done.returncode} and a traceback", done.stderr[-600:])
    elif done.returncode and not (done.stderr or done.stdout).strip():
        run.violation(f"{what} was refused without a word")


def _names(folder: Path) -> set[str]:
    return {str(path) for path in folder.rglob("*") if path.is_file()}

"""Folders from a stranger: putting them takes no files from elsewhere along, and opening them obeys no line of theirs.

Each folder is also opened by a Jupyter server of a user with secrets, before and after `acai trust`. Afterwards its
settings do have effect: that shows that the campaign would notice if they had before.
"""

from __future__ import annotations

import os
import shutil
import socketserver
import subprocess
import threading
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import urllib3

from acai_jupyter.client.follow import wait
from tests.integration.places import Place, Server, until
from tests.servers.answers import Answer, Service, service
from tests.servers.process import ServerMissing
from tests.servers.seaweedfs import seaweedfs

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from tests.attack.campaign import Run

SECRET = "the user's own secret"
TRAPS = 4
USERS_TOKENS = {
    "ACAI_TOKEN": "acai_of-another-server",
    "JUPYTERHUB_API_TOKEN": "token-of-the-hub",
    "AWS_SECRET_ACCESS_KEY": "secret-key-of-the-user",
}
FILE_TOKEN = "acai_of-the-file-of-the-user"
ENVIRONMENT = {**USERS_TOKENS, "AWS_ACCESS_KEY_ID": "key-of-the-user"}
OWN_SETTINGS = ("user", "data_folder", "backends", "machine", "limits")
"""What of the status settings decide."""
KUBECONFIG = """
current-context: c
contexts: [{{name: c, context: {{cluster: c, user: u}}}}]
clusters: [{{name: c, cluster: {{server: "http://127.0.0.1:9"}}}}]
users: [{{name: u, user: {{exec: {{command: sh, args: ["-c", "env > {stolen}"]}}}}}}]
"""


def hostile_folders(run: Run) -> None:
    """Put folders with several traps in them and open them: compare with what an honest folder has."""
    with closing(Place(run.home / "home")) as place:
        place.write("own/secret.txt", SECRET)
        server = place.start(program="acai")
        usual = _usual_settings(run)
        for number in run.rounds():
            names = run.chance.sample(list(FOLDER_TRAPS), TRAPS)
            folder = place.work / f"stranger{number}"
            folder.mkdir()
            (folder / "honest.txt").write_text("honest")
            for name in names:
                FOLDER_TRAPS[name](folder)
            _put(run, server, folder, names)
            _open(run, folder, names, usual)
            shutil.rmtree(folder)


def _usual_settings(run: Run) -> dict[str, Any]:
    """Return what a server without any settings says about them."""
    with closing(Place(run.home / "usual")) as place:
        return _settings(place.start().status().json, place)


def _settings(status: dict[str, Any], place: Place) -> dict[str, Any]:
    found = {name: status[name] for name in OWN_SETTINGS}
    return found | {"data_folder": os.path.relpath(found["data_folder"] or "", place.home)}


def _put(run: Run, server: Server, folder: Path, names: list[str]) -> None:
    place, steps = server.place, (f"a folder with {', '.join(names)}",)
    done = place.acai("put", folder.name, f"/{folder.name}", "--as", folder.name)
    run.figures["requests"] += 1
    run.figures["refusals"] += done.returncode != 0
    if "Traceback" in done.stderr or done.returncode < 0:
        run.violation("putting a folder ended with a traceback", done.stderr[-800:], *steps)
    if not (done.stdout + done.stderr).replace("\n", "").replace("\t", "").isprintable():
        run.violation("a name of a file reached the terminal as it is", repr(done.stdout + done.stderr)[:500], *steps)
    if done.returncode:
        return
    target = place.home / "got"
    got = place.acai("get", f"@{folder.name}", str(target))
    found = {path.relative_to(target): path.read_bytes() for path in target.rglob("*") if path.is_file()}
    shutil.rmtree(target, ignore_errors=True)
    if got.returncode:
        run.violation("what was put cannot be got", got.stderr, *steps)
    if not any(path.name == "honest.txt" for path in found):
        run.violation("an honest file next to a trap is missing", *steps)
    if any(SECRET.encode() in content for content in found.values()):
        run.violation("a file from outside the folder went along", *steps)


@dataclass
class Listener:
    """A port, and who connected to it."""

    port: int
    callers: list[object] = field(default_factory=list)


@contextmanager
def _listener() -> Iterator[Listener]:
    """Listen like a server that hangs up on everyone."""
    made = Listener(0)

    class Handler(socketserver.BaseRequestHandler):
        def handle(self) -> None:
            made.callers.append(self.client_address)

    with socketserver.ThreadingTCPServer(("127.0.0.1", 0), Handler) as server:
        made.port = server.server_address[1]
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield made
        finally:
            server.shutdown()
            thread.join()


@dataclass
class Stranger:
    """The author of the folder: servers that record their callers, and places where programs leave a mark."""

    http: Service
    database: Listener
    home: Path
    opened: ExitStack
    environment: dict[str, str] = field(default_factory=lambda: dict(ENVIRONMENT))
    """Of the user's server."""

    @property
    def stolen(self) -> Path:
        """The file that a program of the folder would write."""
        return self.home / "stolen"

    def signs(self) -> list[str]:
        """Return what shows that a setting had effect."""
        found = [f"another server was asked: {one.method} {one.path}" for one in self.http.heard[:3]]
        if self.database.callers:
            found.append("another database was connected to")
        if self.stolen.exists():
            found.append("a program of the folder was run")
        if (self.home / "data").exists() or (self.home / "cache").exists():
            found.append("data was written where the folder says")
        return found

    def tokens(self) -> list[str]:
        """Return the names of the user's secrets that were given away."""
        heard = [f"{one.path} {one.headers} {one.body!r}" for one in self.http.heard]
        text = "\n".join([*heard, self.stolen.read_text() if self.stolen.exists() else ""])
        names = [name for name in ("ACAI_TOKEN", "JUPYTERHUB_API_TOKEN") if USERS_TOKENS[name] in text]
        if any(USERS_TOKENS["AWS_SECRET_ACCESS_KEY"] in one for one in heard):
            names.append("AWS_SECRET_ACCESS_KEY")
        return [*names, "token of the user's file"] if FILE_TOKEN in text else names


def _open(run: Run, folder: Path, names: list[str], usual: dict[str, Any]) -> None:
    """Open a folder with settings of a stranger's, use it, and compare what it does before and after `acai trust`."""
    home = run.home / "users" / folder.name
    with ExitStack() as opened:
        http = opened.enter_context(service(Answer(401)))
        database = opened.enter_context(_listener())
        user = opened.enter_context(closing(Place(home)))
        stranger = Stranger(http, database, home / "stranger", opened)
        stranger.home.mkdir()
        (home / "config" / "acai").mkdir(parents=True)
        (home / "config" / "acai" / "config.toml").write_text(f'token = "{FILE_TOKEN}"\n')
        user.work = folder
        trap = run.chance.choice(list(SETTING_TRAPS))
        program = "server" if run.is_short else run.chance.choice(("lab", "server"))
        try:
            lines = [*SETTING_TRAPS[trap].lines(stranger, folder), *_harmful(run, stranger)]
        except ServerMissing as missing:
            run.say(f"without {trap}: {missing}")
            return
        settings = dict(line.split(" = ", 1) for line in reversed(lines))
        (folder / "acai.toml").write_text("\n".join(f"{name} = {value}" for name, value in settings.items()) + "\n")
        steps = (f"jupyter {program} in a folder with {', '.join(names)}", f"acai.toml: {settings}")
        _before_trust(run, user, program, stranger, usual, *steps)
        _after_trust(run, user, program, stranger, trap, *steps)


def _harmful(run: Run, stranger: Stranger) -> Iterator[str]:
    """Yield the project, which a folder may name, and some settings that it may not set; a server takes them all."""
    yield 'project = "theirs"'
    others = {
        "cache_folder": f'"{stranger.home}/cache"',
        "data_folder": f'"{stranger.home}/data"',
        "machine_vcpu": "0.5",
        "max_gpus": "0",
        "max_memory_mib": "640",
        "max_vcpu": "0.5",
        "object_store": '"memory"',
        "runner": '"memory"',
        "user": '"mallory"',
    }
    for name in run.chance.sample(list(others), 4):
        yield f"{name} = {others[name]}"


def _before_trust(run: Run, user: Place, program: str, stranger: Stranger, usual: dict[str, Any], *steps: str) -> None:
    try:
        server = user.start(program=program, **stranger.environment)
        status = server.status().json
        number = server.ask("POST", "/v1/projects/theirs/jobs", {"command": ["true"]}).json["number"]
        job = wait(server.client(), number)
        for path in ("/v1/projects/theirs/jobs", "/v1/projects/theirs/files?spec=/", "/v1/checkup"):
            server.ask("GET", path)
        said = [user.acai(word, **stranger.environment).stdout for word in ("status", "doctor")]
        run.figures["requests"] += 7
        run.figures["jobs"] += 1
        server.end()
    except (AssertionError, KeyError, TypeError, ValueError, subprocess.SubprocessError) as error:
        run.violation(f"a server in the folder does not work: {error}"[:800], *steps)
    else:
        found = _settings(status, user)
        if found != usual:
            changed = [f"{name}: {found[name]}, not {usual[name]}" for name in found if found[name] != usual[name]]
            run.violation("settings of the folder had effect", *changed, *steps)
        if (status["project"], job.state) != ("theirs", "finished"):
            run.violation(f"the project is {status['project']} and a job {job.state}", *steps)
        if not all("acai trust" in one for one in (*status["notices"], *said)) or len(status["notices"]) != 1:
            run.violation("no notice says that settings of the folder are ignored", *status["notices"], *steps)
        run.figures["refusals"] += 1
    if signs := stranger.signs():
        run.violation("the folder was obeyed before it was trusted", *signs, *stranger.tokens(), *steps)


def _after_trust(run: Run, user: Place, program: str, stranger: Stranger, trap: str, *steps: str) -> None:
    trusted = user.acai("trust", "--yes")
    if trusted.returncode:
        run.violation("the folder's file cannot be trusted", trusted.stderr, *steps)
        return
    server = user.spawn(program=program, **stranger.environment)

    def has_effect() -> bool:
        with suppress(AssertionError, urllib3.exceptions.HTTPError):
            server.status()  # some settings have effect with the first request
        return any(sign.startswith(SETTING_TRAPS[trap].sign) for sign in stranger.signs())

    try:
        until(has_effect, f"{trap} having effect in a trusted file")
    except AssertionError as error:
        run.violation(f"this campaign would notice nothing: {error}", *steps)
    finally:
        server.kill()  # with these settings it may wait for what does not exist
    if given := stranger.tokens():
        run.violation("the trusted file of a folder got tokens that are not its own", *given, *steps)


def _their_server(stranger: Stranger, folder: Path) -> list[str]:
    del folder
    return [f'url = "{stranger.http.url}"']


def _their_server_and_token(stranger: Stranger, folder: Path) -> list[str]:
    return [*_their_server(stranger, folder), 'token = "acai_theirs"']


def _their_bucket(stranger: Stranger, folder: Path) -> list[str]:
    del folder
    return ['object_store = "s3"', 's3_bucket = "theirs"', f's3_endpoint_url = "{stranger.http.url}"']


def _their_database(stranger: Stranger, folder: Path) -> list[str]:
    del folder
    return [f'database = "postgresql://them:theirs@127.0.0.1:{stranger.database.port}/theirs"']


def _their_program(stranger: Stranger, folder: Path) -> list[str]:
    s3 = stranger.opened.enter_context(seaweedfs())  # a server looks at its store before it looks for the cluster
    stranger.environment |= s3.environment
    (folder / "kube.yaml").write_text(KUBECONFIG.format(stolen=stranger.stolen))
    cluster = ['runner = "kubernetes"', 'kubeconfig = "kube.yaml"', 'endpoint_url_for_jobs = "http://h"']
    return [*cluster, 'object_store = "s3"', f's3_bucket = "{s3.make_bucket()}"', f's3_endpoint_url = "{s3.url}"']


@dataclass(frozen=True)
class SettingTrap:
    """Settings that lead to the stranger, each by itself, and the sign that they had effect."""

    lines: Callable[[Stranger, Path], list[str]]
    sign: str


SETTING_TRAPS = {
    "another server": SettingTrap(_their_server, "another server was asked"),
    "another server and its token": SettingTrap(_their_server_and_token, "another server was asked"),
    "another bucket": SettingTrap(_their_bucket, "another server was asked"),
    "another database": SettingTrap(_their_database, "another database was connected to"),
    "a kubeconfig with a program": SettingTrap(_their_program, "a program of the folder was run"),
}


def _link_to_secret(folder: Path) -> None:
    (folder / "link.txt").symlink_to(folder.parent / "own" / "secret.txt")


def _link_to_folder(folder: Path) -> None:
    (folder / "linked").symlink_to(folder.parent / "own", target_is_directory=True)


def _loop(folder: Path) -> None:
    (folder / "loop").symlink_to(folder, target_is_directory=True)


def _pipe(folder: Path) -> None:
    os.mkfifo(folder / "pipe")


def _deep(folder: Path) -> None:
    here = os.open(folder, os.O_RDONLY)
    try:
        for _ in range(300):
            os.mkdir("deep", dir_fd=here)
            inner = os.open("deep", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = inner
        os.close(os.open("file", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)


def _no_text(folder: Path) -> None:
    with suppress(OSError):  # some file systems refuse such names
        Path(os.fsdecode(os.fsencode(folder) + b"/\xff\xfe.txt")).write_text("x")


def _escapes(folder: Path) -> None:
    (folder / "\x1b]0;owned\x07\x1b[31mred.txt").write_text("x")


def _ignored_secret(folder: Path) -> None:
    (folder / ".acaiignore").write_text("!.env\n!../own/secret.txt\n" + "*" * 200 + "\n" + "(a+)+$\n")
    (folder / ".env").write_text("TOKEN=x")


def _unreadable(folder: Path) -> None:
    (folder / "closed").mkdir(mode=0)


def _same_name(folder: Path) -> None:
    (folder / "caf\u00e9").write_text("composed")
    (folder / "cafe\u0301").write_text("decomposed")


FOLDER_TRAPS: dict[str, Callable[[Path], None]] = {
    "a link to a secret": _link_to_secret,
    "a link to a folder": _link_to_folder,
    "a link to itself": _loop,
    "a pipe": _pipe,
    "a deep tree": _deep,
    "a name that is no text": _no_text,
    "a name with escapes": _escapes,
    "an ignore list that undoes rules": _ignored_secret,
    "a folder that cannot be read": _unreadable,
    "two spellings of a name": _same_name,
}

"""One attempt from its launch document to its result record."""

import hashlib
import io
import json
import os
import shutil
import signal
import sys
import time
import unicodedata
from contextlib import ExitStack, suppress
from typing import Any, Dict, List, Optional, Tuple

from acai_jupyter.agent.program import Program
from acai_jupyter.contract.loglines import marked
from acai_jupyter.transfer.packs import Pack, write_pack
from acai_jupyter.transfer.targets import TransferError, fetch, send

OUTPUT = "output"
COULD_NOT_START = 125
COULD_NOT_KEEP = 74


class Attempt:
    """Downloading, running, uploading; each step is told by a marked line before it begins."""

    def __init__(self, launch: Dict[str, Any], folder: str) -> None:
        self._launch = launch
        self._folder = folder
        self._work = os.path.join(folder, "work")
        self._reason = ""
        self._program: Optional[Program] = None
        self._stopped = False

    def run(self) -> int:
        """Run all of it. Whatever happens, a result record is left when the store can be reached."""
        signal.signal(signal.SIGTERM, self._stop)
        started = time.time()
        clock = time.monotonic()
        run_seconds = 0.0
        exit_code = COULD_NOT_START
        os.makedirs(os.path.join(self._work, OUTPUT), exist_ok=True)
        try:
            self._say("downloading")
            self._fetch()
            self._say("running")
            before = time.monotonic()
            exit_code = self._execute()
            run_seconds = time.monotonic() - before
        except TransferError as error:
            self._reason = "an input could not be fetched: %s" % error
        self._say("uploading")
        pack, exit_code = self._keep_outputs(exit_code)
        shutil.rmtree(self._work, ignore_errors=True)  # on a full disk, log and result need the room
        self._send_log()
        record = {
            "version": 1,
            "exit_code": exit_code,
            "reason": self._reason,
            "started_at": started,
            "ended_at": time.time(),
            "run_seconds": run_seconds,
            "billed_seconds": time.monotonic() - clock,
            "outputs": [
                {"path": f.name, "offset": f.offset, "size_bytes": f.size_bytes, "sha256": f.sha256} for f in pack.files
            ],
            "pack_size_bytes": pack.size_bytes,
            "pack_sha256": pack.sha256,
        }
        body = json.dumps(record).encode()
        send(self._launch["slots"]["result"], io.BytesIO(body), len(body))
        return exit_code

    def _fetch(self) -> None:
        for piece in self._launch["inputs"]:
            path = self._place(piece["path"])
            self._fetch_one(piece, path)
            os.chmod(path, 0o444)
        for piece in self._launch["code"]:
            self._fetch_one(piece, self._place(piece["path"]))

    def _fetch_one(self, piece: Dict[str, Any], path: str) -> None:
        fetch(piece["url"], piece["offset"], piece["size_bytes"], piece["sha256"], path)

    def _place(self, path: str) -> str:
        """Where a file of a set goes in the working folder; the server checked its path, and it is checked again."""
        parts = path.strip("/").split("/")
        if ".." in parts or not parts[0]:
            raise TransferError("%r is not a path inside the working folder" % path)
        return os.path.join(self._work, *parts)

    def _execute(self) -> int:
        if self._stopped:
            return 128 + signal.SIGTERM
        with ExitStack() as opened:
            log = opened.enter_context(open(self._log_path(), "wb", buffering=0))
            printed = opened.enter_context(open(sys.stdout.fileno(), "wb", buffering=0, closefd=False))
            self._program = Program(self._launch["command"], self._work, self._environment())
            try:
                return self._program.run((log, printed))
            except OSError as error:
                self._reason = "the program could not be started: %s" % (error.strerror or error)
                return COULD_NOT_START

    def _environment(self) -> Dict[str, str]:
        environment = dict(os.environ)
        environment.update(self._launch["environment"])
        if not _has_real_package():
            known = environment.get("PYTHONPATH")
            environment["PYTHONPATH"] = sys.argv[0] if not known else known + os.pathsep + sys.argv[0]
        return environment

    def _keep_outputs(self, exit_code: int) -> Tuple[Pack, int]:
        """Send what a program that succeeded has left; if that cannot be done, the attempt has failed."""
        try:
            return self._send_outputs(keep=exit_code == 0), exit_code
        except (TransferError, OSError) as error:
            self._reason = self._reason or "its outputs could not be kept: %s" % error
            return Pack([], 0, hashlib.sha256().hexdigest()), exit_code or COULD_NOT_KEEP
        finally:
            with suppress(FileNotFoundError):
                os.remove(self._spool_path())

    def _send_outputs(self, keep: bool) -> Pack:
        """Pack and send the output folder; its files are found again by the result record."""
        spool = self._spool_path()
        root = os.path.join(self._work, OUTPUT)
        with open(spool, "wb") as out:
            names = _files(root) if keep else []
            pack = write_pack([(_kept_name(name), os.path.join(root, name)) for name in names], out)
        if pack.files:
            with open(spool, "rb") as source:
                send(self._launch["slots"]["pack"], source, pack.size_bytes)
        return pack

    def _send_log(self) -> None:
        if os.path.exists(self._log_path()):
            with open(self._log_path(), "rb") as source, suppress(TransferError):  # the result matters more
                send(self._launch["slots"]["log"], source, os.path.getsize(self._log_path()))

    def _spool_path(self) -> str:
        return os.path.join(self._folder, "pack")

    def _log_path(self) -> str:
        return os.path.join(self._folder, "log")

    def _say(self, state: str) -> None:
        with suppress(OSError):  # advisory
            os.write(sys.stdout.fileno(), marked(self._launch["key"], {"state": state, "at": time.time()}))

    def _stop(self, number: int, frame: object) -> None:
        del frame
        self._stopped = True
        self._reason = "it was stopped"
        if self._program is not None:
            self._program.stop(number)


def _files(root: str) -> List[str]:
    """The regular files below a folder, by name; links are not followed, so nothing outside is taken."""
    found = []
    for folder, _, names in os.walk(root):
        for name in names:
            path = os.path.join(folder, name)
            if os.path.isfile(path) and not os.path.islink(path):
                found.append(os.path.relpath(path, root))
    return sorted(found)


def _kept_name(name: str) -> str:
    """The one normal form of a name; what no path in a project can be is refused by name."""
    normal = unicodedata.normalize("NFC", name)
    if any(unicodedata.category(character) in ("Cc", "Cs") for character in normal):
        raise TransferError("%a cannot be the name of a file in a project" % name)
    return normal


def _has_real_package() -> bool:
    """Whether programs here find `acai_jupyter` without the agent's stand-in."""
    own = os.path.abspath(sys.argv[0])
    return any(
        os.path.isdir(os.path.join(path, "acai_jupyter")) for path in sys.path if path and os.path.abspath(path) != own
    )

"""Code and inputs on their way into the working folder: out of the machine's cache, else out of the store."""

import os
import stat
from typing import TYPE_CHECKING, Dict, Iterable, List, NamedTuple, Optional, Set, Tuple

from acai_jupyter.agent.cache import Cache
from acai_jupyter.agent.launch import InputFile, Launch, has_expired, tried_anew
from acai_jupyter.agent.stopping import Stop
from acai_jupyter.agent.telling import Transfer
from acai_jupyter.transfer.errors import TransferError, may_be_damage
from acai_jupyter.transfer.fetching import Wanted, Watching, fetch_files, groups
from acai_jupyter.transfer.hashing import hash_file
from acai_jupyter.transfer.ranges import is_local
from acai_jupyter.transfer.retrying import DEFAULT, Retrying

if TYPE_CHECKING:
    from acai_jupyter.agent.archives import Archives

THREADS = 4
_ONE_THREAD_BYTES = 4 * 1024 * 1024
NEAR_BYTES = 1024 * 1024
"""A file smaller than this is not cached where the store is on the same disk: it is as near as it can be."""


WATCHED = 20_000
"""Of so many inputs that are a job's own copies it is known afterwards whether the program changed them."""
MAX_UNREAD = 100
AT_ONCE = 20_000
"""So many files are fetched before the next are looked at: a job may have a million, and they take memory."""


class _Own(NamedTuple):
    """An input as it was before the program: a copy for this job alone."""

    path: str
    sha256: str
    size_bytes: int
    ctime_ns: int

    def was_changed(self) -> bool:
        try:
            state = os.lstat(self.path)
            if not stat.S_ISREG(state.st_mode) or state.st_size != self.size_bytes:
                return True
            return state.st_ctime_ns != self.ctime_ns and hash_file(self.path) != self.sha256
        except OSError:
            return False


class Inputs:
    """Fetches all files of a launch document, and knows afterwards which of the inputs a program has changed."""

    def __init__(
        self,
        launch: Launch,
        work: str,
        cache: Optional[Cache],
        stop: Stop,
        transfer: Optional[Transfer] = None,
        archives: Optional["Archives"] = None,
    ) -> None:
        self._launch = launch
        self._work = work
        self._cache = cache
        self._archives = archives
        self._stop = stop
        self._transfer = transfer or Transfer()
        self._done: Dict[str, bool] = {}
        self._own: List[_Own] = []
        self.damaged: List[str] = []
        """Inputs whose copies in the machine's cache had other content; they were fetched again."""
        self.unread: List[str] = []
        """Hashes of files that the store may have lost: the server looks into them."""

    def fetch(self, retrying: Retrying = DEFAULT, at_once: int = AT_ONCE) -> None:
        """Bring all of them. When this returns every file is there, whole, and of the right hash."""
        attempts = retrying.attempts()
        files, after = self._launch.files(0, at_once)
        while files:
            try:
                self._fetch([file for file in files if self._place(file.path) not in self._done])
            except TransferError as error:
                if not has_expired(error):
                    raise
                attempts.failed(tried_anew(error))
                self._launch.renewed()
            else:
                self._close(files)
                self._done.clear()
                files, after = self._launch.files(after, at_once)
        self._launch.forget_files()

    def _fetch(self, files: List[InputFile]) -> None:
        urls = self._launch.document["objects"]
        wanted: Dict[int, List[Wanted]] = {}
        cached: List[Tuple[InputFile, str]] = []
        coming: Set[str] = set()
        coming_bytes = 0
        for file in files:
            path = self._place(file.path)
            if self._archives is not None and self._archives.take(file, path):
                self._done[path] = True
                continue
            if self._cache is not None and self._is_cached(file, urls[file.object], coming_bytes):
                cached.append((file, path))
                if file.sha256 in coming or self._lend(file, path):
                    continue
                coming.add(file.sha256)
                coming_bytes += file.size_bytes
                path = self._cache.place(file.sha256)
            wanted.setdefault(file.object, []).append(Wanted(path, file.offset, file.size_bytes, file.sha256))
        if coming and self._cache is not None:
            self._cache.make_room(coming_bytes)
        self._bring([(urls[number], files) for number, files in wanted.items()])
        for file, path in cached:
            self._lend_or_bring(file, path, urls[file.object], is_new=file.sha256 in coming)
            coming.discard(file.sha256)

    def _close(self, files: List[InputFile]) -> None:
        """Inputs can only be read; code can be changed, and started where it says what starts it."""
        for file in files:
            path = self._place(file.path)
            if not file.is_code:
                if path not in self._done:
                    os.chmod(path, 0o444)
                self._watch(file, path)
                continue
            if self._archives is not None and path not in self._done:
                self._archives.keep(file, path)
            if _names_its_interpreter(path):
                os.chmod(path, os.stat(path).st_mode | 0o100)

    def changed(self) -> List[str]:
        """Say which inputs a program has changed although they are read-only. No other job has the same file."""
        paths = [own.path for own in self._own if own.was_changed()]
        return ["the program changed its input /%s" % os.path.relpath(path, self._work) for path in paths]

    def _watch(self, file: InputFile, path: str) -> None:
        if len(self._own) < WATCHED:
            state = os.lstat(path)
            self._own.append(_Own(path, file.sha256, state.st_size, state.st_ctime_ns))

    def _is_cached(self, file: InputFile, url: str, coming_bytes: int) -> bool:
        near = is_local(url) and file.size_bytes < NEAR_BYTES
        if self._cache is None or near or file.is_code or not file.size_bytes:
            return False
        return coming_bytes + file.size_bytes <= self._cache.max_bytes and self._cache.can_keep(file.sha256)

    def _lend(self, file: InputFile, path: str) -> bool:
        if path in self._done:
            return True
        if self._cache is None:
            return False
        was_damaged = file.sha256 in self._cache.damaged
        lent = self._cache.lend(file.sha256, file.size_bytes, path)
        if lent:
            self._done[path] = True
        elif file.sha256 in self._cache.damaged and not was_damaged:
            self.damaged.append("/" + file.path)
        return lent

    def _lend_or_bring(self, file: InputFile, path: str, url: str, *, is_new: bool) -> None:
        """Take a file that was fetched into the cache; when another agent removed it meanwhile, fetch it for itself."""
        if path in self._done:
            return
        if is_new and self._cache is not None:
            self._cache.settle(file.sha256)
        if not self._lend(file, path):
            self._bring([(url, [Wanted(path, file.offset, file.size_bytes, file.sha256)])])

    def _bring(self, wanted: List[Tuple[str, List[Wanted]]]) -> None:
        size = sum(file.size_bytes for _, files in wanted for file in files)
        self._transfer.expect(size)
        if size < _ONE_THREAD_BYTES:
            for url, files in wanted:
                self._bring_one(url, files)
            return
        self._bring_in_threads((url, group) for url, files in wanted for group in groups(files))

    def _bring_in_threads(self, work: Iterable[Tuple[str, List[Wanted]]]) -> None:
        from concurrent.futures import ThreadPoolExecutor

        failed: List[BaseException] = []

        def bring(url: str, files: List[Wanted]) -> None:
            try:
                if not failed:
                    self._bring_one(url, files)
            except BaseException as error:  # noqa: BLE001 (raised in the caller's thread)
                failed.append(error)

        with ThreadPoolExecutor(THREADS, "acai-fetch") as pool:
            for url, files in work:
                pool.submit(bring, url, files)
        if failed:
            raise failed[0]

    def _bring_one(self, url: str, files: List[Wanted]) -> None:
        stop = Watching(on_bytes=self._transfer.advance, stop=lambda: self._stop.is_set)
        try:
            fetch_files(url, files, stop, self._launch.connections, DEFAULT._replace(sleep=self._stop.wait))
        except TransferError as error:
            if may_be_damage(error):
                self.unread = [file.sha256 for file in files[:MAX_UNREAD]]
            raise

    def _place(self, path: str) -> str:
        """Where a file goes in the working folder; the server checked its path, and it is checked again."""
        parts = path.split("/")
        if any(part in ("", ".", "..") or "\0" in part for part in parts):
            raise TransferError("%r is not a path inside the working folder" % path)
        return os.path.join(self._work, *parts)


def _names_its_interpreter(path: str) -> bool:
    """Whether a file of the code can be run by its name: a project keeps contents, and no modes."""
    with open(path, "rb") as file:
        return file.read(2) == b"#!"

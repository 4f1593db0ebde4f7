"""What sources are, checked as far as that needs no records. What they mean: `meanings.py`."""

from __future__ import annotations

from acai_jupyter.contract.errors import AcaiError, BadRequest, BadSpec
from acai_jupyter.contract.filesets import AsOf, Matching, Source, check_extent
from acai_jupyter.contract.specs import MAX_PATH_BYTES, Spec, parse_set, parse_spec
from acai_server.lake import patterns

_MAX_SPEC = 4 * MAX_PATH_BYTES


class Sources:
    """Lists of sources that are written well; `specs` has each file spec in them, by its text."""

    def __init__(self, *lists: list[Source]) -> None:
        self.lists = lists
        self.specs: dict[str, Spec] = {}
        self.folders: list[AsOf] = []
        self._count = 0
        for sources in lists:
            self._check(sources, 1)

    def _check(self, sources: list[Source], depth: int) -> None:
        if not sources:
            raise BadRequest(reason="there are no sources; name at least one, like '/data/' or '@train:3'")
        self._count += len(sources)
        check_extent(self._count, depth)
        for source in sources:
            if isinstance(source, str):
                if source not in self.specs:
                    self.specs[source] = _parsed(source)
            elif isinstance(source, AsOf):
                _check_folder(source)
                self.folders.append(source)
            elif isinstance(source, Matching):
                patterns.check(source.pattern)
                self._check(source.of, depth + 1)
            else:
                self._check(source.of, depth + 1)
                if source.without:
                    self._check(source.without, depth + 1)


def _parsed(text: str) -> Spec:
    if len(text) > _MAX_SPEC:
        raise BadSpec(spec=f"{text[:80]}…", reason=f"it has {len(text):,} characters")
    if not text.startswith(("/", "@")) and _names_set(text):
        raise BadSpec(spec=text, reason=f"a file set is written '@{text}'")
    return parse_spec(text)


def _names_set(text: str) -> bool:
    try:
        parse_set(text)
    except AcaiError:
        return False
    return True


def _check_folder(source: AsOf) -> None:
    spec = _parsed(source.spec)
    if spec.file_set is not None or not spec.is_folder:
        raise BadSpec(spec=source.spec, reason="as of a commit there are folders of the project only, like '/data/'")

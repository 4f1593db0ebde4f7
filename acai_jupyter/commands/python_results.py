"""The verbs as Python calls: those of doing results again and taking them elsewhere."""

from __future__ import annotations

from argparse import Namespace
from os import PathLike, fspath
from typing import TYPE_CHECKING, Any

from acai_jupyter.client.filesets import ref_of
from acai_jupyter.client.follow import in_silence
from acai_jupyter.client.http import Client
from acai_jupyter.commands import crates, given, python_help, replay_options
from acai_jupyter.commands import replay as replaying
from acai_jupyter.commands.job_objects import Job
from acai_jupyter.commands.objects import FileSet

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from acai_jupyter.commands.crates import Exported, Verified
    from acai_jupyter.commands.replay import Replay


def replay(  # noqa: PLR0913 (the options of the verb)
    thing: int | str | Job | FileSet,
    *,
    with_: str | FileSet | Sequence[str | FileSet] = (),
    parameters: Mapping[str, Any] | None = None,
    whole: bool = False,
    output: str | None = None,
    tolerance: float = replay_options.TOLERANCE,
    cached: bool = False,
    plan: bool = False,
    project: str | None = None,
) -> Replay:
    """Do a job again, or what a file set came from, and say how what comes of it compares; returns when it is done."""
    replaced = [with_] if isinstance(with_, str | FileSet) else with_
    arguments = Namespace(
        thing=_named(thing),
        instead=[one.ref if isinstance(one, FileSet) else ref_of(one) for one in replaced],
        p=given.parameters(parameters),
        whole=whole,
        output=output,
        tolerance=tolerance,
        cached=cached,
        plan=plan,
    )
    return replaying.run(Client(project=project), arguments, in_silence)


def export(
    spec: str | FileSet, file: str | PathLike[str], *, force: bool = False, project: str | None = None
) -> Exported:
    """Write a file set, or a folder of one, with its lineage into one zip, as an RO-Crate."""
    named = f"@{spec.ref}" if isinstance(spec, FileSet) else spec
    arguments = Namespace(spec=named, file=fspath(file), force=force)
    found: Exported = crates.export(Client(project=project), arguments).value
    return found


def verify(file: str | PathLike[str], *, project: str | None = None) -> Verified:
    """Compare the files in such a zip with the hashes that they had; no server is asked, so no project matters."""
    del project
    return crates.look(fspath(file))


def _named(thing: int | str | Job | FileSet) -> str:
    if isinstance(thing, Job):
        return str(thing.number)
    return thing.ref if isinstance(thing, FileSet) else str(thing)


python_help.documented(globals())

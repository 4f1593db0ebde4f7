"""ACAI for Jupyter: `%load_ext acai_jupyter`, or `import acai_jupyter as acai`.

Everything is imported at first use, so that importing this costs a kernel nothing.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from acai_jupyter._version import __version__
    from acai_jupyter.commands.differences import Diff
    from acai_jupyter.commands.graphs import Graph
    from acai_jupyter.commands.job_objects import Job
    from acai_jupyter.commands.objects import Files, FileSet
    from acai_jupyter.commands.plans import Plan
    from acai_jupyter.commands.python import (
        attach,
        cat,
        completion,
        doctor,
        get,
        job,
        jobs,
        kill,
        logs,
        ls,
        put,
        remove_job,
        rm,
        run,
        status,
        submit,
        sweep,
        sweep_of,
        uploads,
        versions,
        wait,
        why,
    )
    from acai_jupyter.commands.python_access import (
        audit,
        end_restriction,
        groups,
        lift,
        lifts,
        remove_group,
        restrict,
        restrictions,
        set_group,
    )
    from acai_jupyter.commands.python_accounts import (
        create_project,
        create_token,
        create_user,
        login,
        projects,
        remove_user,
        revoke_token,
        revoke_trust,
        rotate_token,
        set_quota,
        set_role,
        tokens,
        trust,
        trusted_files,
        users,
    )
    from acai_jupyter.commands.python_graph import file_origin, why_different
    from acai_jupyter.commands.python_money import (
        autoprovision,
        budget,
        costs,
        profile,
        profile_of,
        profiles,
        set_budget,
    )
    from acai_jupyter.commands.python_results import export, replay, verify
    from acai_jupyter.commands.python_sets import (
        alias,
        aliases,
        annotate,
        changes,
        create_file_set,
        diff,
        fileset,
        filesets,
        find,
        gc,
        metadata,
        note,
        remove_file_set,
        retention,
    )
    from acai_jupyter.commands.sweep_objects import Sweep
    from acai_jupyter.contract.errors import AcaiError
    from acai_jupyter.in_job import checkpoint_path, input_path, output_path, parameters, tag
    from acai_jupyter.widgets.provenance import provenance

__all__ = [
    "AcaiError",
    "Diff",
    "FileSet",
    "Files",
    "Graph",
    "Job",
    "Plan",
    "Sweep",
    "__version__",
    "alias",
    "aliases",
    "annotate",
    "attach",
    "audit",
    "autoprovision",
    "budget",
    "cat",
    "changes",
    "checkpoint_path",
    "completion",
    "costs",
    "create_file_set",
    "create_project",
    "create_token",
    "create_user",
    "diff",
    "doctor",
    "end_restriction",
    "export",
    "file_origin",
    "fileset",
    "filesets",
    "find",
    "gc",
    "get",
    "groups",
    "input_path",
    "job",
    "jobs",
    "kill",
    "lift",
    "lifts",
    "login",
    "logs",
    "ls",
    "metadata",
    "note",
    "output_path",
    "parameters",
    "profile",
    "profile_of",
    "profiles",
    "projects",
    "provenance",
    "put",
    "remove_file_set",
    "remove_group",
    "remove_job",
    "remove_user",
    "replay",
    "restrict",
    "restrictions",
    "retention",
    "revoke_token",
    "revoke_trust",
    "rm",
    "rotate_token",
    "run",
    "set_budget",
    "set_group",
    "set_quota",
    "set_role",
    "status",
    "submit",
    "sweep",
    "sweep_of",
    "tag",
    "tokens",
    "trust",
    "trusted_files",
    "uploads",
    "users",
    "verify",
    "versions",
    "wait",
    "why",
    "why_different",
]

_HOMES = {
    "AcaiError": "acai_jupyter.contract.errors",
    "Diff": "acai_jupyter.commands.differences",
    "FileSet": "acai_jupyter.commands.objects",
    "Files": "acai_jupyter.commands.objects",
    "Graph": "acai_jupyter.commands.graphs",
    "Job": "acai_jupyter.commands.job_objects",
    "Plan": "acai_jupyter.commands.plans",
    "Sweep": "acai_jupyter.commands.sweep_objects",
    "__version__": "acai_jupyter._version",
    **dict.fromkeys(
        ("autoprovision", "budget", "costs", "profile", "profile_of", "profiles", "set_budget"),
        "acai_jupyter.commands.python_money",
    ),
    "checkpoint_path": "acai_jupyter.in_job",
    "input_path": "acai_jupyter.in_job",
    "output_path": "acai_jupyter.in_job",
    "parameters": "acai_jupyter.in_job",
    "provenance": "acai_jupyter.widgets.provenance",
    "tag": "acai_jupyter.in_job",
    **dict.fromkeys(("export", "replay", "verify"), "acai_jupyter.commands.python_results"),
    **dict.fromkeys(
        (
            "alias",
            "aliases",
            "annotate",
            "changes",
            "create_file_set",
            "diff",
            "fileset",
            "filesets",
            "find",
            "gc",
            "metadata",
            "note",
            "remove_file_set",
            "retention",
        ),
        "acai_jupyter.commands.python_sets",
    ),
    **dict.fromkeys(
        (
            "create_project",
            "create_token",
            "create_user",
            "login",
            "projects",
            "remove_user",
            "revoke_token",
            "revoke_trust",
            "rotate_token",
            "set_quota",
            "set_role",
            "tokens",
            "trust",
            "trusted_files",
            "users",
        ),
        "acai_jupyter.commands.python_accounts",
    ),
    **dict.fromkeys(
        (
            "audit",
            "end_restriction",
            "groups",
            "lift",
            "lifts",
            "remove_group",
            "restrict",
            "restrictions",
            "set_group",
        ),
        "acai_jupyter.commands.python_access",
    ),
    **dict.fromkeys(("file_origin", "why_different"), "acai_jupyter.commands.python_graph"),
}


def __getattr__(name: str) -> Any:
    if name == "widgets":
        return import_module("acai_jupyter.widgets")
    if name not in __all__:
        raise AttributeError(f"module 'acai_jupyter' has no attribute '{name}'")
    return getattr(import_module(_HOMES.get(name, "acai_jupyter.commands.python")), name)


def __dir__() -> list[str]:
    return sorted(__all__)


def load_ipython_extension(ipython: Any) -> None:
    """Give a notebook `%acai` and `%%acai`, and their completion."""
    from acai_jupyter.magics import completion, live_widget
    from acai_jupyter.magics.magics import AcaiMagics

    ipython.register_magics(AcaiMagics)
    completion.register(ipython)
    live_widget.register(ipython)

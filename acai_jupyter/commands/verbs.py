"""The table of verbs: what each is called, what it takes, what it does."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from importlib import import_module
from math import inf
from typing import TYPE_CHECKING, Any, NoReturn

from acai_jupyter.commands import (
    access_options,
    account_options,
    job_options,
    line_words,
    profiling_options,
    provenance_options,
    replay_options,
    trust,
)
from acai_jupyter.contract.errors import BadRequest
from acai_jupyter.contract.foreign import one_line

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from acai_jupyter.client.http import Client
    from acai_jupyter.commands.results import Result


class Parser(argparse.ArgumentParser):
    """Says what is wrong as one of our errors; who shows it decides how."""

    def error(self, message: str) -> NoReturn:
        """Refuse wrong usage."""
        raise BadRequest(f"{self.prog}: {message}. See {self.prog} --help.")


@dataclass(frozen=True)
class Verb:
    """What people type, in one word or two. `home` is the module and function that does it, imported at first use."""

    name: str
    summary: str
    home: str
    arguments: Callable[[argparse.ArgumentParser], None]
    needs_server: bool = True

    def __call__(self, client: Client | None, arguments: argparse.Namespace) -> Result:
        """Do it."""
        module, _, function = self.home.partition(":")
        result: Result = getattr(import_module(f"acai_jupyter.commands.{module}"), function)(client, arguments)
        return result


def from_one(text: str) -> int:
    """Read a number of things."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 on")
    return int(text)


def days(text: str) -> float:
    """Read a number of days."""
    try:
        number = float(text)
    except ValueError:
        number = -1
    if not 0 <= number < inf:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number of days")
    return number


def _nothing(parser: argparse.ArgumentParser) -> None:
    del parser


def _put(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("sources", nargs="+", metavar="SRC", help="a file, or a folder whose contents go under DEST")
    parser.add_argument("dest", metavar="DEST", help="where in the project, like /digits")
    parser.add_argument("--as", dest="file_set", metavar="SET", help="make a file set of what was put")
    parser.add_argument("--dry-run", action="store_true", help="list what would go, and what would not and why")
    parser.add_argument(
        "--exclude", action="append", default=[], metavar="GLOB", help="leave out, as in .acaiignore; can be repeated"
    )
    parser.add_argument(
        "--include", action="append", default=[], metavar="GLOB",
        help="send it although it would be left out; can be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--storage", choices=["frequent", "infrequent", "archive"], default="frequent", help="how it will be read"
    )
    parser.add_argument("--no-progress", action="store_true", help="show no bar")


def _get(parser: argparse.ArgumentParser) -> None:
    _spec(parser)
    parser.add_argument("dest", metavar="DEST", help="a folder here, or for one file its path")
    parser.add_argument("--force", action="store_true", help="replace files that are there and differ")
    parser.add_argument("--no-progress", action="store_true", help="show no bar")


def _ls(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", nargs="?", default="/", help="a folder, a file or a set (default /)")
    parser.add_argument("--long", action="store_true", help="with size, version and time")


def _spec(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="like /p, /p:2, /dir/, /p@set:3, /dir/@set or @set")


def _versions(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("path", metavar="PATH", help="a file of the project")


def _rm(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a version like /p:2, or a file with all its versions")
    parser.add_argument("--undo", action="store_true", help="bring back what was deleted")


def _uploads(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--abort", metavar="ID", help="give one up, and delete what it had sent")


def _submit(parser: argparse.ArgumentParser) -> None:
    job_options.add_to(parser)
    parser.add_argument("script", metavar="SCRIPT", nargs="?", help="a script or a notebook")
    parser.set_defaults(command=None)
    parser.epilog = (
        "What follows -- goes to the script. Without a script it is the command: words are run as they are, "
        "one word in quotes by sh -c."
    )


def _number(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=int, metavar="N", help="the job's number")


def job_or_sweep(text: str) -> int | str:
    """Read a job's number, or the tag of a sweep."""
    if text.isdecimal():
        return int(text)
    if not text or not (text[0].isalpha() and text.isprintable()):
        raise argparse.ArgumentTypeError(f"'{text}' is neither a job's number nor a tag like sweep-7")
    return text


def _one(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("number", type=job_or_sweep, metavar="N", help="the job's number, or a tag like sweep-7")


def _several(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "numbers", type=job_or_sweep, nargs="+", metavar="N", help="the numbers of jobs, or tags like sweep-7"
    )


def _logs(parser: argparse.ArgumentParser) -> None:
    _number(parser)
    parser.add_argument("-f", dest="follow", action="store_true", help="go on until the job has ended")
    parser.add_argument("--attempt", type=from_one, metavar="K", help="what one of its attempts printed")
    parser.add_argument("--node", type=job_options.RANK, default=0, metavar="R", help="what node R printed (default 0)")
    _add_raw(parser)


def _add_raw(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--raw", action="store_true", help="send a terminal everything, control sequences too")


def _cat(parser: argparse.ArgumentParser) -> None:
    _spec(parser)
    _add_raw(parser)


def _attach(parser: argparse.ArgumentParser) -> None:
    _one(parser)
    _add_raw(parser)
    job_options.add_received(parser)


def _wait(parser: argparse.ArgumentParser) -> None:
    _several(parser)
    parser.add_argument("--exit-code", action="store_true", help="end with the exit status of the job's program")


def _why(parser: argparse.ArgumentParser) -> None:
    _number(parser)
    parser.add_argument("--miss", action="store_true", help="say why no earlier result answered it")


def _remove_job(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("numbers", type=int, nargs="+", metavar="N", help="the numbers of jobs")
    parser.add_argument("--undo", action="store_true", help="bring back what was deleted")


def _create(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", help="the set to make a version of")
    parser.add_argument("specs", metavar="SPEC", nargs="+", help="files and sets; for the same path the later one wins")
    parser.add_argument(
        "--without", action="append", default=[], metavar="SPEC", help="leave out these paths; can be repeated"
    )
    parser.add_argument("--note", default="", metavar="TEXT", help="what people should know of it, in Markdown")
    parser.add_argument("--if-changed", action="store_true", help="no new version when the newest holds the same")
    parser.add_argument("--dry-run", action="store_true", help="list which file versions it would hold")


def _list(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="NAME", nargs="?", help="one set, with all its versions (default: all sets)")


def _set(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("ref", metavar="SET", help="like train, train:3 or train:paper")


def _show(parser: argparse.ArgumentParser) -> None:
    _set(parser)
    parser.add_argument("--files", action="store_true", help="list all files")


def _alias(parser: argparse.ArgumentParser) -> None:
    _set(parser)
    parser.add_argument("alias", metavar="ALIAS", nargs="?", help="the name that is to stand for it")
    parser.add_argument("--remove", action="store_true", help="take the alias away")


def _note(parser: argparse.ArgumentParser) -> None:
    _set(parser)
    parser.add_argument("text", metavar="TEXT", help="in Markdown; empty for no note")
    parser.add_argument("--expect", metavar="TEXT", help="write it only in the place of this note")


def _remove(parser: argparse.ArgumentParser) -> None:
    _set(parser)
    parser.add_argument("--files", action="store_true", help="also the file versions that no other set holds")
    parser.add_argument("--undo", action="store_true", help="bring back what was deleted")


def _retention(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--keep-last", type=from_one, metavar="N", help="keep the newest N versions of each set")
    parser.add_argument("--keep-days", type=days, metavar="D", help="keep what is younger")
    parser.add_argument("--files", action="store_true", help="files that no set holds follow the same rules")
    parser.add_argument("--off", action="store_true", help="keep all versions")


def _diff(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("before", metavar="A", help="a set like model:1, a spec like /dir/@set, or a job's number")
    parser.add_argument("after", metavar="B", help="what to compare it with")
    parser.add_argument("--all", action="store_true", help="show every path")


def _gc(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--dry-run", action="store_true", help="only say what would be freed, and why")
    parser.add_argument(
        "--unknown", action="store_true", help="list the objects that no record owns; nothing else deletes those"
    )
    parser.add_argument("--yes", type=int, metavar="N", help="delete them permanently; N is their number in that list")


def _costs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--by", choices=["user", "notebook", "tag", "job", "day"], default="user", help="what to add up by (user)"
    )
    parser.add_argument("--since", metavar="TIME", help="jobs that were submitted from then on, like 2026-11-01")
    parser.add_argument("--until", metavar="TIME", help="jobs that were submitted before")
    parser.add_argument("--csv", action="store_true", help="as comma-separated values, with all rows and digits")


def _profile(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("name", metavar="PROFILE", help="the profile, as 'profile list' names it")
    parser.add_argument("--version", default="", metavar="MODEL", help="as this version of its model knew it")


def _provision(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("profile", metavar="PROFILE", help="the profile, as 'profile list' names it")
    parser.add_argument(
        "--values", type=job_options.bare_or_named, nargs="+", default=[], metavar="NAME=V",
        help="its hints; bare values in their order; what is not named is as in the newest run",
    )  # fmt: skip
    job_options.add_bounds(parser)
    parser.add_argument("--plan", action="store_true", help="only say which machine, and what else there is")


def _export(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("spec", metavar="SPEC", help="a file set like @model:2, or a folder of it like /dir/@model:2")
    parser.add_argument("file", metavar="FILE", help="the zip to write")
    parser.add_argument("--force", action="store_true", help="replace a file that is there")


def _verify(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", metavar="FILE", help="a zip that export wrote")


def _jobs(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("query", metavar="QUERY", nargs="*", help="like \"state = 'running'\" (default: all)")


def _tag(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "thing", metavar="THING", help="a job's number, a set like model:2, or a file like /data.csv:3; or several"
    )
    parser.add_argument("words", metavar="CHANGE", nargs="*", help="KEY=VALUE, KEY= (delete), +LABEL or -LABEL")
    parser.add_argument(
        "--where", metavar="QUERY", help="change all that a query is true of; THING is files, filesets or jobs"
    )
    parser.add_argument(
        "--expect",
        metavar="KEY=VALUE",
        action="append",
        default=[],
        help="change it only from this value, KEY= from none; can be repeated",
    )
    parser.add_argument("--history", action="store_true", help="show who changed what, and when")


def _find(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("kind", metavar="KIND", choices=["files", "filesets", "jobs"], help="files, filesets or jobs")
    parser.add_argument("query", metavar="QUERY", nargs="*", help='like "accuracy > 0.9 order by accuracy desc"')
    parser.add_argument("--columns", metavar="KEY,KEY", help="what to show; otherwise what the query speaks of")


def _completion(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("shell", metavar="SHELL", choices=["bash", "zsh", "fish"], help="bash, zsh or fish")


VERBS = {
    verb.name: verb
    for verb in (
        Verb("status", "What this is connected to.", "status:status", _nothing),
        Verb("doctor", "Find out what does not work, and what to do.", "doctor:doctor", _nothing, needs_server=False),
        Verb("completion", "Let TAB complete in a shell.", "shells:completion", _completion, needs_server=False),
        Verb("put", "Put files into the project.", "put:put", _put),
        Verb("get", "Get files out of the project.", "files:get", _get),
        Verb("ls", "List a folder.", "files:ls", _ls),
        Verb("cat", "Show a file.", "files:cat", _cat),
        Verb("versions", "List the versions of a file.", "files:versions", _versions),
        Verb("rm", "Delete a file or one of its versions.", "files:rm", _rm),
        Verb("uploads", "List uploads that were begun and not ended.", "uploads:uploads", _uploads),
        Verb("fileset create", "Make the next version of a file set.", "filesets:create", _create),
        Verb("fileset list", "List file sets, or the versions of one.", "filesets:list_sets", _list),
        Verb("fileset show", "Show a version of a file set.", "filesets:show", _show),
        Verb("fileset alias", "Let a name stand for a version; list such names.", "filesets:alias", _alias),
        Verb("fileset note", "Write what people should know of a version.", "filesets:note", _note),
        Verb("fileset rm", "Delete a version of a file set, or all of them.", "filesets:rm", _remove),
        Verb("fileset retention", "Show or change what is kept of old versions.", "filesets:retention", _retention),
        Verb("diff", "Show how sets or jobs differ, and why.", "diff:diff", _diff),
        Verb("gc", "Free what nothing refers to any more.", "gc:gc", _gc),
        Verb("costs", "Show what jobs have cost.", "costs:costs", _costs),
        Verb("profile run", "Make runs to learn how long others take.", "profiling:profile", profiling_options.add_to),
        Verb("profile list", "List what there are runs to learn from.", "profiles:list_profiles", _nothing),
        Verb("profile show", "Show what runs have taught, and how far off it is.", "profiles:show", _profile),
        Verb("autoprovision", "Choose the machine for a run, and submit it.", "provisioning:autoprovision", _provision),
        Verb("submit", "Submit a script, a notebook or a command as a job.", "jobs:submit", _submit),
        Verb("jobs", "List jobs.", "metadata:jobs", _jobs),
        Verb("job", "Show a job, or the jobs of a sweep.", "job_cards:job", _one),
        Verb("logs", "Show a job's log.", "following:logs", _logs),
        Verb("attach", "Watch a job: its log as it comes, and how it ends; or a sweep.", "following:attach", _attach),
        Verb("wait", "Wait for jobs to end.", "following:wait_for", _wait),
        Verb("why", "Say why a job waits, what it does, or how it ended.", "why:why", _why),
        Verb("kill", "End jobs.", "ending:kill", _several),
        Verb("rm-job", "Delete jobs that have ended.", "ending:remove", _remove_job),
        Verb("tag", "Set, delete and show attributes and labels.", "metadata:tag", _tag),
        Verb("find", "Find files, file sets or jobs by a query.", "metadata:find", _find),
        Verb("provenance", "Show what came from what.", "provenance:provenance", provenance_options.add_to),
        Verb("export", "Write a file set and its lineage into one zip.", "crates:export", _export),
        Verb("verify", "Check the files of an exported zip.", "crates:verify", _verify, needs_server=False),
        Verb("replay", "Do again what was recorded, and compare.", "replay:replay", replay_options.add_to),
        Verb("login", "Use a server by a token.", "login:login", account_options.add_login, needs_server=False),
        Verb("trust", "Trust the settings of a folder.", "trust:trust", trust.add_to, needs_server=False),
        Verb("project create", "Make a project.", "accounts:create_project", account_options.add_create_project),
        Verb("project list", "List your projects.", "accounts:list_projects", _nothing),
        Verb(
            "project budget",
            "Show or bound what may be spent.",
            "budgets:of_project",
            account_options.add_project_budget,
        ),
        Verb("user create", "Let a user into the project.", "accounts:create_user", account_options.add_create_user),
        Verb("user list", "List the users of the project.", "accounts:list_users", _nothing),
        Verb("user role", "Give a user another role.", "accounts:role", account_options.add_role),
        Verb("user quota", "Give a user another quota.", "accounts:quota", account_options.add_quota),
        Verb("user budget", "Bound what a user may spend.", "budgets:of_user", account_options.add_user_budget),
        Verb("user rm", "Take a user out of the project.", "accounts:remove_user", account_options.add_remove_user),
        Verb("token create", "Make a token.", "accounts:create_token", account_options.add_create_token),
        Verb("token list", "List your tokens.", "accounts:list_tokens", account_options.add_tokens),
        Verb("token rotate", "Put a new secret in a token's place.", "accounts:rotate", account_options.add_rotate),
        Verb("token revoke", "End a token at once.", "accounts:revoke", account_options.add_revoke),
        Verb("access list", "List what is restricted.", "access:list_restrictions", access_options.add_list),
        Verb("access limit", "Let only some read or write.", "access:limit", access_options.add_limit),
        Verb("access open", "Let all of the project through.", "access:open_again", access_options.add_open),
        Verb("access lift", "Open what was made of it.", "access:lift", access_options.add_lift),
        Verb("access lifts", "List what was opened, and why.", "access:lifts", _nothing),
        Verb("group list", "List the groups of users.", "access:list_groups", _nothing),
        Verb("group set", "Say who is in a group.", "access:set_group", access_options.add_set_group),
        Verb("group rm", "Take a group away.", "access:remove_group", access_options.add_remove_group),
        Verb("audit", "List or export who did what.", "access:audit", access_options.add_audit),
    )
}


GROUPS = {
    "fileset": "Make, list, name and delete file sets.",
    "profile": "Make runs to learn from; show what runs have taught.",
    "project": "Make and list projects.",
    "user": "Say who is in the project, and as what.",
    "token": "Make, list, replace and end tokens.",
    "access": "Say who may read and write what, list it, open it.",
    "group": "Name users together, list groups, take them away.",
}
DESCRIPTION = "Versioned data, jobs and provenance. Every verb takes --json and --project NAME, before it or behind."
PROFILE_WORDS = ("run", "list", "show", "-h", "--help")
"""What may follow `profile`; all else is what `profile run` takes."""
INTERRUPTED = {
    "put": "The same line goes on where it was.",
    "replay": "The job that was begun goes on; acai jobs lists it.",
    "gc": "The collection goes on on the server; the same line joins it.",
}
"""What an interrupt leaves, where that is not plain."""


def interrupted(words: Sequence[str]) -> str:
    """Say that a line was interrupted, and what goes on."""
    left = INTERRUPTED.get(words[0]) if words else None
    return f"Interrupted. {left}" if left else "Interrupted."


def parser(prog: str) -> Parser:
    """Return the parser of all verbs."""
    root = Parser(prog=prog, description=DESCRIPTION, allow_abbrev=False)
    verbs = _choice(root)
    groups: dict[str, Any] = {}
    for verb in VERBS.values():
        group, _, word = verb.name.rpartition(" ")
        if group and group not in groups:
            groups[group] = _choice(_added(verbs, group, GROUPS[group]))
        one = _added(groups[group] if group else verbs, word, verb.summary)
        one.set_defaults(verb=verb.name)
        add_common(one)
        verb.arguments(one)
    return root


def add_common(parser: argparse.ArgumentParser) -> None:
    """Add what every verb takes."""
    parser.add_argument("--json", action="store_true", help="answer in JSON")
    parser.add_argument("--project", metavar="NAME", help="another project than the usual one")


def _choice(parser: argparse.ArgumentParser) -> Any:
    return parser.add_subparsers(dest="verb", required=True, metavar="VERB", parser_class=Parser)


def _added(verbs: Any, word: str, summary: str) -> argparse.ArgumentParser:
    one: argparse.ArgumentParser = verbs.add_parser(word, help=summary, description=summary, allow_abbrev=False)
    return one


def cell_parser() -> Parser:
    """Return the parser of the line after `%%acai run`."""
    one = Parser(prog="%%acai run", description="Run the cell as a job.", allow_abbrev=False)
    one.add_argument("--project", metavar="NAME", help="another project than the usual one")
    job_options.add_to(one)
    job_options.add_cell(one)
    one.set_defaults(args=[], command=None)
    return one


def submit_parser() -> Parser:
    """Return the parser of the line after `%acai submit` alone."""
    one = Parser(prog="%acai submit", allow_abbrev=False)
    add_common(one)
    _submit(one)
    return one


def profile_parser() -> Parser:
    """Return the parser of the line after `%%acai profile`."""
    one = Parser(prog="%%acai profile", description="Make runs of the cell to learn from.", allow_abbrev=False)
    one.add_argument("--project", metavar="NAME", help="another project than the usual one")
    profiling_options.add_shared(one)
    return one


OF_CELLS = {"run": cell_parser, "profile": profile_parser}
"""What follows `%%acai`, and how its line is read."""


def parse_profile(words: Sequence[str]) -> argparse.Namespace:
    """Read the line after `%%acai profile`."""
    return profile_parser().parse_args(words)


def parse_cell(words: Sequence[str]) -> argparse.Namespace:
    """Read the line after `%%acai run`; what follows `--` is for the script."""
    ours, args = line_words.parted(words)
    parser = cell_parser()
    found, unknown = parser.parse_known_args(ours)
    if unknown and found.script and not args:
        theirs = " ".join(unknown)
        raise BadRequest(f"{theirs} is not for {parser.prog}. What is for the script stands behind --: -- {theirs}")
    if unknown:
        parser.error(f"unrecognized arguments: {' '.join(unknown)}")
    if args and not found.script:
        parser.error("only a --script takes something after --")
    if found.script:
        found.script, found.args = found.script[0], [*found.script[1:], *args]
    return found


def _check_verb(prog: str, words: Sequence[str]) -> None:
    """Refuse what is no verb in a line; all that argparse could choose from is longer than that."""
    first = words[0] if words else "-"
    known = {name.split()[0] for name in VERBS}
    if first in known or first.startswith("-"):
        return
    if first == "run":
        raise BadRequest(f"run is for a cell: %%acai run. A script or a command is submitted: {prog} submit.")
    from difflib import get_close_matches

    near = get_close_matches(first, known, 1)
    hint = f"Did you mean {prog} {near[0]}? " if near else ""
    raise BadRequest(f"There is no verb '{one_line(first)}'. {hint}{prog} --help lists them.")


def parse(prog: str, words: Sequence[str]) -> argparse.Namespace:
    """Read a line of words; what follows `--` is not ours."""
    ours, args = line_words.parted(words)
    ours = line_words.common_behind(ours)
    _check_verb(prog, ours)
    if ours[:1] == ["tag"]:
        ours, labels = line_words.tag_words(ours[1:])
        args = labels + args
    if ours[:1] == ["profile"] and ours[1:] and ours[1] not in PROFILE_WORDS:
        ours = ["profile", "run", *ours[1:]]
    if ours[:1] == ["find"]:
        options, others = line_words.options_apart(ours[1:])
        ours = ["find", *options, *others]
    root = parser(prog)
    found, unknown = root.parse_known_args(ours)
    if unknown and found.verb == "submit" and found.script is not None and not args:
        theirs = " ".join(unknown)
        raise BadRequest(f"{theirs} is not for {prog} submit. What is for the script stands behind --: -- {theirs}")
    if unknown:
        root.error(f"unrecognized arguments: {' '.join(unknown)}")
    if args and found.verb not in ("submit", "tag"):
        raise BadRequest(f"{prog} {found.verb} takes nothing after --.")
    found.args = args
    if found.verb == "submit":
        job_options.take_script(found)
    return found


def run(arguments: argparse.Namespace, client: Any = None) -> Result:
    """Do what a parsed line says."""
    from acai_jupyter.client.http import Client

    verb = VERBS[arguments.verb]
    return verb(client or (Client(project=arguments.project) if verb.needs_server else None), arguments)

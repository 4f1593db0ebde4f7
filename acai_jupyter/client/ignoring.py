"""What `put` and `--code` leave out: patterns in gitignore's syntax, and defaults that need none.

A pattern means what it means to git, down to its odd corners, with two differences: a character is a character and not
a byte of it, and a pattern that could never match is refused instead of being passed over.
"""

from __future__ import annotations

import re
import unicodedata
from functools import cache, partial
from typing import TYPE_CHECKING

import msgspec

from acai_jupyter.contract.errors import BadRequest

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Iterator

IGNORE_FILE = ".acaiignore"
_REPOSITORIES = frozenset({".git", ".hg", ".svn"})
_DEFAULT_FILES = _REPOSITORIES | {".DS_Store", "Thumbs.db", IGNORE_FILE}
_DEFAULT_FOLDERS = _REPOSITORIES | {
    ".cache",
    ".ipynb_checkpoints",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".venv",
    "__pycache__",
    "node_modules",
}
_BYTECODE = ".pyc"
DEFAULT = "default: "
"""How reasons begin that stand in no file."""

SECRETS = (
    *(".env", ".env.*", "!.env.example", "!.env.sample", "!.env.template", ".envrc", ".Renviron"),
    *(".netrc", "_netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".s3cfg", ".boto", ".databrickscfg", ".dockercfg"),
    *(".git-credentials", ".vault-token", ".htpasswd", "kaggle.json", "kubeconfig", "*.kubeconfig"),
    *("id_rsa", "id_dsa", "id_ecdsa", "id_ed25519", "id_ecdsa_sk", "id_ed25519_sk"),
    *("*.pem", "*.key", "*.p12", "*.pfx", "*.ppk", "*.jks", "*.keystore", "*.kdbx"),
    *("**/.kube/config", "**/.docker/config.json", "**/.config/gcloud/", "**/.streamlit/secrets.toml"),
    *(".aws/", ".azure/", ".gnupg/", ".ssh/"),
)
"""Patterns of files that often hold secrets: everyone in a project can read its files and the code of its jobs."""
SECRET = "it may hold a secret"  # noqa: S105 (a reason that is shown)

_SPECIAL = re.compile(r"[*?\[\\]")
_ONE = r"(?:\\.|[^\\\]])"
# Possessive (`?+`, `*+`): what was read as one item of a class is never read again as something else.
_CLASS = rf"\[(?P<negated>[!^]?+)(?P<items>(?:\](?:-{_ONE})?)?+(?:\[:[^\]]*:\]|{_ONE}(?:-{_ONE})?)*+)\]"
_ITEM = re.compile(rf"\[:(?P<kind>[^\]]*):\]|(?P<low>\A\]|{_ONE})(?:-(?P<high>{_ONE}))?", re.DOTALL)
_TOKEN = re.compile(rf"(?P<stars>\*+)|(?P<any>\?)|{_CLASS}|\\(?P<escaped>.)|(?P<plain>[^*?\[\\]+)", re.DOTALL)
_KINDS = {
    "alnum": "0-9A-Za-z",
    "alpha": "A-Za-z",
    "blank": r" \t",
    "cntrl": r"\x00-\x1f\x7f",
    "digit": "0-9",
    "graph": "!-~",
    "lower": "a-z",
    "print": " -~",
    "punct": r"!-/:-@\[-`{-~",
    "space": r" \t\n\r",
    "upper": "A-Z",
    "xdigit": "0-9A-Fa-f",
}


class Rule(msgspec.Struct, frozen=True):
    """One pattern. `reason` is what is said of a file it leaves out; without one it takes files in again."""

    regex: re.Pattern[str]
    reason: str | None
    folders_only: bool
    by_name: bool
    is_blanket: bool  # only stars: it says nothing about the name
    name: str | None = None
    """The one name that the last part can match, for a pattern of plain text with or without `**/` before it."""
    ending: str | None = None
    """How every name ends that a pattern like `*.key` matches."""
    beginning: str = ""
    """How every name begins that a pattern without slashes matches."""


class _Matcher:
    """Rules for files or for folders; the last one that matches decides.

    A few looks at all names at once find those that any rule matches, which is rare; only these are asked one by one.
    Plain text is looked for in all names at once, without an expression: the names of secrets are looked for among
    all files of every upload.
    """

    def __init__(self, rules: Iterable[Rule]) -> None:
        self._strongest_first = tuple(rules)[::-1]
        by_name = [rule for rule in self._strongest_first if rule.by_name]
        by_path = [rule for rule in self._strongest_first if not rule.by_name]
        self._plain = frozenset(rule.name for rule in by_name if rule.name is not None)
        self._endings = tuple(rule.ending for rule in by_name if rule.ending is not None)
        others = [rule for rule in by_name if rule.name is None and rule.ending is None]
        self._names = _any_of(others)
        self._marks = [f"{ending}/" for ending in self._endings] + [f"/{rule.beginning}" for rule in others]
        self._paths = _any_of(by_path)
        self._last = frozenset(rule.name for rule in by_path if rule.name is not None)
        self._any_last = any(rule.name is None for rule in by_path)

    def matches(self, prefix: str, names: Collection[str]) -> dict[str, Rule]:
        hits: set[str] = set(self._plain.intersection(names))
        joined = f"/{'/'.join(names)}/" if self._marks else ""
        if any(mark in joined for mark in self._marks):
            hits.update([name for name in names if name.endswith(self._endings)])
            if self._names:
                hits.update(filter(self._names.fullmatch, names))
        if self._paths:
            fits = self._paths.fullmatch
            candidates = names if self._any_last else self._last.intersection(names)
            hits.update([name for name in candidates if fits(prefix + name)])
        return {name: self._deciding(prefix + name, name) for name in hits}

    def _deciding(self, path: str, name: str) -> Rule:
        return next(r for r in self._strongest_first if r.regex.fullmatch(name if r.by_name else path))


class RuleList:
    """The rules of one file, or of the command line, in their order."""

    def __init__(self, rules: Collection[Rule]) -> None:
        self.for_folders = _Matcher(rules)
        self.for_files = _Matcher(rule for rule in rules if not rule.folders_only)


class _Layer(msgspec.Struct, frozen=True):
    """A list of rules as a folder sees it: `prefix` leads to that folder from where the rules hold."""

    rules: RuleList
    prefix: str = ""

    def matches(self, names: Collection[str], *, folders: bool) -> dict[str, Rule]:
        """The rule that decides for each name, as far as one does."""
        return (self.rules.for_folders if folders else self.rules.for_files).matches(self.prefix, names)


class Rules(msgspec.Struct, frozen=True):
    """What holds in one folder: the command line over the folder's own rules over those of the folders above it.

    `defaults` are below all of them. Like the fixed defaults they yield only to a pattern that speaks of the name.
    """

    command_line: _Layer | None = None
    files: tuple[_Layer, ...] = ()  # the deepest last
    defaults: tuple[_Layer, ...] = ()

    def with_file(self, content: bytes, shown: str) -> Rules:
        """The same with an ignore file of this folder; `shown` is its path from SRC, for the reasons."""
        layer = _Layer(RuleList(list(_read(content, shown))))
        return Rules(self.command_line, (*self.files, layer), self.defaults)

    def with_default(self, pattern: str, reason: str) -> Rules:
        """The same with one more pattern among the defaults."""
        layer = _Layer(RuleList([_rule(pattern, reason, reason)]))
        return Rules(self.command_line, self.files, (*self.defaults, layer))

    def below(self, name: str) -> Rules:
        """What holds in a folder of this folder, before its own ignore file is read."""
        down = partial(_down, name)
        above = self.command_line and down(self.command_line)
        return Rules(above, tuple(map(down, self.files)), tuple(map(down, self.defaults)))

    def verdicts(self, names: Collection[str], *, folders: bool) -> dict[str, str | None]:
        """Why names are left out; None for one that is taken in on purpose; most are not in it at all."""
        found: dict[str, str | None] = dict(_defaults(names, folders=folders))
        deciding: dict[str, Rule] = {}
        for layer in self.defaults:
            deciding |= layer.matches(names, folders=folders)
        found |= {name: rule.reason for name, rule in deciding.items() if rule.reason}
        deciding.clear()
        for layer in (*self.files, *filter(None, [self.command_line])):
            deciding |= layer.matches(names, folders=folders)
        # `!*/` opens folders for the patterns after it; it does not ask for .git.
        found |= {name: rule.reason for name, rule in deciding.items() if rule.reason or not rule.is_blanket}
        return found


def excluding(patterns: Iterable[str], include: Iterable[str] = ()) -> Rules:
    """The rules at SRC: the defaults, and over them the patterns of the command line. Leaving out wins over including.

    An included pattern stands above the ignore files, because the user asks for it on this line.
    """
    found = [_rule(f"!{_included(pattern)}", "", "--include") for pattern in include]
    found += [_rule(pattern, f"--exclude {pattern}", "--exclude") for pattern in patterns]
    return Rules(_Layer(RuleList(found)) if found else None, defaults=(_Layer(_secret_rule_list()),))


def _included(pattern: str) -> str:
    if pattern.startswith("!") or not pattern.strip("*/"):
        raise BadRequest(f"--include {pattern}: name what is to be sent, like --include .env or --include '*.pem'.")
    return pattern


def secret_rules() -> list[Rule]:
    """The rules for the names of possible secrets."""
    return [_rule(pattern, SECRET, "the defaults") for pattern in SECRETS]


@cache
def _secret_rule_list() -> RuleList:
    return RuleList(secret_rules())


def _down(name: str, layer: _Layer) -> _Layer:
    return _Layer(layer.rules, f"{layer.prefix}{name}/")


def _defaults(names: Collection[str], *, folders: bool) -> Iterator[tuple[str, str]]:
    known = _DEFAULT_FOLDERS if folders else _DEFAULT_FILES
    for name in known.intersection(names):
        yield name, f"{DEFAULT}{name}"
    if not folders:
        for name in [name for name in names if name.endswith(_BYTECODE)]:
            yield name, f"{DEFAULT}*{_BYTECODE}"


def _any_of(rules: Iterable[Rule]) -> re.Pattern[str] | None:
    expressions = [rule.regex.pattern for rule in rules]
    return re.compile("|".join(expressions), re.DOTALL) if expressions else None


def _read(content: bytes, shown: str) -> Iterator[Rule]:
    try:
        lines = content.decode("utf-8-sig").split("\n")
    except UnicodeDecodeError as error:
        raise BadRequest(f"{shown} is not UTF-8 text. Save it as such.") from error
    for number, line in enumerate(lines, start=1):
        pattern = _without_trailing_spaces(line.removesuffix("\r"))
        if pattern and not line.startswith("#"):
            yield _rule(pattern, f"matched `{pattern}` of {shown}", f"{shown}, line {number}")


def _without_trailing_spaces(line: str) -> str:
    """An escaped space at the end stays."""
    bare = line.rstrip(" ")
    escaped = len(bare) < len(line) and (len(bare) - len(bare.rstrip("\\"))) % 2
    return bare + " " if escaped else bare


def _rule(pattern: str, reason: str, where: str) -> Rule:
    glob = pattern.removeprefix("!")
    body = unicodedata.normalize("NFC", glob.removesuffix("/"))
    by_name = "/" not in body
    try:
        expression = re.compile(_expression(body.removeprefix("/"), by_name=by_name), re.DOTALL)
    except ValueError as error:
        raise BadRequest(f"{where}: the pattern '{pattern}' could never match: {error}.") from error
    last = body.rpartition("/")[2]
    after_star = last.removeprefix("*")
    return Rule(
        expression,
        reason=None if pattern.startswith("!") else reason,
        folders_only=glob.endswith("/"),
        by_name=by_name,
        is_blanket=not last.strip("*"),
        name=None if _SPECIAL.search(body.removeprefix("**/")) else last,
        beginning="" if (special := _SPECIAL.search(body)) is None else body[: special.start()],
        ending=after_star if body == f"*{after_star}" and after_star and not _SPECIAL.search(after_star) else None,
    )


def _expression(glob: str, *, by_name: bool) -> str:
    if {".", ".."} & set(glob.split("/")):
        raise ValueError("it begins where the pattern stands, without './' or '../'")
    special = _SPECIAL.search(glob)
    at, pieces = 0, []
    while at < len(glob):
        token = _TOKEN.match(glob, at)
        if token is None:
            raise ValueError(_fault(glob[at]))
        at = token.end()
        if token["stars"] and not by_name and special:
            piece, at = _stars(glob, token, special.start())
        else:
            piece = _piece(token)
        pieces.append(piece)
    return "".join(pieces)


def _fault(sign: str) -> str:
    return (
        "nothing follows its last '\\'" if sign == "\\" else "a '[' in it is not closed; the sign itself is written \\["
    )


def _stars(glob: str, token: re.Match[str], first_special: int) -> tuple[str, int]:
    """Two stars that stand alone between slashes lead through any number of folders.

    Git cuts the plain text off the front before it looks, so to it the stars of `a**/b` stand alone as well.
    """
    begin, end = token.span()
    stands_alone = end - begin > 1 and (begin == first_special or glob[begin - 1] == "/")
    if stands_alone and glob.startswith("/", end):
        return "(?:.*/)?", end + 1
    if stands_alone and (end == len(glob) or glob.startswith("\\/", end)):
        return ".*", end
    return "[^/]*", end


def _piece(token: re.Match[str]) -> str:
    if token["stars"]:
        return "[^/]*"
    if token["any"]:
        return "[^/]"
    if token["items"] is not None:
        return _class(token)
    return re.escape(token["escaped"] or token["plain"])


def _class(token: re.Match[str]) -> str:
    body = "".join(map(_item, _ITEM.finditer(token["items"])))
    return f"(?!/)[{'^' if token['negated'] else ''}{body}]"


def _item(item: re.Match[str]) -> str:
    kind = item["kind"]
    if kind is not None:
        if kind not in _KINDS:
            raise ValueError(f"there is no kind of character called [:{kind}:]")
        return _KINDS[kind]
    low = item["low"][-1]
    high = (item["high"] or low)[-1]
    return re.escape(low) + (f"{re.escape(low)}-{re.escape(high)}" if low < high else "")

"""What a verb returns: the answer, and its forms that need no script."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import msgspec

from acai_jupyter.commands import markup
from acai_jupyter.commands.terminal import visible

if TYPE_CHECKING:
    from collections.abc import Callable

MOST_BYTES = 64 * 1024
"""What is larger is not put into a notebook as data."""
MOST_CHARACTERS = 100_000
"""Of a longer text a notebook keeps the beginning."""


@dataclass(frozen=True)
class Result:
    """A verb's answer. Front ends take the richest form they have: ours, HTML, or plain text."""

    text: str
    value: Any
    kind: str
    failed: bool = False
    """The thing asked for failed, as a job that failed: exit status 1."""
    exit_status: int | None = None
    """What a shell gets instead, when another status was asked for."""
    html: Callable[[], str] | None = field(default=None, repr=False)
    """How a notebook shows it; else as it is printed."""
    snapshot: Callable[[], Any] | None = field(default=None, repr=False)
    """What a notebook keeps of it for our own views, where that is less than the answer."""

    def plain(self) -> Any:
        """Return the answer as plain data, for `--json`."""
        return msgspec.to_builtins(self.value)

    def __repr__(self) -> str:
        return visible(self.text)

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        text = self.text if "ipykernel" in sys.modules else visible(self.text)
        if len(text) > MOST_CHARACTERS:
            text = f"{text[:MOST_CHARACTERS]}\n… the rest is longer than what a notebook should keep"
        forms = {"text/plain": text, "text/html": self.html() if self.html else markup.printed(text)}
        value = self.snapshot() if self.snapshot else self.plain()
        if self.snapshot or len(msgspec.json.encode(value)) <= MOST_BYTES:
            forms[f"application/vnd.acai.{self.kind}+json"] = value
        return forms

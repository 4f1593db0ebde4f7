"""What a verb returns: the answer, and its forms that need no script."""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import msgspec

_AS_PRINTED = (
    "background: none; margin: 0; padding-left: var(--jp-code-padding, 0); font-size: var(--jp-code-font-size, inherit)"
)
"""In line with what a cell prints."""


@dataclass(frozen=True)
class Result:
    """A verb's answer. Front ends take the richest form they have: ours, HTML, or plain text."""

    text: str
    value: Any
    kind: str
    failed: bool = False
    """The thing asked for failed, as a job that failed: exit status 1."""
    rows: list[tuple[str, str]] = field(default_factory=list)

    def plain(self) -> Any:
        """Return the answer as plain data, for `--json`."""
        return msgspec.to_builtins(self.value)

    def __repr__(self) -> str:
        return self.text

    def _repr_mimebundle_(self, **kwargs: Any) -> dict[str, Any]:
        del kwargs
        html = f'<pre class="acai-result" style="{_AS_PRINTED}">{escape(self.text)}</pre>'
        bundle = {"text/plain": self.text, "text/html": html}
        return bundle | {f"application/vnd.acai.{self.kind}+json": self.plain()}

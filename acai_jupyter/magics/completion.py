"""Completion after `%acai` and `%%acai`, and what IPython would misread there: `%acai put?`, and an empty cell."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from IPython.core.completer import SimpleCompletion, context_matcher

if TYPE_CHECKING:
    from collections.abc import Callable

    from IPython.core.completer import CompletionContext, SimpleMatcherResult

_NAME = "acai"
_HELP = re.compile(r"\s*(?:%%acai\s+(?P<cell>run|profile)|%acai(?:\s+(?P<words>[a-z][a-z -]*?))?)\s*\?{1,2}\s*\Z")
_LINE = re.compile(r"\s*(%%?)acai\s+(.*)", re.DOTALL)
_ALONE = re.compile(r"%%acai[ \t][^\n]*\s*\Z")


def _matcher(ipython: Any) -> Callable[[CompletionContext], SimpleMatcherResult]:
    @context_matcher(identifier=_NAME)  # type: ignore[untyped-decorator]  # IPython gives it no type
    def acai_matcher(context: CompletionContext) -> SimpleMatcherResult:
        """Offer verbs, options, file sets and keys; where there are none, everybody else may."""
        line = _LINE.match(context.text_until_cursor)
        if line is None:
            return {"completions": [], "suppress": False}
        from acai_jupyter.commands.completing import complete

        own = [name for name in ipython.user_ns if name not in ipython.user_ns_hidden]
        begun, found = complete(line[2], variables=own, of_cell=line[1] == "%%")
        offered = [SimpleCompletion(text, type="magic") for text in found]
        return {"completions": offered, "matched_fragment": begun, "suppress": bool(offered), "ordered": True}

    made: Callable[[CompletionContext], SimpleMatcherResult] = acai_matcher
    return made


def as_it_was_meant(lines: list[str]) -> list[str]:
    """Read `%acai put?` as a question about the verb, and let a cell be empty, as with `--script`."""
    text = "".join(lines)
    asked = _HELP.match(text)
    if asked is not None:
        return (
            [f"%%acai {asked['cell']} --help\n", "\n"] if asked["cell"] else [f"%acai {asked['words'] or ''} --help\n"]
        )
    return [f"{text.rstrip()}\n", "\n"] if _ALONE.match(text) else lines


def register(ipython: Any) -> None:
    """Let an IPython use it; a second time changes nothing."""
    matchers = ipython.Completer.custom_matchers
    if all(getattr(one, "matcher_identifier", None) != _NAME for one in matchers):
        matchers.append(_matcher(ipython))
    if as_it_was_meant not in ipython.input_transformers_cleanup:
        ipython.input_transformers_cleanup.append(as_it_was_meant)

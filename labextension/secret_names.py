"""Writes the names of possible secrets as the page needs them, from the list of `put` and `--code`.

A test fails when they are stale.
"""

from __future__ import annotations

import json

from acai_jupyter.client.ignoring import secret_rules

HEADER = """// Generated from the list of possible secrets of `put` by `make contract`; do not edit.

export interface ISecretName {
  /** What a name matches, or a path where `byName` is false. */
  pattern: string;
  byName: boolean;
  foldersOnly: boolean;
  /** Whether it is no secret after all, such as .env.example. */
  isHarmless: boolean;
}

/** The last one that matches decides. */
export const SECRET_NAMES: readonly ISecretName[] = """


def typescript() -> str:
    """Return the list."""
    rows = [
        {
            "pattern": f"^(?:{rule.regex.pattern})$",
            "byName": rule.by_name,
            "foldersOnly": rule.folders_only,
            "isHarmless": rule.reason is None,
        }
        for rule in secret_rules()
    ]
    return f"{HEADER}{json.dumps(rows, indent=2)};\n"

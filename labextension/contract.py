"""Writes what is generated for the page and for readers: types and options in TypeScript, and the OpenAPI document.

A test fails when they are stale.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from acai_jupyter.contract.endpoints import ALL, Access
from acai_server.api.openapi import document
from labextension import options, secret_names

ROOT = Path(__file__).parents[1]
HEADER = "// Generated from the contract by `make contract`; do not edit.\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript() -> str:
    """Return the types of all schemas, by name."""
    schemas = document()["components"]["schemas"]
    return HEADER + _questions() + "".join(f"\n{_declaration(name, schemas[name])}" for name in sorted(schemas))


def _questions() -> str:
    """Name what is asked by POST, as the question is long, and changes nothing."""
    found = {one.path.partition("{project}/")[2] for one in ALL if one.method == "POST" and one.access is Access.READ}
    lines = "".join(f"  '{path}',\n" for path in sorted(found))
    doc = "\n/** What is asked by POST and changes nothing, below a project. */\n"
    return f"{doc}export const QUESTIONS: readonly string[] = [\n{lines.removesuffix(f',{chr(10)}')}\n];\n"


def _declaration(name: str, schema: dict[str, Any]) -> str:
    text = "".join(f" * {line.strip()}\n" for line in schema.get("description", "").splitlines() if line.strip())
    doc = f"/**\n{text} */\n" if text else ""
    if "properties" not in schema:
        return f"{doc}export type {_name(name)} = {_type(schema)};\n"
    required = set(schema.get("required", []))
    fields = "".join(
        f"  {field}{'' if field in required else '?'}: {_type(kind)};\n" for field, kind in schema["properties"].items()
    )
    return f"{doc}export interface {_name(name)} {{\n{fields}}}\n"


def _name(name: str) -> str:
    return f"I{name}"


def _type(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _name(schema["$ref"].rpartition("/")[2])
    if "enum" in schema:
        return " | ".join(f"'{value}'" for value in schema["enum"])
    if "anyOf" in schema:
        return " | ".join(dict.fromkeys(_type(one) for one in schema["anyOf"]))
    kinds = schema.get("type", [])
    return " | ".join(_plain(kind, schema) for kind in (kinds if isinstance(kinds, list) else [kinds])) or "unknown"


def _plain(kind: str, schema: dict[str, Any]) -> str:
    if "prefixItems" in schema:
        return f"[{', '.join(_type(one) for one in schema['prefixItems'])}]"
    if kind == "array":
        item = _type(schema.get("items", {}))
        return f"({item})[]" if "|" in item else f"{item}[]"
    if kind == "object":
        return f"{{ [key: string]: {_type(schema.get('additionalProperties') or {})} }}"
    return _PLAIN[kind]


def openapi() -> str:
    """Return the OpenAPI document as text."""
    return json.dumps(document(), indent=2) + "\n"


GENERATED = {
    ROOT / "labextension" / "src" / "contract.ts": typescript,
    ROOT / "labextension" / "src" / "core" / "runOptions.ts": options.typescript,
    ROOT / "labextension" / "src" / "core" / "secretNames.ts": secret_names.typescript,
    ROOT / "docs" / "developers" / "openapi.json": openapi,
}

if __name__ == "__main__":
    for path, generate in GENERATED.items():
        path.write_text(generate())

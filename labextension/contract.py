"""Writes what is generated from the contract: the TypeScript types. A test fails when they are stale."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from acai_server.api.openapi import document

TARGET = Path(__file__).parent / "src" / "contract.ts"
HEADER = "// Generated from the contract by `make contract`; do not edit.\n"
_PLAIN = {"string": "string", "integer": "number", "number": "number", "boolean": "boolean", "null": "null"}


def typescript() -> str:
    """Return the types of all schemas, by name."""
    schemas = document()["components"]["schemas"]
    return HEADER + "".join(f"\n{_declaration(name, schemas[name])}" for name in sorted(schemas))


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
    kind = schema.get("type")
    if isinstance(kind, list):
        return " | ".join(_PLAIN[one] for one in kind)
    if kind == "array":
        item = _type(schema.get("items", {}))
        return f"({item})[]" if re.search(r"[|]", item) else f"{item}[]"
    if kind == "object":
        return f"{{ [key: string]: {_type(schema.get('additionalProperties') or {})} }}"
    return _PLAIN.get(str(kind), "unknown")


if __name__ == "__main__":
    TARGET.write_text(typescript())

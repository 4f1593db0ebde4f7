"""Writes what JupyterLab reads of a language, from the catalogue that its translators write.

`python -m labextension.language eo.po FOLDER` writes `acai_jupyter.json` for the page, and `acai_jupyter.mo` for
settings.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from babel.messages.mofile import write_mo
from babel.messages.pofile import read_po

if TYPE_CHECKING:
    from babel.messages.catalog import Catalog

ROOT = Path(__file__).parents[1]
DOMAIN = "acai_jupyter"
TEMPLATE = ROOT / DOMAIN / "locale" / f"{DOMAIN}.pot"
_OF_CONTEXT = "\x04"
"""Stands between a context and its sentence."""


def read(path: Path) -> Catalog:
    """Read a catalogue or the template."""
    with path.open("rb") as file:
        return read_po(file, domain=DOMAIN)


def write(catalogue: Catalog, folder: Path) -> None:
    """Write a language into the folder that JupyterLab finds it in: `locale/LANGUAGE/LC_MESSAGES`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{DOMAIN}.json").write_text(json.dumps(_page(catalogue), ensure_ascii=False, indent=1) + "\n")
    with (folder / f"{DOMAIN}.mo").open("wb") as file:
        write_mo(file, catalogue)


def _page(catalogue: Catalog) -> dict[str, object]:
    """Return what JupyterLab's page reads. What is not translated, or was before its sentence changed, is left out."""
    head = {
        "domain": DOMAIN,
        # The page looks for it so, whatever the folder is called.
        "language": str(catalogue.locale_identifier).replace("_", "-"),
        "plural_forms": catalogue.plural_forms,
        # Of a language pack's and ours the newer counts.
        "version": json.loads((ROOT / "package.json").read_text())["version"],
    }
    found: dict[str, object] = {"": head}
    for message in catalogue:
        sentence = message.id if isinstance(message.id, str) else message.id[0]
        said = [message.string] if isinstance(message.string, str) else list(message.string or [""])
        if sentence != "" and all(said) and not message.fuzzy:
            key = sentence if message.context is None else f"{message.context}{_OF_CONTEXT}{sentence}"
            found[key] = said
    return found


if __name__ == "__main__":
    write(read(Path(sys.argv[1])), Path(sys.argv[2]))

"""A page in another language: one in which each sentence is in brackets, so that what is in none is not translated."""

from __future__ import annotations

import re
import socket
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from babel.messages.catalog import Catalog
from playwright.sync_api import expect

from labextension import language
from tests.browser.jupyterlab import JupyterLab, copy_notebooks
from tests.browser.page import JOBS_MS
from tests.packaging.distributions import ROOT, Installation

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from playwright.sync_api import Locator

    from tests.browser.conftest import OpenPage

pytestmark = [pytest.mark.browser, pytest.mark.timeout(300)]
LANGUAGE = "eo"
TRAIN = '%%acai run --memory 512Mi --output net --name "first"\nimport acai_jupyter\nacai_jupyter.tag("accuracy", 0.5)'
READ = """part => [part, ...part.querySelectorAll('*')].flatMap(node => [
  ...['aria-label', 'placeholder', 'title', 'aria-valuetext'].map(name => node.getAttribute(name) ?? ''),
  node.matches('pre, code, style') ? '' :
    [...node.childNodes].filter(one => one.nodeType === Node.TEXT_NODE).map(one => one.data).join('')
]).filter(words => /[A-Za-z]{2}/.test(words))"""
"""What people read or hear of a part of the page."""


@dataclass(frozen=True)
class Speaking(Installation):
    """An environment in which a language pack is installed too."""

    pack: Path

    def environment(self, home: Path) -> dict[str, str]:
        """Return the variables of somebody with that pack."""
        return {**super().environment(home), "PYTHONPATH": str(self.pack)}


def bracketed(template: Catalog) -> Catalog:
    """Translate each sentence into itself in brackets, with the forms that our plurals have."""
    said = Catalog(locale=LANGUAGE, domain=template.domain)
    for message in template:
        if message.id:
            forms = [message.id] if isinstance(message.id, str) else list(message.id)
            inside = [f"⟦{form}⟧" for form in forms]
            said.add(message.id, inside[0] if isinstance(message.id, str) else inside, context=message.context)
    return said


@pytest.fixture
def pack(tmp_path: Path) -> Path:
    """Make a language pack as those of JupyterLab are made: a package with a folder, found by an entry point."""
    folder = tmp_path / "pack"
    package = folder / f"jupyterlab_language_pack_{LANGUAGE}"
    language.write(bracketed(language.read(language.TEMPLATE)), package / "locale" / LANGUAGE / "LC_MESSAGES")
    (package / "__init__.py").touch()
    about = folder / f"{package.name}-1.0.dist-info"
    about.mkdir()
    (about / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package.name}\nVersion: 1.0\n")
    (about / "entry_points.txt").write_text(f"[jupyterlab.languagepack]\n{LANGUAGE} = {package.name}\n")
    return folder


@pytest.fixture
def lab(installed: Installation, pack: Path, home: Path, digits: Path, tmp_path: Path) -> Iterator[JupyterLab]:
    """JupyterLab of somebody who has chosen that language."""
    settings = home / ".jupyter" / "lab" / "user-settings" / "@jupyterlab" / "translation-extension"
    settings.mkdir(parents=True)
    (settings / "plugin.jupyterlab-settings").write_text(f'{{"locale": "{LANGUAGE}"}}')
    notebooks = copy_notebooks(ROOT / "notebooks", tmp_path / "notebooks", digits)
    lab = JupyterLab(Speaking(installed.folder, pack), home, notebooks)
    yield lab.start()
    lab.stop()
    print(lab.text)  # noqa: T201 (shown when a test fails)


def untranslated(part: Locator, *names: str) -> list[str]:
    """Return what people read there that is in no brackets, without what the system and people call things."""
    rest = []
    for words in part.evaluate(READ):
        left = words
        while (less := re.sub(r"⟦[^⟦⟧]*⟧", "", left)) != left:
            left = less
        for name in names:
            left = re.sub(rf"(?<![\w-]){re.escape(name)}(?![\w-])", "", left)
        if re.search(r"[A-Za-z]{2}", left):
            rest.append(words)
    return rest


def test_a_page_speaks_the_language_that_somebody_has_chosen(lab: JupyterLab, open_page: OpenPage) -> None:
    page = open_page(lab)
    page.page.goto(lab.url)
    page.page.get_by_role("tab", name="⟦ACAI⟧", exact=True).click()
    panel = page.page.get_by_role("region", name="⟦ACAI⟧", exact=True)
    expect(panel.get_by_role("status")).to_have_text("⟦Connected.⟧", timeout=JOBS_MS)
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(TRAIN)
    expect(panel).to_contain_text("⟦Recent⟧⟦job 1⟧ first", timeout=JOBS_MS)
    panel.get_by_text("⟦Connection⟧").click()
    assert untranslated(panel, str(lab.home / ".local" / "share" / "acai"), *SYSTEM, *PEOPLE) == []
    status = page.page.get_by_role("button", name="⟦ACAI: ")
    expect(status).to_have_text(re.compile(r"^⟦ACAI: ⟦0 running⟧ · ⟦.*\$.* today⟧⟧$"))
    assert untranslated(page.notebook.get_by_role("region", name="⟦the cell's job 1⟧"), *SYSTEM, *PEOPLE) == []
    job = page.notebook.get_by_role("region", name="⟦job 1⟧")
    job.get_by_role("button", name="⟦⟦details⟧, job 1⟧").click()
    assert untranslated(job, *SYSTEM, *PEOPLE) == []
    page.photograph("language-notebook")


def test_the_form_tables_and_tabs_are_in_it_too(lab: JupyterLab, open_page: OpenPage) -> None:
    page = open_page(lab)
    page.page.goto(lab.url)
    page.new_notebook()
    page.run("%load_ext acai_jupyter")
    page.run(TRAIN)
    page.page.keyboard.press("Control+Alt+R")
    form = page.page.get_by_role("region", name="⟦options of the cell's job⟧")
    expect(form).to_contain_text("⟦vCPU (default 1)⟧")
    page.choose("View", "⟦ACAI Jobs⟧")
    table = page.page.get_by_role("region", name="⟦all jobs⟧")
    grid = table.get_by_role("grid", name="⟦jobs⟧")
    expect(grid.get_by_role("row").last).to_contain_text("finished", timeout=JOBS_MS)
    expect(table.get_by_role("status").filter(has_text="⟦1 job⟧")).to_be_visible()
    expect(grid.get_by_role("columnheader", name="⟦billed⟧")).to_be_visible()
    expect(table.get_by_role("combobox", name="⟦Which jobs⟧")).to_have_attribute(
        "placeholder", "⟦which jobs, like: state = 'running' and accuracy > 0.9⟧"
    )
    grid.get_by_role("row").last.click()
    expect(table.get_by_role("status").filter(has_text="⟦1 job chosen⟧")).to_be_visible()
    assert untranslated(table, *SYSTEM, *PEOPLE, *KEYS) == []
    page.photograph("language-table")
    page.choose("View", "⟦ACAI Data⟧")
    data = page.page.get_by_role("region", name="⟦ACAI Data⟧")
    data.get_by_role("tab", name="⟦file sets⟧").click()
    data.get_by_role("button", name="net:1").click()
    made = page.page.get_by_role("region", name="⟦file set net⟧")
    expect(made.get_by_role("table", name="⟦versions⟧")).to_be_visible()
    assert untranslated(data, *SYSTEM, *PEOPLE) == []
    assert untranslated(made, *SYSTEM, *PEOPLE, *KEYS) == []


def test_jupyterlabs_server_finds_the_titles_of_settings(lab: JupyterLab, open_page: OpenPage) -> None:
    page = open_page(lab)
    page.page.goto(lab.url)
    page.page.get_by_role("tab", name="⟦ACAI⟧", exact=True).wait_for()
    answer = page.page.request.get(lab.url.replace("/lab?", "/lab/api/settings/acai-jupyter:overview?"))
    schema = answer.json()["schema"]
    assert schema["title"] == "⟦ACAI: Jobs at a Glance⟧"
    assert schema["properties"]["notifications"]["title"] == "⟦Notifications⟧"


SYSTEM = (
    *("admin", "process", "sqlite", "filesystem", "memory", "live", socket.gethostname(), "KB", "MB", "GB"),
    *("queued", "launching", "downloading", "running", "uploading", "finished"),
)
"""States, backends, machines and units, which are called the same in every language."""
PEOPLE = ("default", "first", "net", "accuracy", "digits", "root")
"""What people call their things."""
KEYS = (
    *(
        "name",
        "state",
        "creator",
        "created_at",
        "billed_seconds",
        "cost_usd",
        "input",
        "output",
        "tags",
        "version",
        "latest",
    ),
    *("file_count", "size_bytes", "made_by", "job", "true", "stage=candidate", "+reviewed"),
)
"""Keys of the query language, and what a line of tags is like."""

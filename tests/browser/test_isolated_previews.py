"""Previews of the store load nothing from other hosts, whatever the files say."""

from __future__ import annotations

import json
import re
import socket
import threading
from contextlib import closing, suppress
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from tests.browser.page import JOBS_MS
from tests.browser.test_data import Data
from tests.browser.test_previews import opened

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.browser.conftest import OpenPage, StartLab

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600)]
# What the browser refuses, what the listener does not answer, and ipywidgets in any notebook without a kernel.
FORESEEN = re.compile(
    "Content Security Policy|Blocked script execution|may not be used as base URLs|ERR_EMPTY_RESPONSE|reading 'kernel'"
)


class Listener:
    """Another host, which remembers every connection and answers none."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self._socket = socket.create_server(("127.0.0.1", 0))
        self._thread = threading.Thread(target=self._listen)
        self._thread.start()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._socket.getsockname()[1]}"

    def _listen(self) -> None:
        with suppress(OSError):
            while True:
                connection, _ = self._socket.accept()
                with closing(connection):
                    connection.settimeout(1.0)
                    with suppress(OSError):
                        self.heard.append(connection.recv(2000).partition(b"\r")[0].decode())

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def listener() -> Iterator[Listener]:
    with closing(Listener()) as listener:
        yield listener


def hostile(url: str) -> dict[str, str]:
    """Files that ask another host for something in every way that their viewers know."""
    html = (
        f"<p style='background:url({url}/style)'>text</p><img src='{url}/img' alt='a picture'>"
        f"<img srcset='{url}/srcset 2x'><video src='{url}/video' autoplay></video>"
        f"<audio src='{url}/audio' autoplay></audio>"
        f"<table background='{url}/table'><tr><td>x</td></tr></table>"
        f"<svg width='9' height='9'><image href='{url}/svg' width='9' height='9'/></svg>"
        f"<input type='image' src='{url}/input'>"
        f"<object data='{url}/object'></object><embed src='{url}/embed'><iframe src='{url}/frame'></iframe>"
    )
    head = (
        f"<base href='{url}/'><meta http-equiv='refresh' content='0;url={url}/refresh'>"
        f"<link rel='preconnect' href='{url}'><link rel='dns-prefetch' href='{url}'>"
        f"<link rel='prefetch' href='{url}/prefetch'><link rel='stylesheet' href='{url}/sheet.css'>"
        f"<link rel='icon' href='{url}/icon'>"
        f"<style>@import '{url}/import.css'; h1 {{ background: url({url}/css) }}</style>"
        f"<script src='{url}/script.js'></script><script>fetch('{url}/fetch').catch(() => null)</script>"
        f"<script>addEventListener('load', () => {{ document.querySelector('h1').textContent += ' whose script ran as '"
        f" + self.origin; }})</script>"
    )
    page = f"<!DOCTYPE html><html><head>{head}</head><body><h1>A page</h1>{html}</body></html>"
    drawing = (
        f"<svg xmlns='http://www.w3.org/2000/svg' xmlns:xlink='http://www.w3.org/1999/xlink' width='40' height='30'>"
        f"<style>@import '{url}/svg.css';</style><image xlink:href='{url}/xlink' width='9' height='9'/>"
        f"<image href='{url}/href' width='9' height='9'/><rect width='40' height='30' fill='teal'/></svg>"
    )
    chart = {
        "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
        "data": {"url": f"{url}/data.json"},
        "mark": {"type": "image", "url": f"{url}/mark.png"},
        "encoding": {"x": {"field": "a", "type": "quantitative"}},
        "params": [{"name": "p", "bind": {"input": "image", "src": f"{url}/bind"}}],
    }
    markdown = f"# A text\n\n![a picture]({url}/markdown)\n\n[![badge]({url}/badge)]({url}/link)\n\n{html}\n"
    vega = "application/vnd.vegalite.v5+json"
    bundles: list[dict[str, object]] = [
        {"text/html": html, "text/plain": "html"},
        {vega: chart, "text/plain": "a chart as text"},
        {vega: chart},
        {"text/markdown": markdown},
        {"image/svg+xml": drawing, "text/plain": "svg"},
        {"text/latex": f"\\\\href{{{url}/latex}}{{x}}"},
    ]
    outputs = [
        {
            "output_type": "display_data",
            "data": data,
            "metadata": {vega: {"embed_options": {"config": f"{url}/config"}}},
        }
        for data in bundles
    ]
    code = {"cell_type": "code", "id": "b", "metadata": {"trusted": True}, "source": "1", "execution_count": 1}
    cells = [{"cell_type": "markdown", "id": "a", "metadata": {}, "source": markdown}, {**code, "outputs": outputs}]
    notebook = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    return {
        "page.html": page,
        "text.md": markdown,
        "drawing.svg": drawing,
        "chart.vl.json": json.dumps(chart),
        "kept.ipynb": json.dumps(notebook),
    }


def test_previews_load_nothing_from_other_hosts(start_lab: StartLab, open_page: OpenPage, listener: Listener) -> None:
    page = open_page(start_lab()).open()
    page.new_notebook()
    files = json.dumps(hostile(listener.url))
    page.run(
        f"%load_ext acai_jupyter\nimport json, pathlib\nplace = pathlib.Path('raw'); place.mkdir()\n"
        f"for name, text in json.loads({files!r}).items(): (place / name).write_text(text)\n"
        "%acai put raw /raw --as raw\nprint('all', 'there')"
    )
    expect(page.output("all there")).to_be_visible(timeout=JOBS_MS)
    data = Data(page)
    page.choose("View", "ACAI Data")
    data.file("raw/").click()

    shown = opened(data, "page.html")
    frame = shown.frame_locator("iframe")
    expect(frame.get_by_role("heading", name="A page")).to_be_visible()
    page.look_at("isolated-html")
    shown.get_by_role("button", name="Trust HTML").click()
    expect(shown.locator("iframe")).to_have_attribute("sandbox", "allow-scripts allow-popups")
    expect(frame.get_by_role("heading", name="A page whose script ran as null")).to_be_visible()

    expect(opened(data, "drawing.svg").locator("img")).to_have_js_property("naturalWidth", 40)
    expect(opened(data, "chart.vl.json")).to_contain_text("encoding")
    page.look_at("isolated-vega")
    shown = opened(data, "kept.ipynb")
    expect(shown).to_contain_text("a chart as text")
    expect(shown).to_contain_text("application/vnd.vegalite.v5+json is not drawn in a preview")
    expect(shown.get_by_role("heading", name="A text").first).to_be_visible()
    page.look_at("isolated-notebook")

    opened(data, "text.md").locator(".cm-content").click(button="right")
    page.page.get_by_role("menuitem", name="Show Markdown Preview").click()
    shown = page.page.get_by_role("main").locator(".jp-MarkdownViewer")
    expect(shown.get_by_role("heading", name="A text")).to_be_visible()
    expect(shown.get_by_role("link", name="badge")).to_have_attribute("href", f"{listener.url}/link")
    page.look_at("isolated-markdown")

    page.page.evaluate("address => fetch(address, { mode: 'no-cors' }).catch(() => 'heard')", f"{listener.url}/control")
    page.troubles = [trouble for trouble in page.troubles if not FORESEEN.search(trouble)]
    assert listener.heard == ["GET /control HTTP/1.1"]

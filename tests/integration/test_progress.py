"""The bar of a transfer in a notebook: in a real kernel, as its messages tell."""

from __future__ import annotations

from typing import Any

from jupyter_client.manager import start_new_kernel

CELL = """
from acai_jupyter.commands.progress import Progress
with Progress(patience_seconds=0, quiet={quiet}) as progress:
    for _ in range(3):
        progress.advance(100)
print("done")
"""
WIDGET = "application/vnd.jupyter.widget-view+json"
SHOWN = ("display_data", "update_display_data", "stream", "error")


def test_a_notebook_shows_a_bar_while_it_lasts_and_keeps_nothing_of_it() -> None:
    manager, client = start_new_kernel(kernel_name="python3")
    try:
        noisy, quiet = (outputs_of(client, CELL.format(quiet=quiet)) for quiet in (False, True))
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
    shown, gone, printed = noisy
    assert (shown["msg_type"], WIDGET in shown["content"]["data"]) == ("display_data", True)
    assert (gone["msg_type"], gone["content"]["data"]) == ("update_display_data", {"text/plain": ""})
    assert gone["content"]["transient"] == shown["content"]["transient"]
    assert [one["content"]["text"] for one in (printed, *quiet)] == ["done\n", "done\n"]


def outputs_of(client: Any, cell: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    client.execute_interactive(cell, timeout=100, output_hook=found.append)
    return [message for message in found if message["msg_type"] in SHOWN]

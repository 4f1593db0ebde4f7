"""Clients and servers of the data lake are killed at work. `make kills` does the same for as long as one likes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.client.sessions import proof
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.uploads import CreateUpload
from tests.kills.campaign import campaign

if TYPE_CHECKING:
    from tests.integration.places import Place


@pytest.mark.timeout(300)
def test_nothing_is_lost_when_clients_and_servers_are_killed(tmp_path: Path) -> None:
    wrong = campaign(tmp_path / "home", kills=15, seed="test", backend="folder", check_every=8, say=print)
    assert not wrong


@pytest.mark.parametrize("begun", [".acai-0123456789ab.part", "1.0123abcd.part"])
def test_an_abort_takes_what_was_being_written_when_its_writer_was_killed(place: Place, begun: str) -> None:
    client = place.start(program="acai").client()
    upload = client.call(endpoints.CREATE_UPLOAD, CreateUpload(proof=proof(client.store)))
    assert upload.folder is not None
    folder = Path(upload.folder)
    folder.mkdir(parents=True)
    (folder / begun).write_bytes(b"half of it")
    client.call(endpoints.ABORT_UPLOAD, upload=upload.id)
    assert not folder.exists()

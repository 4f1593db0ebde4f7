"""A server that is there, and does not answer: it is paused, or has too much to do."""

from __future__ import annotations

import socket

import pytest

from acai_jupyter.client.connection import Connection
from acai_jupyter.client.http import Client
from acai_jupyter.contract import endpoints
from acai_jupyter.contract.errors import ServerSilent


def test_a_server_that_does_not_answer_in_time_is_not_said_to_be_away() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:  # connections are taken, and nobody reads what they say
        url = f"http://127.0.0.1:{silent.getsockname()[1]}"
        client = Client(Connection(url, "acai_token"), read_seconds=0.1)
        with pytest.raises(ServerSilent) as told:
            client.ask(endpoints.GET_STATUS)
    assert told.value.message.startswith(f"The ACAI server at {url} did not answer in time.")

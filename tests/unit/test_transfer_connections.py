"""Connections by themselves: where they lead, how long they wait, and how a body is read as it comes."""

from __future__ import annotations

import socket
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from acai_jupyter.transfer.connections import Connections
from acai_jupyter.transfer.errors import TransferError, Unreachable
from tests.servers.store import Fault, Store, running_store

if TYPE_CHECKING:
    from collections.abc import Iterator

BODY = bytes(range(256)) * 1024


@pytest.fixture
def store() -> Iterator[Store]:
    with running_store() as found:
        found.objects["/body"] = BODY
        yield found


def read_all(connections: Connections, url: str) -> bytes:
    with connections.request("GET", url, {"Range": f"bytes=0-{len(BODY) - 1}"}) as answer:
        return b"".join(iter(lambda: answer.read_some(1000), b""))


@pytest.mark.parametrize("url", ["ftp://127.0.0.1/x", "/x", "http:///x", "http://[::1/x", "http://127.0.0.1:port/x"])
def test_an_address_that_is_none_leads_nowhere_and_is_not_told(url: str) -> None:
    with Connections() as connections, pytest.raises(TransferError, match="is not valid") as caught:
        read_all(connections, url)
    assert (type(caught.value), url in str(caught.value)) == (TransferError, False)


def test_a_body_can_be_read_as_it_comes(store: Store) -> None:
    with Connections() as connections:
        assert [read_all(connections, store.url + "body") for _ in range(2)] == [BODY, BODY]
    assert store.connections == 1


def test_a_body_that_ends_early_is_not_taken_for_whole(store: Store) -> None:
    store.faults.append(Fault.TRUNCATED)
    with Connections() as connections, pytest.raises(Unreachable, match="bytes too few"):
        read_all(connections, store.url + "body")


def test_who_takes_no_connection_is_given_up_before_one_who_has_not_answered() -> None:
    with socket.socket() as full, socket.socket() as first:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        first.connect(full.getsockname())  # nobody else gets in
        url = f"http://127.0.0.1:{full.getsockname()[1]}/"
        impatient = Connections(timeout_seconds=3600, connect_seconds=0.05)
        with closing(impatient), pytest.raises(Unreachable, match="does not answer"):
            read_all(impatient, url)


def test_proxies_that_are_given_count_and_not_those_of_this_machine(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.delenv("no_proxy", raising=False)
    with Connections(proxies={}) as connections:
        assert read_all(connections, store.url + "body") == BODY
    with Connections() as connections, pytest.raises(Unreachable):
        read_all(connections, store.url + "body")

"""One request, after it was authenticated, authorised and decoded; and how functions are bound to endpoints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec

from acai_jupyter.contract.endpoints import Endpoint
from acai_jupyter.contract.errors import JobNotFound
from acai_server.api.pools import Departure

if TYPE_CHECKING:
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.db.projects import Member
    from acai_server.services import Services

StructT = TypeVar("StructT", bound=msgspec.Struct)
_MAX_JOB_DIGITS = 12


@dataclass(frozen=True)
class Call:
    """What a function of the API gets."""

    services: Services
    member: Member
    params: dict[str, str]
    query: Any
    body: Any
    departure: Departure = field(default_factory=Departure)
    """Whether the client still waits for the answer."""

    @property
    def project(self) -> ProjectId:
        """The project that the route names; the caller is in it."""
        return self.member.project_id

    @property
    def user(self) -> UserId:
        """Who calls."""
        return self.member.user_id

    @property
    def job(self) -> int:
        """The job's number that the route names."""
        text = self.params["job"]
        if not (text.isascii() and text.isdigit()) or len(text) > _MAX_JOB_DIGITS:
            raise JobNotFound(job=ascii(text[:40]))
        return int(text)

    def queried(self, kind: type[StructT]) -> StructT:
        """What stands after the '?'."""
        assert isinstance(self.query, kind)
        return self.query

    def sent(self, kind: type[StructT]) -> StructT:
        """The body."""
        assert isinstance(self.body, kind)
        return self.body


Operation = Callable[..., Any]
"""Takes a `Call`. One that waits is a coroutine function, and gets what does work in threads too."""
Operations = dict[Endpoint[Any], Operation]

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
    from acai_jupyter.contract.events import Event
    from acai_jupyter.contract.ids import ProjectId, UserId
    from acai_server.api.feed import Follower
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
    follow: Callable[[Callable[[Event], bool] | None], Follower] | None = None
    """For what waits: begins to follow the events of the project, or of these those that concern it."""

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

    def following(self, concerns: Callable[[Event], bool] | None = None) -> Follower:
        """Begin to follow the project's events, or those that concern what is waited for."""
        assert self.follow is not None, "only what waits follows events"
        return self.follow(concerns or (lambda _: True))

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

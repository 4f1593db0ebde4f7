"""Who may do what: the one table of roles and needs, and what a token's scope leaves of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.states import Role, Scope

if TYPE_CHECKING:
    from acai_server.db.projects import Member

ALLOWED: dict[Role, frozenset[Access]] = {
    Role.VIEWER: frozenset((Access.TOKEN, Access.READ, Access.OWN)),
    Role.MEMBER: frozenset((Access.TOKEN, Access.READ, Access.WRITE, Access.OWN)),
    Role.ADMIN: frozenset((Access.TOKEN, Access.READ, Access.WRITE, Access.OWN, Access.ADMIN)),
}
"""What a role allows in its project."""
GLOBAL_ADMIN: frozenset[Access] = frozenset((Access.TOKEN, Access.OBSERVE, Access.GLOBAL_ADMIN))
"""What a global admin may do besides. In a project they are what their role there says, or nothing."""
SCOPES: dict[Scope, frozenset[Access]] = {
    Scope.READ: frozenset((Access.TOKEN, Access.READ, Access.OBSERVE)),
    Scope.WRITE: frozenset((Access.TOKEN, Access.READ, Access.WRITE, Access.OBSERVE)),
    Scope.ADMIN: frozenset(Access) - {Access.NOTHING, Access.SIGNATURE},
}
"""What a token may be used for at most."""


def allowed(member: Member) -> frozenset[Access]:
    """Return what somebody may do, by their role, their rank and what they have shown."""
    by_role = frozenset((Access.TOKEN,)) if member.role is None else ALLOWED[member.role]
    by_rank = GLOBAL_ADMIN if member.is_global_admin and member.all_projects else frozenset()
    return (by_role | by_rank) & SCOPES[member.scope]

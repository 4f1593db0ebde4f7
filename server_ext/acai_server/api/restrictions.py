"""Restrictions, lifts and groups over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING

from acai_jupyter.contract import account_endpoints as endpoints
from acai_jupyter.contract.queries import NamedQuery, NumberedQuery
from acai_jupyter.contract.restrictions import (
    EndLift,
    EndRestriction,
    LiftRestrictions,
    Restrict,
    RestrictionQuery,
    SetGroup,
)

if TYPE_CHECKING:
    from acai_jupyter.contract.restrictions import Group, GroupList, Lift, LiftList, Restriction, RestrictionList
    from acai_server.api.call import Call, Operations


def list_restrictions(call: Call) -> RestrictionList:
    """List those behind which the caller can see."""
    return call.services.lake.restrictions.listed(call.project, call.queried(RestrictionQuery))


def set_restriction(call: Call) -> Restriction:
    """Restrict something, or change whom that lets through."""
    return call.services.lake.restrictions.set(call.project, call.user, call.sent(Restrict))


def end_restriction(call: Call) -> Restriction:
    """Let everybody through."""
    return call.services.lake.restrictions.end(call.project, call.sent(EndRestriction).what)


def list_lifts(call: Call) -> LiftList:
    """List what was opened."""
    return call.services.lake.restrictions.lifts(call.project, call.queried(NumberedQuery))


def lift_restrictions(call: Call) -> Lift:
    """Open what was made of restricted sets."""
    return call.services.lake.restrictions.lift(call.project, call.user, call.sent(LiftRestrictions))


def end_lift(call: Call) -> Lift:
    """Close it again."""
    return call.services.lake.restrictions.end_lift(call.project, call.sent(EndLift).file_set)


def list_groups(call: Call) -> GroupList:
    """List the groups."""
    return call.services.credentials.groups.listed(call.project, call.queried(NamedQuery))


def set_group(call: Call) -> Group:
    """Say who is in one."""
    return call.services.credentials.groups.set(call.project, call.params["group"], call.sent(SetGroup).users)


def remove_group(call: Call) -> Group:
    """Take one away."""
    return call.services.credentials.groups.remove(call.project, call.params["group"])


OPERATIONS: Operations = {
    endpoints.LIST_RESTRICTIONS: list_restrictions,
    endpoints.SET_RESTRICTION: set_restriction,
    endpoints.END_RESTRICTION: end_restriction,
    endpoints.LIST_LIFTS: list_lifts,
    endpoints.LIFT_RESTRICTIONS: lift_restrictions,
    endpoints.END_LIFT: end_lift,
    endpoints.LIST_GROUPS: list_groups,
    endpoints.SET_GROUP: set_group,
    endpoints.REMOVE_GROUP: remove_group,
}

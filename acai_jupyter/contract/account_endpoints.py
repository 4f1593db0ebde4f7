"""The routes of projects, users, tokens, restrictions and the audit log."""

from __future__ import annotations

from typing import Any

from acai_jupyter.contract import accounts, audit, queries, restrictions
from acai_jupyter.contract.routes import PROJECT, Access, Endpoint

LIST_PROJECTS = Endpoint(
    "list_projects",
    "GET",
    "/v1/projects",
    "The projects you are in.",
    accounts.ProjectList,
    query=queries.NamedQuery,
    access=Access.TOKEN,
)
CREATE_PROJECT = Endpoint(
    "create_project",
    "POST",
    "/v1/projects",
    "Create a project and make somebody its admin.",
    accounts.CreatedProject,
    body=accounts.CreateProject,
    access=Access.GLOBAL_ADMIN,
    status=201,
    is_audited=True,
)
LIST_USERS = Endpoint(
    "list_users",
    "GET",
    f"{PROJECT}/users",
    "The users of a project.",
    accounts.UserList,
    query=queries.NamedQuery,
)
CREATE_USER = Endpoint(
    "create_user",
    "POST",
    f"{PROJECT}/users",
    "Let a user into the project, with a first token.",
    accounts.CreatedUser,
    body=accounts.CreateUser,
    access=Access.ADMIN,
    status=201,
    is_audited=True,
)
UPDATE_USER = Endpoint(
    "update_user",
    "PATCH",
    f"{PROJECT}/users/{{user}}",
    "Give a user of the project another role or quota.",
    accounts.ProjectUser,
    body=accounts.UpdateUser,
    access=Access.ADMIN,
    is_audited=True,
)
REMOVE_USER = Endpoint(
    "remove_user",
    "DELETE",
    f"{PROJECT}/users/{{user}}",
    "Take a user out of the project, with their tokens of it.",
    accounts.ProjectUser,
    access=Access.ADMIN,
    is_audited=True,
)
LIST_USER_TOKENS = Endpoint(
    "list_user_tokens",
    "GET",
    f"{PROJECT}/users/{{user}}/tokens",
    "The tokens that a user has of the project.",
    accounts.TokenList,
    query=queries.NamedQuery,
    access=Access.ADMIN,
)
CREATE_USER_TOKEN = Endpoint(
    "create_user_token",
    "POST",
    f"{PROJECT}/users/{{user}}/tokens",
    "Make a token of the project for a user, as for one who has lost theirs.",
    accounts.IssuedToken,
    body=accounts.CreateToken,
    access=Access.ADMIN,
    status=201,
    is_audited=True,
)
REVOKE_USER_TOKEN = Endpoint(
    "revoke_user_token",
    "DELETE",
    f"{PROJECT}/users/{{user}}/tokens/{{token}}",
    "End a user's token of the project at once.",
    accounts.Token,
    access=Access.ADMIN,
    is_audited=True,
)
LIST_TOKENS = Endpoint(
    "list_tokens",
    "GET",
    f"{PROJECT}/tokens",
    "Your tokens of the project.",
    accounts.TokenList,
    query=queries.NamedQuery,
    access=Access.OWN,
)
CREATE_TOKEN = Endpoint(
    "create_token",
    "POST",
    f"{PROJECT}/tokens",
    "Make a token that stands for you.",
    accounts.IssuedToken,
    body=accounts.CreateToken,
    access=Access.OWN,
    status=201,
    is_audited=True,
)
ROTATE_TOKEN = Endpoint(
    "rotate_token",
    "POST",
    f"{PROJECT}/tokens/{{token}}/rotate",
    "Put a new secret in the place of a token's; the old one ends at once.",
    accounts.IssuedToken,
    access=Access.OWN,
    is_audited=True,
)
REVOKE_TOKEN = Endpoint(
    "revoke_token",
    "DELETE",
    f"{PROJECT}/tokens/{{token}}",
    "End a token of yours at once.",
    accounts.Token,
    access=Access.OWN,
    is_audited=True,
)

LIST_AUDIT = Endpoint(
    "list_audit",
    "GET",
    f"{PROJECT}/audit",
    "Who changed what of the project, and who was refused, the newest first.",
    audit.AuditPage,
    query=audit.AuditQuery,
    access=Access.ADMIN,
)

LIST_RESTRICTIONS = Endpoint(
    "list_restrictions",
    "GET",
    f"{PROJECT}/restrictions",
    "The restrictions that you may see behind, or of these the ones that a file set version is behind.",
    restrictions.RestrictionList,
    query=restrictions.RestrictionQuery,
)
SET_RESTRICTION = Endpoint(
    "set_restriction",
    "PUT",
    f"{PROJECT}/restrictions",
    "Let only some users and groups read and write a name of file sets, or a folder.",
    restrictions.Restriction,
    body=restrictions.Restrict,
    access=Access.ADMIN,
    is_audited=True,
)
END_RESTRICTION = Endpoint(
    "end_restriction",
    "POST",
    f"{PROJECT}/restrictions/end",
    "Let everybody in the project through a restriction again.",
    restrictions.Restriction,
    body=restrictions.EndRestriction,
    access=Access.ADMIN,
    is_audited=True,
)
LIST_LIFTS = Endpoint(
    "list_lifts",
    "GET",
    f"{PROJECT}/lifts",
    "Which file sets are open though they were made of restricted ones, why, and who said so.",
    restrictions.LiftList,
    query=queries.NumberedQuery,
    access=Access.ADMIN,
)
LIFT_RESTRICTIONS = Endpoint(
    "lift_restrictions",
    "PUT",
    f"{PROJECT}/lifts",
    "Open a file set, or a version of it, that was made of restricted ones, for a reason that is kept.",
    restrictions.Lift,
    body=restrictions.LiftRestrictions,
    access=Access.ADMIN,
    is_audited=True,
)
END_LIFT = Endpoint(
    "end_lift",
    "POST",
    f"{PROJECT}/lifts/end",
    "Put a file set back behind the restrictions of what it was made of.",
    restrictions.Lift,
    body=restrictions.EndLift,
    access=Access.ADMIN,
    is_audited=True,
)
LIST_GROUPS = Endpoint(
    "list_groups",
    "GET",
    f"{PROJECT}/groups",
    "The groups of users in the project.",
    restrictions.GroupList,
    query=queries.NamedQuery,
    access=Access.ADMIN,
)
SET_GROUP = Endpoint(
    "set_group",
    "PUT",
    f"{PROJECT}/groups/{{group}}",
    "Say who is in a group.",
    restrictions.Group,
    body=restrictions.SetGroup,
    access=Access.ADMIN,
    is_audited=True,
)
REMOVE_GROUP = Endpoint(
    "remove_group",
    "DELETE",
    f"{PROJECT}/groups/{{group}}",
    "Take a group away; nobody is let through as one of it any more.",
    restrictions.Group,
    access=Access.ADMIN,
    is_audited=True,
)

ALL: tuple[Endpoint[Any], ...] = tuple(value for value in list(globals().values()) if isinstance(value, Endpoint))

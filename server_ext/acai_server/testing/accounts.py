"""What credentials owe to those who are let in, and to those who are not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import msgspec
import pytest

from acai_jupyter.contract.accounts import (
    CreateProject,
    CreateToken,
    CreateUser,
    IssuedToken,
    UpdateUser,
)
from acai_jupyter.contract.audit import AuditPage, AuditQuery
from acai_jupyter.contract.endpoints import Access
from acai_jupyter.contract.errors import (
    BadRequest,
    Conflict,
    NotAllowed,
    NotSignedIn,
    ProjectNotFound,
    SettingsBroken,
    TokenNotFound,
    UserNotFound,
)
from acai_jupyter.contract.queries import NamedQuery
from acai_jupyter.contract.sign_in import SignIn
from acai_jupyter.contract.states import Role, Scope
from acai_server.clock import Clock
from acai_server.credentials.permissions import allowed
from acai_server.credentials.service import Credentials
from acai_server.credentials.sign_ins import SignIns
from acai_server.db.audit import NewEntry
from acai_server.testing.databases import at_once

if TYPE_CHECKING:
    from collections.abc import Callable

    from acai_jupyter.contract.audit import AuditEntry
    from acai_server.db.database import Database
    from acai_server.db.projects import Member

LOCAL = "acai_of-the-server-itself"


class Moved:
    """A clock that tests set forward."""

    def __init__(self) -> None:
        self.ahead = timedelta()

    def __call__(self) -> datetime:
        return datetime.now(UTC) + self.ahead


class AccountSuite:
    """Derive from this with a fixture `database` that gives an empty one with all tables."""

    @pytest.fixture
    def database(self) -> Database:
        raise NotImplementedError

    @pytest.fixture
    def people(self, database: Database) -> Credentials:
        return Credentials(database, LOCAL)

    @pytest.fixture
    def me(self, people: Credentials) -> Member:
        return people.identify(LOCAL, None)

    def test_a_server_begins_with_one_user_who_is_admin_of_all(self, people: Credentials, me: Member) -> None:
        assert (me.name, me.project, me.role, me.is_global_admin) == ("you", "default", Role.ADMIN, True)
        assert people.identify(None, None).user_id == me.user_id
        assert people.has_one_user()

    def test_a_token_is_found_by_its_hash_and_by_nothing_near_it(self, people: Credentials, me: Member) -> None:
        secret = people.tokens.create(me, CreateToken("ci")).secret
        assert secret.startswith("acai_")
        assert len(secret) >= 48
        assert people.identify(secret, None).name == "you"
        for wrong in (secret[:-1], f"{secret}x", secret.swapcase(), "", "acai_", "acai_\0", "acai_€"):
            with pytest.raises(NotSignedIn):
                people.identify(wrong, None)

    def test_nothing_of_a_secret_is_kept(self, people: Credentials, me: Member, database: Database) -> None:
        secret = people.tokens.create(me, CreateToken("ci")).secret
        with database.connect() as connection:
            rows = connection.exec_driver_sql("SELECT * FROM token").fetchall()
        assert len(rows) == 2
        assert not [row for row in rows if secret.removeprefix("acai_") in str(row)]

    def test_a_user_is_let_in_with_a_token_of_that_project_alone(self, people: Credentials, me: Member) -> None:
        people.projects.create(me, CreateProject("lab"))
        people.projects.create(me, CreateProject("club"))
        issued = people.users.create(people.identify(LOCAL, "lab"), CreateUser("ann")).issued
        ann = people.identify(issued.secret, None)
        assert (ann.name, ann.project, ann.role, ann.is_global_admin) == ("ann", "lab", Role.MEMBER, False)
        for other in ("default", "club", "never-was"):
            with pytest.raises(ProjectNotFound):
                people.identify(issued.secret, other)
        assert [one.name for one in people.projects.listed(ann).projects] == ["lab"]

    def test_one_user_can_be_in_several_projects_as_different_things(self, people: Credentials, me: Member) -> None:
        secrets = []
        for project, role in (("lab", Role.VIEWER), ("club", Role.ADMIN)):
            people.projects.create(me, CreateProject(project))
            there = people.identify(LOCAL, project)
            secrets.append(people.users.create(there, CreateUser("ann", role)).issued.secret)
        lab, club = (people.identify(secret, None) for secret in secrets)
        assert lab.user_id == club.user_id
        assert (lab.role, club.role) == (Role.VIEWER, Role.ADMIN)
        with pytest.raises(ProjectNotFound):
            people.identify(secrets[0], "club")

    def test_creating_a_project_makes_its_admin_and_who_creates_it_has_no_part_in_it(
        self, people: Credentials, me: Member
    ) -> None:
        made = people.projects.create(me, CreateProject("lab", "ann"))
        assert made.issued is not None
        ann = people.identify(made.issued.secret, None)
        assert (ann.project, ann.role, ann.is_global_admin) == ("lab", Role.ADMIN, False)
        outside = people.identify(LOCAL, "lab")
        for access in (Access.READ, Access.WRITE, Access.ADMIN, Access.OWN):
            with pytest.raises(ProjectNotFound):
                people.authorise(outside, access)
        assert [(one.name, one.role) for one in people.projects.listed(me).projects] == [
            ("default", Role.ADMIN),
            ("lab", None),
        ]

    def test_only_a_global_admin_creates_projects(self, people: Credentials, me: Member) -> None:
        made = people.projects.create(me, CreateProject("lab", "ann"))
        assert made.issued is not None
        with pytest.raises(NotAllowed, match="ann may not create projects here"):
            people.authorise(people.identify(made.issued.secret, None), Access.GLOBAL_ADMIN)

    def test_a_global_admins_token_of_one_project_rules_nothing_else(self, people: Credentials, me: Member) -> None:
        people.projects.create(me, CreateProject("lab"))
        secret = people.tokens.create(me, CreateToken("here", Scope.ADMIN)).secret
        confined = people.identify(secret, None)
        with pytest.raises(NotAllowed):
            people.authorise(confined, Access.GLOBAL_ADMIN)
        with pytest.raises(ProjectNotFound):
            people.identify(secret, "lab")
        with pytest.raises(NotAllowed, match="cannot make one that opens all"):
            people.tokens.create(confined, CreateToken("more", Scope.ADMIN, all_projects=True))
        wide = people.tokens.create(me, CreateToken("there", Scope.ADMIN, all_projects=True)).secret
        assert people.identify(wide, "lab").project == "lab"

    @pytest.mark.parametrize("scope", Scope)
    @pytest.mark.parametrize("role", Role)
    def test_a_token_allows_no_more_than_its_role_and_its_scope(
        self, people: Credentials, me: Member, role: Role, scope: Scope
    ) -> None:
        people.users.create(me, CreateUser("ann", role))
        issued = people.users.create_token(me, "ann", CreateToken("t", scope))
        writes = {Access.WRITE} if role is not Role.VIEWER and scope is not Scope.READ else set()
        rules = {Access.ADMIN} if role is Role.ADMIN and scope is Scope.ADMIN else set()
        own = {Access.OWN} if scope is Scope.ADMIN else set()
        assert allowed(people.identify(issued.secret, None)) == {Access.TOKEN, Access.READ} | writes | rules | own

    def test_a_revoked_token_ends_at_once_and_its_name_is_free_again(self, people: Credentials, me: Member) -> None:
        first = people.tokens.create(me, CreateToken("ci")).secret
        with pytest.raises(Conflict, match="there is a token 'ci' already"):
            people.tokens.create(me, CreateToken("ci"))
        people.tokens.revoke(me.project_id, me.user_id, "ci")
        with pytest.raises(NotSignedIn):
            people.identify(first, None)
        with pytest.raises(TokenNotFound):
            people.tokens.revoke(me.project_id, me.user_id, "ci")
        second = people.tokens.create(me, CreateToken("ci")).secret
        assert people.identify(second, None).name == "you"

    def test_a_rotated_token_has_another_secret_and_all_else_as_it_was(self, people: Credentials, me: Member) -> None:
        old = people.tokens.create(me, CreateToken("ci", Scope.READ, 30))
        new = people.tokens.rotate(me.project_id, me.user_id, "ci")
        with pytest.raises(NotSignedIn):
            people.identify(old.secret, None)
        assert people.identify(new.secret, None).scope is Scope.READ
        assert _lifetime(new) == _lifetime(old) == timedelta(days=30)
        assert len(people.tokens.listed(me.project_id, me.user_id).tokens) == 2

    def test_the_servers_own_token_is_not_taken_from_under_it(self, people: Credentials, me: Member) -> None:
        own = people.tokens.listed(me.project_id, me.user_id).tokens[0].name
        for end in (people.tokens.revoke, people.tokens.rotate):
            with pytest.raises(Conflict, match="remove the file token"):
                end(me.project_id, me.user_id, own)
        assert people.identify(LOCAL, None).name == "you"

    def test_a_server_whose_own_token_was_revoked_by_another_says_so(
        self, people: Credentials, me: Member, database: Database
    ) -> None:
        other = Credentials(database, "acai_of-another-server")
        own = people.tokens.listed(me.project_id, me.user_id).tokens
        name = next(one.name for one in own if one.last_used_at is not None)
        other.tokens.revoke(me.project_id, me.user_id, name)
        with pytest.raises(SettingsBroken, match="its own token was revoked"):
            Credentials(database, LOCAL)

    def test_each_server_of_a_database_has_its_own_token_of_the_same_user(
        self, people: Credentials, me: Member, database: Database
    ) -> None:
        other = Credentials(database, "acai_of-another-server")
        assert other.local.user_id == me.user_id
        assert people.identify("acai_of-another-server", None).user_id == me.user_id
        assert people.has_one_user()

    def test_when_a_token_was_used_is_known(self, people: Credentials, me: Member) -> None:
        secret = people.tokens.create(me, CreateToken("ci")).secret
        before = {one.name: one.last_used_at for one in people.tokens.listed(me.project_id, me.user_id).tokens}
        assert before["ci"] is None
        people.identify(secret, None)
        after = {one.name: one.last_used_at for one in people.tokens.listed(me.project_id, me.user_id).tokens}
        assert after["ci"] is not None
        assert people.users.listed(me.project_id).users[0].last_used_at == max(filter(None, after.values()))

    def test_a_removed_user_is_a_stranger_to_the_project(self, people: Credentials, me: Member) -> None:
        secret = people.users.create(me, CreateUser("ann")).issued.secret
        people.look_again()
        assert not people.has_one_user()
        people.users.remove(me.project_id, "ann")
        with pytest.raises(NotSignedIn):
            people.identify(secret, None)
        with pytest.raises(UserNotFound):
            people.users.remove(me.project_id, "ann")
        people.look_again()
        assert people.has_one_user()
        again = people.users.create(me, CreateUser("ann", Role.VIEWER)).issued.secret
        assert people.identify(again, None).role is Role.VIEWER

    def test_a_project_keeps_an_admin(self, people: Credentials, me: Member) -> None:
        with pytest.raises(Conflict, match="you is the only admin of this project"):
            people.users.remove(me.project_id, "you")
        with pytest.raises(Conflict, match="you is the only admin of this project"):
            people.users.change(me.project_id, "you", UpdateUser(role=Role.MEMBER))

    def test_an_admin_can_hand_over(self, people: Credentials, me: Member) -> None:
        secret = people.users.create(me, CreateUser("ann", Role.ADMIN)).issued.secret
        ann = people.identify(secret, None)
        assert people.users.change(ann.project_id, "you", UpdateUser(role=Role.VIEWER)).role is Role.VIEWER
        with pytest.raises(NotAllowed):
            people.authorise(people.identify(LOCAL, None), Access.WRITE)

    def test_of_two_admins_who_leave_at_once_one_stays(self, people: Credentials, me: Member) -> None:
        people.users.create(me, CreateUser("ann", Role.ADMIN))

        def leave(number: int) -> bool:
            try:
                people.users.remove(me.project_id, ("ann", "you")[number])
            except Conflict:
                return False
            return True

        assert sorted(at_once(2, leave)) == [False, True]
        assert len(people.users.listed(me.project_id).users) == 1

    def test_roles_and_quotas_change_alone(self, people: Credentials, me: Member) -> None:
        people.users.create(me, CreateUser("ann", Role.MEMBER, 3))
        assert people.users.change(me.project_id, "ann", UpdateUser(role=Role.VIEWER)).quota == 3
        assert people.users.change(me.project_id, "ann", UpdateUser(quota=None)).role is Role.VIEWER
        assert people.users.change(me.project_id, "ann", UpdateUser()).quota is None

    def test_a_name_stands_once_in_a_project(self, people: Credentials, me: Member) -> None:
        people.users.create(me, CreateUser("ann"))
        with pytest.raises(Conflict, match="ann is in this project already"):
            people.users.create(me, CreateUser("ann"))
        with pytest.raises(Conflict, match="there is a project 'default' already"):
            people.projects.create(me, CreateProject("default"))

    def test_what_is_no_name_is_refused(self, people: Credentials, me: Member) -> None:
        for name in ("", " ", "a b", "-a", "a\n", "\u00e4", "x" * 65, "a/b", "a:b", "<b>", "\u202eann"):
            with pytest.raises(BadRequest, match="cannot be the name of a user"):
                people.users.create(me, CreateUser(name))
            with pytest.raises(BadRequest, match="cannot be the name of a token"):
                people.tokens.create(me, CreateToken(name))
            with pytest.raises(BadRequest, match="cannot be the name of a project"):
                people.projects.create(me, CreateProject(name))

    def test_who_comes_to_one_project_learns_nothing_of_another(self, people: Credentials, me: Member) -> None:
        people.projects.create(me, CreateProject("lab", "ann"))
        made = people.projects.create(me, CreateProject("club", "bob"))
        assert made.issued is not None
        bob = people.identify(made.issued.secret, None)
        known = people.users.create(bob, CreateUser("ann"))
        unknown = people.users.create(bob, CreateUser("eve"))
        assert known.user.last_used_at is unknown.user.last_used_at is None
        assert known.issued.token.name == unknown.issued.token.name
        assert [one.name for one in people.users.listed(bob.project_id).users] == ["ann", "bob", "eve"]
        assert [one.name for one in people.users.tokens(bob.project_id, "ann").tokens] == ["first"]

    def test_lists_come_in_pages_that_together_have_all(self, people: Credentials, me: Member) -> None:
        names = [f"user-{number}" for number in range(5)]
        for name in names:
            people.users.create(me, CreateUser(name))
            people.projects.create(me, CreateProject(f"of-{name}"))
            people.tokens.create(me, CreateToken(f"of-{name}"))
            people.groups.set(me.project_id, f"of-{name}", [name, "you"])
        user = people.identify(LOCAL, None)
        lists: dict[str, Callable[[NamedQuery], Any]] = {
            "users": lambda asked: people.users.listed(me.project_id, asked),
            "projects": lambda asked: people.projects.listed(user, asked),
            "tokens": lambda asked: people.tokens.listed(me.project_id, me.user_id, asked),
            "groups": lambda asked: people.groups.listed(me.project_id, asked),
        }
        for kind, listed in lists.items():
            whole = listed(NamedQuery())
            assert whole.next is None
            assert len(getattr(whole, kind)) == (5 if kind == "groups" else 6), kind
            for limit in (1, 2, 3, 6):
                assert _walked(kind, listed, limit) == getattr(whole, kind)
        assert {tuple(one.users) for one in people.groups.listed(me.project_id).groups} >= {("user-0", "you")}

    def test_entries_of_the_audit_log_are_numbered_by_project_though_many_are_added_at_once(
        self, people: Credentials, me: Member, database: Database
    ) -> None:
        people.projects.create(me, CreateProject("lab"))
        lab = people.identify(LOCAL, "lab")
        assert people.audit.page(lab.project_id, AuditQuery()) == AuditPage([])

        def add(which: int) -> None:
            for number in range(6):
                member = lab if (which + number) % 3 == 0 else me
                entry = NewEntry(member.project_id, me.user_id, None, "create_job", f"{which}.{number}", "", "", 201)
                people.audit.write(entry)

        at_once(6, add)
        found = _audited(people, lab, AuditQuery(limit=5))
        assert [one.number for one in found] == list(range(12, 0, -1))
        assert len({one.thing for one in found}) == 12
        people.audit.write(NewEntry(me.project_id, me.user_id, None, "create_job", "of others", "", "", 201))
        people.audit.write(NewEntry(lab.project_id, me.user_id, None, "kill_job", "last", "", "", 200))
        assert [(one.number, one.thing) for one in _audited(people, lab, AuditQuery(action="kill_job"))] == [
            (13, "last")
        ]
        assert _audited(people, lab, AuditQuery(before=13, limit=4)) == found
        with database.reading() as work:
            exported = [one for one in work.audit.all_of_them() if one.project == "lab"]
        assert exported[:-1] == found[::-1]

    def test_events_of_users_are_told_to_their_project_alone(
        self, people: Credentials, me: Member, database: Database
    ) -> None:
        people.projects.create(me, CreateProject("lab", "ann"))
        people.users.create(me, CreateUser("bob"))
        with database.reading() as work:
            told = [(one.kind, one.subject) for one in work.events.after(me.project_id, 0, 100).events]
        assert told == [("user_created", "user bob")]


class ExpirySuite:
    """Derive from this with a fixture `moved` and a `database` over its clock."""

    def test_a_token_expires_when_it_was_said_to(self, database: Database, moved: Moved) -> None:
        people = Credentials(database, LOCAL)
        me = people.identify(LOCAL, None)
        secret = people.tokens.create(me, CreateToken("ci", expires_in_days=30)).secret
        moved.ahead = timedelta(days=30) - timedelta(minutes=1)
        assert people.identify(secret, None).expires_at is not None
        moved.ahead = timedelta(days=30)
        with pytest.raises(NotSignedIn):
            people.identify(secret, None)
        assert people.identify(LOCAL, None).expires_at is None

    def test_sign_ins_that_have_expired_do_not_pile_up(self, database: Database, moved: Moved) -> None:
        people = Credentials(database, LOCAL)
        me = people.identify(LOCAL, None)
        ann = people.users.create(me, CreateUser("ann", Role.MEMBER))
        of_ann = people.identify(ann.issued.secret, None)
        sign_ins = SignIns(database, {"oidc": Itself()}, 2)
        for _ in range(3):
            _, given = sign_ins.sign_in(SignIn(id_token=ann.issued.token.user))
            moved.ahead += timedelta(days=1)
        names = [token.name for token in people.tokens.listed(me.project_id, of_ann.user_id).tokens]
        assert [name for name in names if name.startswith("sign-in")] == ["sign-in", "sign-in-2"]
        assert people.identify(given.secret, None).name == "ann"


class Itself:
    """Takes what is shown for the name."""

    def whose(self, shown: str) -> str:
        return shown


def _walked(kind: str, listed: Callable[[NamedQuery], Any], limit: int) -> list[Any]:
    found: list[Any] = []
    after: str | None = ""
    while after is not None:
        page = listed(NamedQuery(after, limit))
        assert 1 <= len(getattr(page, kind)) <= limit
        found += getattr(page, kind)
        after = page.next
    return found


def _audited(people: Credentials, member: Member, asked: AuditQuery) -> list[AuditEntry]:
    found: list[AuditEntry] = []
    while True:
        page = people.audit.page(member.project_id, asked)
        found += page.entries
        if page.next is None:
            return found
        asked = msgspec.structs.replace(asked, before=page.next)


def clock(moved: Moved) -> Clock:
    """A clock that follows."""
    return Clock(moved)


def _lifetime(issued: IssuedToken) -> timedelta:
    assert issued.token.expires_at is not None
    return issued.token.expires_at - issued.token.created_at

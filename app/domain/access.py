"""Who may do what: roles, their scopes, and the key that has a role."""

from dataclasses import dataclass
from enum import StrEnum

from app.domain.errors import Conflict, Denied


class Role(StrEnum):
    TECHNICIAN = "technician"
    CLIENT = "client"
    DASHBOARD = "dashboard"
    SCIENTIST = "scientist"
    ADMIN = "admin"


class Scope(StrEnum):
    """What one endpoint needs. A route names exactly one."""

    READ = "read"  # see granted studies
    REPORT = "report"  # observations, and corrections of those that the same key reported
    CORRECT = "correct"  # corrections of all observations
    ASK = "ask"  # new batches
    MANAGE = "manage"  # create studies, change and delete them, upload candidates
    KEYS = "keys"  # API keys


SCOPES: dict[Role, frozenset[Scope]] = {
    Role.TECHNICIAN: frozenset({Scope.READ, Scope.REPORT}),
    Role.CLIENT: frozenset({Scope.READ, Scope.REPORT, Scope.ASK}),
    Role.DASHBOARD: frozenset({Scope.READ}),
    Role.SCIENTIST: frozenset({Scope.READ, Scope.REPORT, Scope.CORRECT, Scope.ASK, Scope.MANAGE}),
    Role.ADMIN: frozenset(Scope),
}


@dataclass(frozen=True)
class Key:
    """An API key without its secret."""

    id: str
    name: str
    role: Role
    created_at: str
    expires_at: str | None = None
    revoked_at: str | None = None
    studies: tuple[str, ...] = ()  # names it is granted; an admin needs none
    last_used_at: str | None = None  # to about a minute
    subject: str | None = None  # of a person who signs on elsewhere

    def may(self, scope: Scope) -> bool:
        return scope in SCOPES[self.role]

    def must(self, scope: Scope) -> None:
        if not self.may(scope):
            raise Denied(role=self.role.value, scope=scope.value)


class LastAdmin(Conflict):
    code = "last-admin"
    detail = "This is the last admin's key that does not expire. Create another one first, or nobody could manage keys."


@dataclass(frozen=True)
class Actor:
    """Who acts: the key of a request, the id of that request, and the address that it came from."""

    key: Key
    request_id: str
    address: str | None = None
    remembered: bool = False  # the key was not looked up for this request, so each transaction asks whether it stands

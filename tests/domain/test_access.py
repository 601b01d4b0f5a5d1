"""Roles and their scopes, as people were promised them."""

import pytest

from app.domain.access import SCOPES, Key, Role, Scope
from app.domain.errors import Denied

PROMISED = {
    "technician": {"read", "report"},
    "client": {"read", "report", "ask"},
    "dashboard": {"read"},
    "scientist": {"read", "report", "correct", "ask", "manage"},
    "admin": {"read", "report", "correct", "ask", "manage", "keys"},
}


def test_every_role_may_do_what_was_promised_and_nothing_else() -> None:
    assert {role.value: {scope.value for scope in scopes} for role, scopes in SCOPES.items()} == PROMISED
    assert SCOPES.keys() == set(Role)


@pytest.mark.parametrize("role", Role)
@pytest.mark.parametrize("scope", Scope)
def test_a_key_without_the_scope_is_refused(role: Role, scope: Scope) -> None:
    key = Key("id", "name", role, created_at="")
    if key.may(scope):
        key.must(scope)
        return
    with pytest.raises(Denied) as refused:
        key.must(scope)
    assert refused.value.facts == {"role": role.value, "scope": scope.value}

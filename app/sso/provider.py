"""The provider: where people are sent to sign on, and what it says of those who come back."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from secrets import token_urlsafe
from threading import BoundedSemaphore, Lock
from time import monotonic
from typing import Any

import structlog

from app.domain.errors import Overloaded, Unauthenticated, Unavailable
from app.settings import Settings

SECONDS = 10.0
MOST_AT_ONCE = 4  # requests to the provider; anyone can cause one, and each holds a thread while the provider is silent
REMEMBERED_SECONDS = 3600.0  # what the provider publishes about itself
ALGORITHMS = ["RS256", "RS384", "RS512", "PS256", "ES256", "ES384", "EdDSA"]  # never `none`, nor a shared secret
SCOPES = "openid profile email"
_AWAY = "The sign-on provider does not answer as it should. Try again, or sign in with a key."


@dataclass(frozen=True)
class SignOn:
    """What must come back: `state` with the browser, `nonce` in the token; `verifier` proves that it is us."""

    state: str
    nonce: str
    verifier: str


class Provider:
    """One OpenID provider, found by its issuer's address. Nothing is asked of any other."""

    def __init__(self, settings: Settings) -> None:
        self._issuer = settings.sso_issuer or ""
        self._client_id = settings.sso_client_id or ""
        self._secret = settings.sso_client_secret.get_secret_value() if settings.sso_client_secret else None
        self._scopes = f"{SCOPES} {settings.sso_scopes}".strip()
        self._known: dict[str, tuple[Any, float]] = {}
        self._lock = Lock()
        self._turns = BoundedSemaphore(MOST_AT_ONCE)

    @contextmanager
    def turn(self) -> Iterator[None]:
        """One of the few threads that may wait for the provider at the same time."""
        if not self._turns.acquire(blocking=False):
            raise Overloaded("Too many people sign on at this moment. Try again.")
        try:
            yield
        finally:
            self._turns.release()

    def begin(self, redirect_uri: str) -> tuple[str, SignOn]:
        """Where to send the browser, and what to remember of it."""
        attempt = SignOn(token_urlsafe(32), token_urlsafe(32), token_urlsafe(48))
        endpoint = self._published("authorization_endpoint")
        with self._client(redirect_uri) as client:
            address, _ = client.create_authorization_url(
                endpoint, state=attempt.state, nonce=attempt.nonce, code_verifier=attempt.verifier
            )
        return str(address), attempt

    def finish(self, redirect_uri: str, code: str, attempt: SignOn) -> Mapping[str, Any]:
        """What the provider says of the person, in a token that it signed for us and for this attempt."""
        from authlib.common.errors import AuthlibBaseError  # noqa: PLC0415  (an extra)
        from httpx import HTTPError  # noqa: PLC0415  (a server without sign-on does not need it)

        endpoint = self._published("token_endpoint")
        try:
            with self._client(redirect_uri) as client:
                token = client.fetch_token(endpoint, code=code, code_verifier=attempt.verifier)
        except AuthlibBaseError as error:
            structlog.get_logger().warning("sign-on refused", cause=error.error)
            raise Unauthenticated("The sign-on provider refused this sign-on. Begin again.") from error
        except (HTTPError, ValueError) as error:
            raise Unavailable(_AWAY) from error
        return self._claims(str(token.get("id_token")), attempt)

    def _claims(self, id_token: str, attempt: SignOn) -> Mapping[str, Any]:
        from joserfc import jwt  # noqa: PLC0415
        from joserfc.errors import JoseError  # noqa: PLC0415
        from joserfc.jwk import KeySet  # noqa: PLC0415

        rules = jwt.JWTClaimsRegistry(
            leeway=60,
            iss={"essential": True, "value": self._issuer},
            aud={"essential": True, "value": self._client_id},
            exp={"essential": True},
            sub={"essential": True},
            nonce={"essential": True, "value": attempt.nonce},
        )
        try:
            published: Any = self._document(self._published("jwks_uri"))
            keys = KeySet.import_key_set(published)
            claims: Mapping[str, Any] = jwt.decode(id_token, keys, algorithms=ALGORITHMS).claims
            rules.validate(dict(claims))
        except (JoseError, ValueError) as error:
            structlog.get_logger().warning("sign-on refused", cause=repr(error))
            self._known.clear()  # the provider may have changed its keys
            raise Unauthenticated("The sign-on provider's token is not valid here. Begin again.") from error
        return claims

    def _client(self, redirect_uri: str) -> Any:
        from authlib.integrations.httpx_client import OAuth2Client  # noqa: PLC0415

        return OAuth2Client(
            self._client_id,
            self._secret,
            scope=self._scopes,
            redirect_uri=redirect_uri,
            code_challenge_method="S256",
            token_endpoint_auth_method="client_secret_basic" if self._secret else "none",
            timeout=SECONDS,
            trust_env=False,
        )

    def _published(self, name: str) -> str:
        """An address that the provider publishes about itself."""
        document = self._document(f"{self._issuer.rstrip('/')}/.well-known/openid-configuration")
        if document.get("issuer") != self._issuer or not isinstance(document.get(name), str):
            raise Unavailable(_AWAY)
        return str(document[name])

    def _document(self, address: str) -> dict[str, Any]:
        import httpx  # noqa: PLC0415

        with self._lock:
            document, until = self._known.get(address, (None, 0.0))
        if document is None or monotonic() >= until:
            try:
                document = httpx.get(address, timeout=SECONDS, trust_env=False).raise_for_status().json()
            except (httpx.HTTPError, ValueError) as error:
                raise Unavailable(_AWAY) from error
            with self._lock:
                self._known[address] = document, monotonic() + REMEMBERED_SECONDS
        return dict(document)

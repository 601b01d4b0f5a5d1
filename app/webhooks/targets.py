"""Where messages may go: only to addresses that the operator listed, never along a redirect, never by surprise inside.

A host name is looked up once per attempt, and the connection goes to the address that was checked.
"""

import http.client
import socket
import ssl
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, IPv6Network, ip_address, ip_network
from ipaddress import IPv4Network as Network
from threading import Timer
from urllib.parse import SplitResult, unquote, urlsplit

from app.domain.errors import Finding, Invalid
from app.webhooks.messages import Message

SECONDS = 10.0  # for each step of an attempt: connect, send, read the answer's head
MOST_SECONDS = 30.0  # for the whole attempt
PORTS = {"http": 80, "https": 443}
VARIABLE = "NEXTBATCH_WEBHOOK_TARGETS"

Address = IPv4Address | IPv6Address


class NotAllowed(Exception):
    """The operator's list does not allow this target; says why."""


class NotDelivered(Exception):
    """The attempt failed before the target answered; says why."""


@dataclass(frozen=True)
class AllowedTargets:
    """Addresses such as `https://hooks.example.org/lab`, and networks such as `10.1.0.0/16`."""

    urls: tuple[SplitResult, ...] = ()
    networks: tuple[Network | IPv6Network, ...] = ()

    def must_allow(self, url: str) -> SplitResult:
        """The target, if it lies below a listed address."""
        target = _split(url)
        if not self.urls:
            raise NotAllowed(f"This server sends no webhooks: {VARIABLE} lists no addresses.")
        if not any(_is_below(target, allowed) for allowed in self.urls):
            raise NotAllowed(f"This address is not below any that {VARIABLE} lists. Ask the operator of the server.")
        return target

    def address_of(self, target: SplitResult) -> str:
        """The address to connect to: a public one, or one that is listed itself."""
        host, port = target.hostname or "", _port(target)
        try:
            looked_up = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)
        except OSError as error:
            raise NotDelivered(f"The name of the host was not found: {error.strerror}.") from error
        for *_, place in looked_up:
            if self._may_reach(host, ip_address(str(place[0]).partition("%")[0])):
                return str(place[0])
        raise NotAllowed(f"The host has a private address. If that is meant, list the address in {VARIABLE}.")

    def _may_reach(self, host: str, address: Address) -> bool:
        address = getattr(address, "ipv4_mapped", None) or address
        listed = any(address in network for network in self.networks) or host == str(address)
        return listed or (address.is_global and not address.is_multicast)


def read_targets(entries: Iterable[str]) -> AllowedTargets:
    """The list of the operator; ValueError for an entry that is neither an address nor a network."""
    urls: list[SplitResult] = []
    networks: list[Network | IPv6Network] = []
    for entry in entries:
        try:
            if "://" in entry:
                urls.append(_split(entry))
            else:
                networks.append(ip_network(entry))
        except (NotAllowed, ValueError):
            raise ValueError(f"{entry} is neither like https://hooks.example.org nor like 10.1.0.0/16") from None
    return AllowedTargets(tuple(urls), tuple(networks))


def must_be_allowed(allowed: AllowedTargets, url: str) -> None:
    """Refuse a target that somebody wants to add."""
    try:
        allowed.must_allow(url)
    except NotAllowed as error:
        raise Invalid([Finding("target-not-allowed", str(error), pointer="/url")]) from None


def post(allowed: AllowedTargets, url: str, message: Message) -> int:
    """Send a message once; the status of the answer, whatever it is."""
    target = allowed.must_allow(url)
    connection = _connect(target, allowed.address_of(target))
    hurry = Timer(MOST_SECONDS, _hang_up, [connection.sock])  # an answer may come one byte at a time
    hurry.daemon = True
    hurry.start()
    try:
        connection.request(
            "POST",
            target._replace(scheme="", netloc="", fragment="").geturl() or "/",
            message.body,
            dict(message.headers),
        )
        return connection.getresponse().status
    except (OSError, http.client.HTTPException, AttributeError, ValueError) as error:
        raise NotDelivered(f"No answer: {type(error).__name__}.") from error
    finally:
        hurry.cancel()
        connection.close()


def _hang_up(opened: socket.socket) -> None:
    """End what another thread reads: `close` would wait until it has read to the end."""
    with suppress(OSError):
        opened.shutdown(socket.SHUT_RDWR)


def _connect(target: SplitResult, address: str) -> http.client.HTTPConnection:
    """A connection to an address that was checked, under the name of the host."""
    host, port = target.hostname or "", _port(target)
    connection = http.client.HTTPConnection(host, port, timeout=SECONDS)
    try:
        opened = socket.create_connection((address, port), timeout=SECONDS)
        if target.scheme == "https":
            opened = ssl.create_default_context().wrap_socket(opened, server_hostname=host)
    except OSError as error:
        reason = getattr(error, "verify_message", None) or error.strerror or type(error).__name__
        raise NotDelivered(f"No connection: {reason}.") from error
    connection.sock = opened
    return connection


def _split(url: str) -> SplitResult:
    try:
        target = urlsplit(url)
        port = target.port
    except ValueError:
        raise NotAllowed("This is not a web address.") from None
    plain = url.isascii() and url.isprintable() and not set(url) & set(' "<>\\^`{|}')
    steps = {unquote(step) for step in target.path.split("/")}
    if target.scheme not in PORTS or not target.hostname or port == 0 or not plain:
        raise NotAllowed("Write an address such as https://hooks.example.org/lab.")
    if "@" in target.netloc or target.fragment or steps & {".", ".."}:
        raise NotAllowed("Write the address without a password, a fragment, and steps such as `..`.")
    return target


def _is_below(target: SplitResult, allowed: SplitResult) -> bool:
    same_place = (target.scheme, target.hostname, _port(target)) == (allowed.scheme, allowed.hostname, _port(allowed))
    folder = allowed.path.rstrip("/")
    return same_place and (target.path == folder or target.path.startswith(f"{folder}/") or not folder)


def _port(target: SplitResult) -> int:
    return target.port or PORTS[target.scheme]

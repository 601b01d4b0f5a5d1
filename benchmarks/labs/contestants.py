"""Everybody who can be asked for: policies of this process, ours through the client, and the peers."""

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from functools import cache, partial

from benchmarks.labs.policies import POLICIES, MakePolicy, Policy, common_start
from benchmarks.labs.product import Nextbatch, serving
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table
from benchmarks.peers.catalogue import CATALOGUE, Listed
from benchmarks.peers.link import Link, python_of
from benchmarks.peers.policy import Peer

OURS, SAME_START, LIBRARY, UNSAID = "nextbatch", "nextbatch, same start", "auto", "auto, noise unsaid"
"""With its own first batch, with the one that the peers get, and without a server: the same choices as the first
without noise, and with noise if nothing is said about it."""

CONTESTANTS = (*POLICIES, OURS, SAME_START, *CATALOGUE)


def installed(policy: str) -> bool:
    """Whether it is ours, or a peer whose environment was made."""
    return policy not in CATALOGUE or python_of(CATALOGUE[policy].adapter).exists()


@contextmanager
def contestants() -> Iterator[dict[str, MakePolicy]]:
    """How each begins a study; a server or a peer's process starts when it is first wanted, and ends with the block."""
    with ExitStack() as stack:
        service = cache(lambda: stack.enter_context(serving()))
        link = cache(lambda adapter: stack.enter_context(Link(adapter)))

        def ours(table: Table, protocol: Protocol, seed: int) -> Policy:
            return Nextbatch(service(), table, protocol, seed)

        def same_start(table: Table, protocol: Protocol, seed: int) -> Policy:
            return Nextbatch(service(), table, protocol, seed, common_start(table, protocol, seed))

        def peer(listed: Listed, table: Table, protocol: Protocol, seed: int) -> Policy:
            return Peer(link(listed.adapter), listed.variant, table, protocol, seed)

        peers = {name: partial(peer, listed) for name, listed in CATALOGUE.items()}
        yield POLICIES | {OURS: ours, SAME_START: same_start} | peers

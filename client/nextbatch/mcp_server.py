"""`nextbatch mcp`: a study's verbs as tools of the Model Context Protocol, for programs that talk in it.

The tools call the server with one API key. Its role and its studies say what they may do, and the ledger names it as
the author of everything they did.
"""

from __future__ import annotations

import functools
from collections.abc import Awaitable, Callable
from dataclasses import asdict
from typing import Any, TypeVar

from mcp.server.mcpserver import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations

from ._request_bodies import is_suggestion
from .client import AsyncClient
from .errors import NextbatchError

Tool = TypeVar("Tool", bound=Callable[..., Awaitable[Any]])

INSTRUCTIONS = (
    "Nextbatch chooses the next experiments from a finite list of candidates. Look at a study with `status`, preview "
    "or ask for a batch, measure its candidates, and report what was measured. Report only values that were really "
    "measured: each one is kept for ever under the name of this key, and can be corrected but not erased."
)
READS = ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False)
WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=False, open_world_hint=False)
REPEATABLE = ToolAnnotations(read_only_hint=False, destructive_hint=False, idempotent_hint=True, open_world_hint=False)


def _tool(server: MCPServer[Any], annotations: ToolAnnotations) -> Callable[[Tool], Tool]:
    """Add a function as a tool. What the server refuses, the caller is told."""

    def add(function: Tool) -> Tool:
        @functools.wraps(function)
        async def told(**arguments: Any) -> Any:
            try:
                return await function(**arguments)
            except (NextbatchError, ValueError) as error:
                raise ToolError(str(error)) from error

        server.tool(annotations=annotations)(told)
        return function

    return add


def make_server(client: AsyncClient) -> MCPServer[Any]:
    """The tools, over a client that is connected with the key to act under."""
    server: MCPServer[Any] = MCPServer("nextbatch", instructions=INSTRUCTIONS, log_level="WARNING")
    _add_reads(server, client)
    _add_writes(server, client)
    return server


def _add_reads(server: MCPServer[Any], client: AsyncClient) -> None:
    @_tool(server, READS)
    async def studies() -> list[dict[str, Any]]:
        """List the studies that this key may see, with their objective, state and number of candidates."""
        listed = [study.details for study in await client.studies()]
        return [
            {"name": study.name, "state": study.state, "candidates": study.candidates, **_aims(study.configuration)}
            for study in listed
        ]

    @_tool(server, READS)
    async def status(study: str) -> dict[str, Any]:
        """How far a study is: the headline, counts, the best candidate, what is left to gain, and what to do next."""
        opened = await client.study(study)
        summary, verdict = await opened.summary(), await opened.certificate()
        shown = asdict(summary)
        return {
            "headline": summary.headline,
            "words": verdict.words,
            "advice": asdict(verdict.advice) if verdict.advice else None,
            **{name: shown[name] for name in ("state", "counts", "best_observed", "best_predicted", "open_batches")},
        }

    @_tool(server, READS)
    async def preview(
        study: str, max_size: int | None = None, min_size: int | None = None, where: list[str] | None = None
    ) -> dict[str, Any]:
        """The next batch as it would be, with the reason for each candidate. Nothing is stored.

        `where` has conditions such as "temperature >= 80" or "solvent in (DMF, THF)".
        """
        opened = await client.study(study)
        return asdict(await opened.preview(min_size=min_size, max_size=max_size, **_terms(where)))

    @_tool(server, READS)
    async def why(study: str, suggestion: str) -> dict[str, Any]:
        """Why a candidate was suggested, in words and numbers. `suggestion` is an id such as B3-S1."""
        batch = await (await client.study(study)).batch(_batch_of(suggestion))
        chosen = batch[suggestion]
        return {"key": chosen.key, "features": dict(chosen.features), **asdict(chosen.why)}

    @_tool(server, READS)
    async def results(study: str, candidate: str | None = None) -> list[dict[str, Any]]:
        """The results of a study, or of one candidate by its key: values, state, who reported them and when."""
        opened = await client.study(study)
        names = ("observation", "key", "value", "values", "state", "suggestion", "actor", "recorded_at", "note")
        rows = [asdict(result) for result in await opened.observations(candidate=candidate)]
        return [{name: _plain(row[name]) for name in names} for row in rows]


def _add_writes(server: MCPServer[Any], client: AsyncClient) -> None:
    @_tool(server, REPEATABLE)
    async def ask(
        study: str,
        worker: str,
        max_size: int | None = None,
        min_size: int | None = None,
        where: list[str] | None = None,
    ) -> dict[str, Any]:
        """Ask for the next batch to measure. `worker` is who will measure; asking again gets the same open batch."""
        opened = await client.study(study)
        batch = await opened.ask(worker, min_size=min_size, max_size=max_size, **_terms(where))
        return {
            "batch": batch.number,
            "suggestions": [
                {
                    "suggestion": suggestion.id,
                    "key": suggestion.key,
                    "replicates": suggestion.replicates,
                    "features": dict(suggestion.features),
                    "attributes": dict(suggestion.attributes),
                    "why": suggestion.why.words,
                }
                for suggestion in batch
            ],
        }

    @_tool(server, WRITES)
    async def report(
        study: str,
        target: str,
        value: float | None = None,
        values: dict[str, float] | None = None,
        failed: str | None = None,
        note: str | None = None,
    ) -> dict[str, Any]:
        """Report one measurement of `target`: a suggestion such as B3-S1, or a candidate's key.

        Give its `value`; or `values` by name, if the study measures several quantities; or why it `failed`. A value far
        from all earlier ones is refused: check it with a person, who can report it on the page or the command line.
        """
        opened = await client.study(study)
        name = "suggestion" if is_suggestion(target) else "key"
        outcome = {"value": value, "values": values, "failed": {"reason": failed} if failed else None, "note": note}
        return asdict(await opened.report({name: target, **outcome}, implausible="refuse"))

    @_tool(server, WRITES)
    async def correct(study: str, observation: int, value: float, reason: str) -> dict[str, Any]:
        """Correct a result by its number (see `results`), with a reason. The old value is kept."""
        corrected = await (await client.study(study)).correct(observation, value, reason)
        return {"observation": observation, "value": value, "affected_batches": list(corrected.affected_batches)}


def _aims(configuration: Any) -> dict[str, Any]:
    return {name: configuration.get(name) for name in ("objective", "unit", "direction", "description")}


def _terms(where: list[str] | None) -> dict[str, Any]:
    return {"where": where} if where else {}


def _batch_of(suggestion: str) -> int:
    if not is_suggestion(suggestion):
        raise ValueError(f"{suggestion} is no suggestion. Write an id such as B3-S1.")
    return int(suggestion[1:].partition("-")[0])


def _plain(value: Any) -> Any:
    return value.isoformat() if hasattr(value, "isoformat") else value

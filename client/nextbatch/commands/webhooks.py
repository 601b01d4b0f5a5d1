"""Webhooks from the command line: add, list and remove them, and see what was delivered."""

from typing import Annotated

import typer

from .printing import console, print_json, table
from .remote import AsJson, KeyOption, StudyName, Url, open_study

command = typer.Typer(no_args_is_help=True)

Number = Annotated[int, typer.Argument(help="The number of the webhook.", min=1)]


@command.command("add")
def add(
    study: StudyName,
    address: Annotated[str, typer.Argument(help="Where messages go.")],
    event: Annotated[
        list[str] | None, typer.Option(help="What is told, such as batch.issued; repeat for more; by default all.")
    ] = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Add a webhook and print its secret. It cannot be shown again."""
    with open_study(study, url, key) as opened:
        webhook = opened.add_webhook(address, event)  # type: ignore[arg-type]  # the server knows the names
    if as_json:
        print_json(webhook)
        return
    console.print(f"Webhook {webhook.webhook} is told: {', '.join(webhook.events)}. Its secret, shown once:")
    console.print(webhook.secret, soft_wrap=True)


@command.command("list")
def list_webhooks(study: StudyName, url: Url = None, key: KeyOption = None, as_json: AsJson = False) -> None:
    """List the webhooks of a study."""
    with open_study(study, url, key) as opened:
        webhooks = opened.webhooks()
    if as_json:
        print_json(webhooks)
        return
    rows = ([hook.webhook, hook.url, " ".join(hook.events), "ended" if hook.ended_at else ""] for hook in webhooks)
    console.print(table(["", "address", "told", ""], rows))


@command.command("remove")
def remove(study: StudyName, webhook: Number, url: Url = None, key: KeyOption = None) -> None:
    """Remove a webhook, and what is still to be delivered to it."""
    with open_study(study, url, key) as opened:
        opened.remove_webhook(webhook)
    console.print(f"Webhook {webhook} of {study} is removed.")


@command.command("secret")
def change_secret(
    study: StudyName,
    webhook: Number,
    overlap_hours: Annotated[float, typer.Option(help="How long the old secret signs, too.", min=0)] = 24,
    url: Url = None,
    key: KeyOption = None,
) -> None:
    """Give a webhook a new secret and print it."""
    with open_study(study, url, key) as opened:
        changed = opened.change_webhook_secret(webhook, overlap_hours=overlap_hours)
    console.print(changed.secret, soft_wrap=True)


@command.command("deliveries")
def list_deliveries(
    study: StudyName, webhook: Number, url: Url = None, key: KeyOption = None, as_json: AsJson = False
) -> None:
    """Show what a webhook was told, and what it is still to be told."""
    with open_study(study, url, key) as opened:
        deliveries = opened.deliveries(webhook)
    if as_json:
        print_json(deliveries)
        return
    rows = (
        [sent.delivery, sent.type, sent.event, sent.state, sent.attempts, sent.status, sent.problem]
        for sent in deliveries
    )
    console.print(table(["", "message", "event", "state", "attempts", "answer", "problem"], rows))

"""Delete studies from the command line, restore them, and erase them for good."""

from typing import Annotated

import typer

from .printing import console, print_json, table
from .remote import AsJson, KeyOption, StudyName, Url, connect, open_study

Confirm = Annotated[
    str | None, typer.Option(help="The study's name, once more; without this the command asks.", show_default=False)
]
ReasonOption = Annotated[str | None, typer.Option("--reason", help="Why; it is recorded.")]


def delete(
    study: StudyName, confirm: Confirm = None, reason: ReasonOption = None, url: Url = None, key: KeyOption = None
) -> None:
    """Delete a study. `nextbatch undelete` brings it back for some days."""
    with open_study(study, url, key) as opened:
        opened.delete(confirm or typer.prompt(f"Type {study} to delete it"), reason)
    console.print(f"Study {study} is deleted. `nextbatch undelete {study}` brings it back.")


def undelete(
    study: Annotated[str | None, typer.Argument(help="The study, or its address; without it, list them.")] = None,
    reason: ReasonOption = None,
    url: Url = None,
    key: KeyOption = None,
    as_json: AsJson = False,
) -> None:
    """Restore a deleted study, or list those that can be restored."""
    with connect(url, key) as client:
        if study is not None:
            restored = client.restore(study, reason=reason)
            console.print(f"Study {restored.name} is back: {restored.details.state}.")
            return
        listed = client.deleted_studies()
    if as_json:
        print_json(listed)
        return
    rows = ([gone.name, gone.address, f"{gone.deleted_at:%Y-%m-%d}", f"{gone.erased_at:%Y-%m-%d}"] for gone in listed)
    console.print(table(["study", "address", "deleted", "erased on"], rows))


def purge(
    study: Annotated[str, typer.Argument(help="The study, or its address among the deleted ones.")],
    confirm: Confirm = None,
    reason: ReasonOption = None,
    url: Url = None,
    key: KeyOption = None,
) -> None:
    """Erase a study for good, now: measurements, names, notes, arrays. Only the chain of hashes stays."""
    with connect(url, key) as client:
        copies = client.purge(study, confirm or typer.prompt(f"Type {study} to erase it for good"), reason=reason)
    console.print(f"Study {study} is erased.")
    if copies:
        console.print(f"Copies of its results are still in: {', '.join(copies)}. Purge them, too, if that is meant.")

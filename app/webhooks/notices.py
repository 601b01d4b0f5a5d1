"""What no event tells: that a batch is overdue, or that a stop rule is met. Each is noticed once."""

from collections.abc import Iterator
from hashlib import sha256
from typing import Any

from app.domain.access import Actor
from app.domain.clock import now
from app.domain.codec import canonical, to_plain
from app.domain.studies import Stop, Study
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases.access import SERVER
from app.services.workflows.summarise import StudySummary, summarise
from app.storage import studies
from app.webhooks.messages import MessageType
from app.webhooks.rows import Webhook


class Notices:
    """Looks at studies as their summaries do, so that both say the same."""

    def __init__(self, resources: Resources) -> None:
        self._resources = resources
        self._reader = ReadTransactions(resources.database, Actor(SERVER, "webhooks"))

    def of(self, webhook: Webhook, name: str) -> list[dict[str, Any]]:
        """What is to be told of a study. A subject that was told before is not told again."""
        with self._resources.database.read() as connection:
            study = studies.find(connection, name)
        if study is None or not _may_tell(webhook, study):
            return []
        summary = summarise(self._resources, self._reader, name, None)
        return [notice for notice in _notices(summary) if notice["type"] in webhook.types]


def _may_tell(webhook: Webhook, study: Study) -> bool:
    """Whether the settings of a study make a notice possible: a summary may have to compute a model."""
    may_end = study.configuration.stop != Stop() and MessageType.STUDY_FINISHED in webhook.types
    return may_end or (study.configuration.overdue_hours is not None and MessageType.BATCH_OVERDUE in webhook.types)


def _notices(summary: StudySummary) -> Iterator[dict[str, Any]]:
    moment = now()
    noticed = {"seq": summary.study.seq, "created_at": moment, "due_at": moment}
    for opened in summary.open_batches:
        if opened.overdue:
            number = opened.batch.number
            yield noticed | {"subject": f"overdue {number}", "type": MessageType.BATCH_OVERDUE.value, "batch": number}
    if summary.finished is not None:  # again only if the stop rules were changed
        rules = canonical(to_plain(summary.study.configuration.stop))
        subject = f"finished {summary.finished} {sha256(rules.encode()).hexdigest()[:32]}"
        yield noticed | {"subject": subject, "type": MessageType.STUDY_FINISHED.value, "rule": summary.finished}

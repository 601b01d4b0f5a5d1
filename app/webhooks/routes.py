"""/v1/studies/{study}/webhooks: for the owners of a study."""

from dataclasses import replace
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import Field
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanExport, CanManage, ResourcesDep
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.shape import Name, Shape
from app.api.schemas.shape import Request as Body
from app.services.transactions import Answer
from app.webhooks import use_cases
from app.webhooks.messages import MessageType, id_of
from app.webhooks.rows import Delivery, Webhook
from app.webhooks.targets import AllowedTargets

router = APIRouter(
    prefix="/v1/studies/{study}/webhooks", tags=["webhooks"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)

WebhookNumber = Annotated[int, Path(ge=1, lt=2**31, description="The number of the webhook.")]
MessageName = Literal["batch.issued", "batch.overdue", "results.reported", "study.finished"]
DeliveryState = Literal["pending", "delivered", "given-up"]


class WebhookIn(Body):
    url: str = Field(
        min_length=8,
        max_length=2000,
        description="Where messages go: below an address that the operator of the server allows.",
        examples=["https://hooks.example.org/lab"],
    )
    events: list[MessageName] = Field(
        default=[kind.value for kind in MessageType], min_length=1, max_length=20, description="What is told."
    )


class SecretIn(Body):
    overlap_hours: float = Field(
        default=24,
        ge=0,
        le=720,
        description="How long messages also carry a signature of the secret before.",
        examples=[24],
    )


class WebhookOut(Shape):
    webhook: int
    url: str
    events: tuple[str, ...]
    created_at: str
    ended_at: str | None = Field(description="When the target answered 410: it gets no more messages.")


class NewWebhook(WebhookOut):
    secret: str | None = Field(
        description="`whsec_…`, shown once; null when the same request is answered again.",
        examples=["whsec_…"],
    )


class WebhookList(Shape):
    webhooks: tuple[WebhookOut, ...]


class DeliveryOut(Shape):
    delivery: int
    message: str = Field(description="The `webhook-id` of every attempt.")
    type: str
    event: int = Field(description="The event that it tells of, or the newest one when it was noticed.")
    state: DeliveryState
    attempts: int
    created_at: str
    due_at: str | None = Field(description="When the next attempt is due.")
    attempted_at: str | None
    status: int | None = Field(description="What the target answered last.")
    problem: str | None = Field(description="What kept the last attempt from getting an answer.")


class DeliveryPage(Shape):
    deliveries: tuple[DeliveryOut, ...]
    next: int | None


@router.post(
    "",
    status_code=201,
    summary="Add a webhook",
    response_model=NewWebhook,
    responses=WRITES | documented("conflict"),
)
def add_webhook(study: Name, wanted: WebhookIn, request: Request, tx: CanManage, resources: ResourcesDep) -> Response:
    """It is told what happens from now on. The secret is in this answer, and nowhere else again."""
    allowed: AllowedTargets = request.app.state.webhook_targets
    types = tuple(dict.fromkeys(wanted.events))
    return respond(
        tx.write_once(use_cases.create, resources.signer, allowed, study, wanted.url, types, answer=_created)
    )


@router.get("", summary="The webhooks of a study")
def list_webhooks(study: Name, tx: CanExport) -> WebhookList:
    """Without their secrets."""
    return WebhookList(webhooks=tuple(map(webhook_out, tx.read(use_cases.list_webhooks, study))))


@router.get("/{number}", summary="A webhook")
def read_webhook(study: Name, number: WebhookNumber, tx: CanExport) -> WebhookOut:
    """Where it sends what."""
    return webhook_out(tx.read(use_cases.find, study, number))


@router.delete("/{number}", status_code=204, summary="Remove a webhook", responses=WRITES)
def remove_webhook(study: Name, number: WebhookNumber, tx: CanManage) -> Response:
    """With its deliveries: what was not delivered never will be."""
    return respond(tx.write_once(use_cases.remove, study, number, answer=lambda _: Answer(204)))


@router.post(
    "/{number}/secret",
    status_code=201,
    summary="Change the secret of a webhook",
    response_model=NewWebhook,
    responses=WRITES,
)
def change_webhook_secret(
    study: Name, number: WebhookNumber, wanted: SecretIn, tx: CanManage, resources: ResourcesDep
) -> Response:
    """For a while messages carry the signatures of both secrets, so that receivers can change theirs in between."""
    changed = tx.write_once(
        use_cases.change_secret, resources.signer, study, number, wanted.overlap_hours, answer=_created
    )
    return respond(changed)


@router.get("/{number}/deliveries", summary="What a webhook was told, and what it is to be told")
def list_deliveries(
    study: Name,
    number: WebhookNumber,
    tx: CanExport,
    state: DeliveryState | None = None,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> DeliveryPage:
    """Oldest first. Those that ended are listed for 30 days."""
    webhook = tx.read(use_cases.find, study, number)
    page = tx.read(use_cases.list_deliveries, study, number, state, after, limit)
    shown = tuple(delivery_out(webhook, delivery) for delivery in page)
    return DeliveryPage(deliveries=shown, next=page[-1].number if len(page) == limit else None)


def webhook_out(webhook: Webhook) -> WebhookOut:
    return WebhookOut(
        webhook=webhook.number,
        url=webhook.url,
        events=webhook.types,
        created_at=webhook.created_at,
        ended_at=webhook.ended_at,
    )


def delivery_out(webhook: Webhook, delivery: Delivery) -> DeliveryOut:
    told = {name: getattr(delivery, name) for name in DeliveryOut.model_fields if hasattr(delivery, name)}
    due = delivery.due_at or delivery.created_at if delivery.state == "pending" else None
    return DeliveryOut(
        **told | {"due_at": due}, delivery=delivery.number, message=id_of(webhook, delivery), event=delivery.seq
    )


def _created(created: tuple[Webhook, str]) -> Answer:
    """The secret is in the answer, but not in the stored copy of the answer."""
    webhook, secret = created
    shown = vars(webhook_out(webhook))
    hidden = answer(NewWebhook(**shown, secret=None)).body
    return replace(answer(NewWebhook(**shown, secret=secret), 201), stored_body=hidden)

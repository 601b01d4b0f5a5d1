"""A program as people write it: mypy must accept it and know these types (tests/client/test_typing.py runs mypy)."""

from typing import Any, assert_type

from nextbatch import (
    AsyncClient,
    Best,
    Candidate,
    Client,
    Delivery,
    Key,
    Observation,
    Reported,
    Study,
    StudyDetails,
    Summary,
    SyncConnection,
    Verdict,
    Webhook,
)


def loop() -> None:
    with Client("http://127.0.0.1:8000", "nb_x") as client:
        study = client.create_study("suzuki", objective="yield", unit="%", direction="maximize")
        assert_type(study, Study[SyncConnection])
        batch = study.ask(worker="bench-1", max_size=4)
        for suggestion in batch:
            assert_type(suggestion.key, str)
            assert_type(suggestion.report(0.83, note="clear"), Reported)
        assert_type(batch[0].replicates, int)
        assert_type(study.report([{"key": "A1", "value": 0.4}]).recorded, int)
        assert_type(study.best(), Best | None)
        assert_type(study.summary(), Summary)
        assert_type(study.certificate(), Verdict)
        assert_type(study.pause("lunch"), StudyDetails)
        assert_type(study.add_webhook("https://hooks.example.org", ["batch.issued"]), Webhook)
        assert_type(study.deliveries(1, "pending"), list[Delivery])
        assert_type(client.rotate_key("3f2a91c07b5e", overlap_hours=2), Key)
        assert_type(client.change_key("3f2a91c07b5e", role="client", expires_at=None), Key)
        assert_type(client.purge("suzuki", "suzuki"), tuple[str, ...])
        assert_type(study.candidates(limit=3, sort="-temperature"), list[Candidate])
        assert_type(study.candidates(as_frame=True, posterior=True), Any)
        assert_type(study.observations(versions="all"), list[Observation])


async def awaited() -> None:
    async with AsyncClient() as client:
        study = await client.study("suzuki")
        batch = await study.ask()
        assert_type(await batch[0].report([0.8, 0.9]), Reported)
        assert_type(await study.best(), Best | None)
        assert_type(await client.me(), Key)
        assert_type(await study.candidates(), list[Candidate])
        assert_type(await study.observations(as_frame=True), Any)

"""However many watch, a process looks once: streams cost writers nothing."""

import asyncio
from typing import Any

from app.api import live
from app.api.live import LedgerPoller
from app.domain.access import Actor, Key, Role
from app.services.use_cases.events import News

READER = Actor(Key("0" * 12, "a dashboard", Role.DASHBOARD, ""), "request")


def test_all_who_wait_share_one_look(monkeypatch: Any) -> None:
    monkeypatch.setattr(live, "SECONDS", 0.01)
    looks: list[set[str]] = []

    class Transactions:
        def read(self, _use_case: object, watched: set[str]) -> News:
            looks.append(watched)
            return News(dict.fromkeys(watched, 7), ())

    async def watch() -> list[News]:
        poller, tx = LedgerPoller(), Transactions()
        return await asyncio.gather(*(poller.news(tx, f"s{number % 3}") for number in range(100)))  # type: ignore[arg-type]

    told = asyncio.run(watch())
    assert looks == [{"s0", "s1", "s2"}]
    assert {tuple(sorted(one.newest)) for one in told} == {("s0", "s1", "s2")}


def test_news_concern_who_has_not_seen_them_or_whose_key_ended() -> None:
    news = News({"s": 7}, {"f" * 12})
    assert not news.concern(READER, "s", 7)
    assert news.concern(READER, "s", 6)
    assert news.concern(READER, "not looked at", 7)
    assert News({"s": 7}, {READER.key.id}).concern(READER, "s", 7)

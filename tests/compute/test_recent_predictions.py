"""Predictions that were read are kept for the next page, by the head of their ledger."""

import numpy as np

from app.compute.ledger_states import LedgerPrefix
from app.compute.recent_predictions import RecentPredictions
from app.modelling.predicting import Predictions


def predictions_of(prefix: LedgerPrefix) -> Predictions:
    return Predictions(*(np.full(10, float(prefix.seq)) for _ in range(6)))


def test_what_was_read_is_not_computed_again() -> None:
    recent, computed = RecentPredictions(10**6), []

    def compute(prefix: LedgerPrefix) -> Predictions:
        computed.append(prefix.seq)
        return predictions_of(prefix)

    heads = [LedgerPrefix(1, 1, "a"), LedgerPrefix(1, 2, "b"), LedgerPrefix(1, 1, "a")]
    assert [recent.at(prefix, compute).mean[0] for prefix in heads] == [1, 2, 1]
    assert computed == [1, 2]


def test_the_last_are_kept_whatever_they_take_and_the_oldest_make_room() -> None:
    recent = RecentPredictions(2 * 6 * 80)
    for seq, head in enumerate("abac", 1):
        recent.at(LedgerPrefix(1, seq, head), predictions_of)
    assert recent.nbytes == 2 * 6 * 80
    assert recent.at(LedgerPrefix(1, 9, "a"), predictions_of).mean[0] == 1
    assert recent.at(LedgerPrefix(1, 9, "b"), predictions_of).mean[0] == 9
    assert RecentPredictions(0).at(LedgerPrefix(1, 1, "a"), predictions_of).nbytes == 6 * 80

"""The uncertainty design: a first batch that needs no feedback at all (paper, section 4; Desautels et al. 2014).

Greedy argmax of the leverage. Once no leverage exceeds 1/P, every later batch has at least P(C̃ − 1)/3 members.
"""

import numpy as np

from app.engine.ask import Ask, Batch, Ended
from app.engine.batch import may_choose
from app.engine.shortlist import Shortlist
from app.engine.stability import Rescues
from app.engine.state import State


@np.errstate(all="ignore")
def design(state: State, ask: Ask, parallelism: float = np.inf) -> Batch:
    """Candidates of highest leverage, one after the other, until none exceeds 1/parallelism or max_size is reached.

    `ucb` of the batch is √leverage, for which each was chosen.
    """
    rescues = Rescues()
    blind = state.but(mean=np.zeros(len(state.X)), settings=state.settings.but(hallucination="full"))
    shortlist = Shortlist(blind, 1.0, may_choose(state, ask), rescues)
    for number in np.flatnonzero(state.pending):
        shortlist.hallucinate(int(number), int(state.pending[number]))
    picks: list[int] = []
    widths: list[float] = []
    ended: Ended = "size"
    while len(picks) < ask.max_size:
        pick = shortlist.best()
        if pick is None:
            ended = "exhausted"
            break
        leverage = float(pick.leverages(1)[0])
        if leverage <= 1 / parallelism and len(picks) >= ask.min_size:
            ended = "rule"
            break
        picks.append(pick.number)
        widths.append(leverage**0.5)
        shortlist.take(pick.number, 1)
    return Batch(np.array(picks, dtype=np.int64), ended, np.array(widths), alpha=1.0, degraded=dict(rescues))

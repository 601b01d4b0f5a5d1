"""The engine: which candidates to measure next. numpy and scipy only; state in, state out.

Notation (one meaning each, in the whole package; A candidates, dictionary of m members):

| here                   | paper    | meaning                                                                         |
|------------------------|----------|---------------------------------------------------------------------------------|
| X (A, d)               | 𝒜        | features of the candidates; a candidate is its row number                       |
| counts, sums (A,)      | X_t, y_t | how often each candidate was measured, and the sum of its values                |
| pending (A,)           | –        | measurements handed out and not yet reported                                    |
| S (m,)                 | 𝒮        | the dictionary: numbers of measured candidates                                  |
| D, J                   | –        | members that enter the dictionary; distinct candidates of new measurements      |
| Z (m, A)               | z(x)     | embedding, a column per candidate: Z_Sᵀ Z_S = K_SS                              |
| G, V = G + λI (m, m)   | ZᵀZ, V   | Σ_i counts_i z_i z_iᵀ; H = inv(chol(V)), so V⁻¹ = HᵀH                           |
| w (m,), mean (A,)      | μ̃        | Σ_i sums_i z_i; zᵀ V⁻¹ w                                                        |
| residual (A,)          | –        | k(x, x) − zᵀz, the part of x that the dictionary does not see                   |
| projected_leverage (A,)| –        | zᵀ V⁻¹ z, the leverage of the part that it does see                             |
| leverage (A,)          | σ̃²       | residual/λ + projected_leverage, the paper's σ̃² including its 1/λ               |
| variance (A,)          | –        | λ·leverage, the posterior variance of f                                         |
| beta, alpha            | β̃, α̃     | multiply √leverage: at the last feedback, and inside a batch                    |
| lam, q_bar, threshold  | λ, q̄, C̃  | regularisation, oversampling of the dictionary, largest drift inside a batch    |
| delta, F, xi           | δ, F, ξ  | failure probability, norm of f, standard deviation of the noise                 |
| fb                     | fb(t)    | the state after the last feedback, which a batch starts from                    |

Use:

    from app.engine import Ask, EngineSettings, choose, confidence_bounds, design, measure, start
    from app.engine.kernels import Gaussian
    settings = EngineSettings(kernel=Gaussian(0.5), lam=0.01, xi=0.1, F=1.0)
    state = start(X, settings)
    first = design(state, Ask(max_size=5))
    state = measure(state, first.picks, [f(x) for x in first.picks])
    for number in range(1, 6):
        batch = choose(state, Ask(number, max_size=10))
        state = measure(state, batch.picks, [f(x) for x in batch.picks])
    print("highest lower bound:", confidence_bounds(state)[0].argmax())

Reading order: settings, state, posterior and sweep, dictionary, lifecycle; then confidence, ask, hallucination,
shortlist, drift, spectrum, rules, batch; then focus, baselines, algorithms, saving. `stability` holds every numerical
rescue. `embedding` keeps Z, in one shard or many, and lets states share memory; `sweep` alone touches it: everything of
size A·m is there. `auto` chooses the settings for people who know no kernel.

Determinism: on one build (numpy, scipy, BLAS, one thread) every verb is a pure function of its arguments, to the last
bit. The same calls in the same order give the same bits, also if the state is saved and loaded between any two of
them. Another order of calls (two reports taken in at once instead of one after the other) is another history.
"""

from app.engine.algorithms import ALGORITHMS, Algorithm, algorithm_named
from app.engine.ask import Ask, Choose, Memory, Selection
from app.engine.batch import choose, design
from app.engine.blocks import sweep_threads
from app.engine.confidence import alpha, beta, confidence_bounds
from app.engine.lifecycle import add_candidates, expect, measure, revise, start, start_from
from app.engine.remote_shards import ShardLost, ShardStore, Spread, spread_over
from app.engine.saving import load, save
from app.engine.settings import EngineSettings, rng_at
from app.engine.state import State
from app.engine.time_limit import TimeLimitReached, time_limit

__all__ = [
    "ALGORITHMS",
    "Algorithm",
    "Ask",
    "Choose",
    "EngineSettings",
    "Memory",
    "Selection",
    "ShardLost",
    "ShardStore",
    "Spread",
    "State",
    "TimeLimitReached",
    "add_candidates",
    "algorithm_named",
    "alpha",
    "beta",
    "choose",
    "confidence_bounds",
    "design",
    "expect",
    "load",
    "measure",
    "revise",
    "rng_at",
    "save",
    "spread_over",
    "start",
    "start_from",
    "sweep_threads",
    "time_limit",
]

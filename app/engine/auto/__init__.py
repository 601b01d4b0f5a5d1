"""Auto mode: for people who know no kernel. It chooses features, objective, kernel, noise and limits; the engine
does the rest.

    encoding = learn_encoding(columns, numbers, codes)          # once, stored with the study
    X = encoding.apply(numbers, codes)
    cells = first_size(X.shape[1])
    picks = first_batch(start(X, settings), max(cells, q), cells, seed)
    …
    observed = Observed.of(len(X), measured, values)
    if model is None or needs_refit(model, observed):
        model = fit(X, encoding.layout, observed, "maximize", previous=model)
        state = begin(X, model, observed, options, seed)
    limit = limits_for(observed, state.pending, options, is_noisy(model, observed, options))
    batch = widely(choose, state, Ask(number, q, q, alpha=alpha_for(model, options), limit=limit), cells, seed)

Notation as in `app.engine`; values in model units are standardised and higher is better. Reading order: columns,
scaling, layout, encoding, cautions, learning; observed, warping, objective; priors, forms, evidence, posterior_mode,
fitted, fitting; goals, spreading, limits, handover, recommending.
"""

from app.engine.auto.columns import FeatureColumn, Override
from app.engine.auto.encoding import Caution, Encoding
from app.engine.auto.fitted import Fit
from app.engine.auto.fitting import fit, needs_refit
from app.engine.auto.goals import Goal, Options
from app.engine.auto.handover import alpha_for, begin, settings_for, sums_for
from app.engine.auto.layout import Layout
from app.engine.auto.learning import learn_encoding
from app.engine.auto.limits import is_noisy, limits_for
from app.engine.auto.objective import Direction, Objective
from app.engine.auto.observed import Observed
from app.engine.auto.recommending import recommended
from app.engine.auto.spreading import first_batch, first_size, widely

__all__ = [
    "Caution",
    "Direction",
    "Encoding",
    "FeatureColumn",
    "Fit",
    "Goal",
    "Layout",
    "Objective",
    "Observed",
    "Options",
    "Override",
    "alpha_for",
    "begin",
    "first_batch",
    "first_size",
    "fit",
    "is_noisy",
    "learn_encoding",
    "limits_for",
    "needs_refit",
    "recommended",
    "settings_for",
    "sums_for",
    "widely",
]

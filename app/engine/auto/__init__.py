"""Auto mode: for people who know no kernel. It chooses features, objective, kernel, noise and limits, and asks the
engine for the rest.

    encoding = learn_encoding(columns, numbers, codes)          # once, stored with the study
    X = encoding.apply(numbers, codes)
    cells = cell_count(X.shape[1])
    picks = first_batch(start(X, settings), max(cells, q), cells, seed)
    …
    observed = Observed.of(len(X), measured, values)
    if model is None or needs_refit(model, observed):
        model = fit(X, encoding.layout, observed, "maximize", previous=model)
        state = state_for(X, model, observed, options, seed)
    limit = limits_for(state, observed, options, is_noisy(observed, options))
    ask = Ask(number, q, q, alpha=alpha_for(model, options), limit=limit)
    batch = next_batch(choose, state, observed, options, ask, cells, seed)

Notation as in `app.engine`; values in model units are standardised, and higher is better. Reading order: columns,
encoding, warnings; objective, error_bars, observed; priors, kernel_forms, number_effects, evidence, fitting; options,
space_filling, replication, acquisition, batch_size, recommendation, confirmation, predictive, unexplained,
promises, gains, outlook, diagnostics.
"""

from app.engine.auto.acquisition import alpha_for, next_batch, settings_for, state_for, sums_for, weights_for
from app.engine.auto.batch_size import BENCH, SizedSelection, choose_worthwhile, with_one_more
from app.engine.auto.columns import FeatureColumn, Layout, LevelCodes, Override, Scaling
from app.engine.auto.confirmation import to_confirm
from app.engine.auto.diagnostics import LeaveOneOut, importances, leave_one_out, predictive_at
from app.engine.auto.encoding import Encoding, learn_encoding, most_levels
from app.engine.auto.fitting import FittedModel, borrows, fit, needs_refit
from app.engine.auto.gains import Gains, corrected_share, expected_up_to, gains_over
from app.engine.auto.objective import ObjectiveDirection, ObjectiveTransform, is_constant
from app.engine.auto.observed import Observed
from app.engine.auto.options import AutoOptions, Goal
from app.engine.auto.outlook import contenders, draw_jointly, still_possible
from app.engine.auto.predictive import Predictive, StudentT, integrated
from app.engine.auto.promises import TrackRecord, track_record
from app.engine.auto.recommendation import recommended
from app.engine.auto.replication import is_noiseless, is_noisy, limits_for
from app.engine.auto.space_filling import cell_count, fill_cells_then_choose, first_batch, promising_of
from app.engine.auto.unexplained import unexplained_variance, value_distribution
from app.engine.auto.warnings import TableWarning, table_warnings

__all__ = [
    "BENCH",
    "AutoOptions",
    "Encoding",
    "FeatureColumn",
    "FittedModel",
    "Gains",
    "Goal",
    "Layout",
    "LeaveOneOut",
    "LevelCodes",
    "ObjectiveDirection",
    "ObjectiveTransform",
    "Observed",
    "Override",
    "Predictive",
    "Scaling",
    "SizedSelection",
    "StudentT",
    "TableWarning",
    "TrackRecord",
    "alpha_for",
    "borrows",
    "cell_count",
    "choose_worthwhile",
    "contenders",
    "corrected_share",
    "draw_jointly",
    "expected_up_to",
    "fill_cells_then_choose",
    "first_batch",
    "fit",
    "gains_over",
    "importances",
    "integrated",
    "is_constant",
    "is_noiseless",
    "is_noisy",
    "learn_encoding",
    "leave_one_out",
    "limits_for",
    "most_levels",
    "needs_refit",
    "next_batch",
    "predictive_at",
    "promising_of",
    "recommended",
    "settings_for",
    "state_for",
    "still_possible",
    "sums_for",
    "table_warnings",
    "to_confirm",
    "track_record",
    "unexplained_variance",
    "value_distribution",
    "weights_for",
    "with_one_more",
]

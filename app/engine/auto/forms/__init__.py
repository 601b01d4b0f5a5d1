"""Forms of kernels: what is still to be fitted, with priors, and derivatives that share the work of the value.

The engine's kernels compute a value or a gradient for any X and Y. A fit needs both, for one small X, some hundred
times; a form therefore answers with K and its pull-back, which turns W (n, n) into Σ_ij W_ij ∂K_ij/∂theta.
`kernel(theta)` is the same kernel for the engine.
"""

from app.engine.auto.forms.form import Evaluate, Form, PullBack
from app.engine.auto.forms.main_effects import MainEffects
from app.engine.auto.forms.matern import MaternArd
from app.engine.auto.forms.tanimoto import ScaledTanimoto
from app.engine.auto.forms.times import Times

__all__ = ["Evaluate", "Form", "MainEffects", "MaternArd", "PullBack", "ScaledTanimoto", "Times"]

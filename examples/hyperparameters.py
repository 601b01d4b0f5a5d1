"""The hyperparameters of a model: kernel ridge regression on a noisy curve, tuned in one call. Needs numpy."""

import numpy as np

from nextbatch import Client
from nextbatch.batch import Suggestion

CHANCE = np.random.default_rng(1)
X = CHANCE.uniform(0, 6, 120)
Y = np.sin(X) + CHANCE.normal(0, 0.15, X.size)
TRAINING, VALIDATION = slice(0, 80), slice(80, None)


def validation_error(suggestion: Suggestion) -> float:
    """The root mean square error on points that the model has not seen."""
    width, ridge = float(suggestion["width"]), float(suggestion["ridge"])
    similarity = np.exp(-(((X[:, None] - X[TRAINING]) / width) ** 2) / 2)
    weights = np.linalg.solve(similarity[TRAINING] + ridge * np.eye(80), Y[TRAINING])
    return float(np.sqrt(np.mean((Y[VALIDATION] - similarity[VALIDATION] @ weights) ** 2)))


def main() -> None:
    client = Client()
    study = client.create_study(
        "hyperparameters",
        objective="validation error",
        direction="minimize",
        noise="none",
        columns={"width": {"scale": "log"}, "ridge": {"scale": "log"}},
    )
    widths, ridges = 0.05 * 2.0 ** np.arange(9), 10.0 ** np.arange(-6, 3)
    study.upload([{"key": f"{w:g}/{r:g}", "width": float(w), "ridge": float(r)} for w in widths for r in ridges])
    study.run(validation_error, budget=24, batch_size=4, workers=2, progress=False)
    print(study.best())


if __name__ == "__main__":
    main()

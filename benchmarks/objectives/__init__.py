"""Several objectives and failures on tables whose every value is known: how fast the front is found.

    python -m benchmarks.objectives [--tables …] [--seeds 5] [--policies ours,random] [--data FOLDER]

A simulated lab measures q candidates at a time. Hypervolume regret is the share of the hypervolume of the whole table's
front that the measured candidates do not dominate yet; the reference is the worst of that front less 10 % of its range.
"""

"""Candidates described instead of listed: a grid that is enumerated, or a space that is sampled.

    {"parameters": {"temperature": {"low": 20, "high": 100, "step": 10},
                    "time":        {"low": 1, "high": 100, "count": 5, "scale": "log"},
                    "pressure":    {"low": 1, "high": 2},                              (only with "sample")
                    "amount":      {"values": [0.1, 0.2]},
                    "solvent":     {"levels": ["DMF", "THF"]},
                    "dry":         {"boolean": true}},
     "constraints": [{"coefficients": {"amount": 1, "time": 0.5}, "at_most": 10}],
     "exclude":     [{"solvent": "DMF", "temperature": {"at_least": 90}}],
     "sample": 500, "seed": 7}

A constraint bounds a weighted sum of numbers by `at_most`, `at_least`, both, or `equals`. An exclusion removes the
points that meet all its conditions: a value, a list of values, or bounds. `constraints`, `exclude`, `sample` and `seed`
are optional.
"""

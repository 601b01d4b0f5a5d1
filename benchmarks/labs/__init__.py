"""Simulated labs: real tables of candidates whose every value is known, so that a study can be replayed from the table.

    python -m benchmarks.labs --quick
    python -m benchmarks.labs run --policies auto --protocols "T60 q5" "T120 q10"
    python -m benchmarks.labs page
    python -m benchmarks.labs.calibration

Reading order: tables, protocol, policies, product, contestants, simulation, records, summary, plots, page; calibration.
"""

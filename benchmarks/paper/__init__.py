"""The paper's experiments (section 5 and the appendix), with every system in them, and its theory in numbers.

    python -m benchmarks.paper run            everything, resumable: one file of JSON per run
    python -m benchmarks.paper report         tables and pictures of what has been run
    python -m benchmarks.paper check          a subset, beside the ratios committed

A cell is one run: a set, a system, a bandwidth, a repetition. Reading order: objectives, systems, cells, running,
records, summary, tables, pictures; theory stands by itself.
"""

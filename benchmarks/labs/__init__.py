"""Simulated labs: real tables of candidates whose every value is known, so that a study can be replayed from the table.

    python -m benchmarks.labs run --data FOLDER --out runs.jsonl
    python -m benchmarks.labs table runs.jsonl

Reading order: tables, protocol, policies, simulation, records, summary.
"""

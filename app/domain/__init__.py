"""The words of Nextbatch as plain values: studies, candidates, batches, suggestions, observations, events.

Standard library only. What is refused, and why, is `errors`.
"""

"""The words of Nextbatch as frozen values: studies, candidates, batches, observations, events.

Standard library only. `events` lists everything that can happen to a study, `errors` everything that is refused.
"""

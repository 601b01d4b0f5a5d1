"""Nextbatch: the next batch of experiments, as a service."""

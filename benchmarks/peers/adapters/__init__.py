"""One module per peer, run by `worker` inside that peer's environment: `start(given, variant)` begins a study.

Modules import their own package, numpy and pandas, and nothing of the product.
"""

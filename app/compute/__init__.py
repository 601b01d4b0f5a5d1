"""Where models and batches are computed: today in this process.

A computation takes plain data, a prefix of a ledger and what is requested, and gives plain data back. It reads arrays
and ledger prefixes and nothing else, so that it could run in another process or on another machine:

    local           `compute_batch(basis, size, terms)`, predictions, insight, front, on a few threads of this process
    models          the models of studies: cached, loaded from a snapshot, or computed from the ledger
    ledger_states   the states of ledgers, cached
    snapshots       models in the database, for the next process
"""

"""Where models and batches are computed: in this process, or in workers that only read the database.

A computation takes plain data, a prefix of a ledger and what is requested, and gives plain data back:

    local           `compute_batch(basis, size, terms)`, predictions, insight, front, on a few threads of this process
    models          the models of studies: cached, loaded from a snapshot, or computed from the ledger
    ledger_states   the states of ledgers, cached
    snapshots       models in the database, for the next process

    workers         the same calls as `local`, answered by worker processes
    supervision     one worker process: started, watched, replaced; what a dead one had begun is repeated
    channel         messages between the two, with large arrays in shared memory
    answering       what answers a request in a worker: `local`, with a database that it can only read
    worker          what a worker process runs: an answerer behind a channel

    on_ray          the same workers as actors on a Ray cluster; an extra, which nothing else here knows
"""

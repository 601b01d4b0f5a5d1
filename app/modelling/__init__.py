"""From the ledger to the engine and back: the only package that knows both.

    ledger_state      what a prefix of the ledger says, added up: `fold(state, entries)`
    engine_settings   what a study's configuration means to the engine
    model             what the engine knows after a prefix: `advance(model, state)`
    predicting        what the model says of candidates, in the user's units
    explaining        why the model suggests a candidate, in numbers and words
    drafting          a batch: `draft(model, size)`

Everything here is a pure function of its arguments: nothing reads a database or a clock (but to say how long a batch
took). A study's model after any prefix of its ledger is a function of that prefix:

    model(s) = advance(model(basis of the last batch issued before s), fold(s))

so a batch can be computed again from the ledger alone, and caches of models are keyed by the hash of an entry.
"""

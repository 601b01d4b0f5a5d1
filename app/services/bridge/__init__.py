"""The bridge to the engine: the only services that know it.

A study's model after any prefix of its ledger is a pure function of that prefix:

    model(s) = advance(model(basis of the last batch issued before s), tally(s))

so a batch can be computed again from the ledger alone, and every cache of models is keyed by the hash of an event.
`model` has that function, `models` finds or rebuilds models, `snapshots` keeps them in the database, `drafting` makes
batches from them, `views` shows them to people in their own units.
"""

"""From the ledger to the engine and back: the only package that knows both.

    ledger_state      what a prefix of the ledger says, added up: `fold(state, entries)`
    engine_settings   what a study's configuration means to the engine
    model             what the engine knows of one quantity after a prefix: `advance(model, state)`
    study_model       the models of all quantities of a study: `advance_study(model, state)`
    predicting        what the model says of candidates, in the user's units
    outlook           what is left to gain, and whether to go on
    diagnosing        whether to trust the model, and what it has learnt
    front_reading     the front of several objectives, measured and expected
    explaining        why the model suggests a candidate, in numbers and words
    composing         the terms of an ask: what a batch may hold, and what it must
    allowances        what the measurements of a batch may cost, and how long they may take
    spending          what a study has spent, and what is left of its budget
    drafting          a batch for one quantity: `draft(model, size, terms)`
    aiming            what several objectives, constraints and failures make of a choice
    several_drafting  a batch for any study: `draft_batch(model, size, terms)`
    saved_model       a model as bytes, for the next process

Everything here is a pure function of its arguments: nothing reads a database or a clock (but to say how long a batch
took). A study's model after any prefix of its ledger is a function of that prefix:

    model(s) = advance(model(basis of the last batch issued before s), fold(s))

so a batch can be computed again from the ledger alone, and caches of models are keyed by the hash of an entry.
"""

"""The parts of `Study`: candidates, batches, observations and the ledger."""

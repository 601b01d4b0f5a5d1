"""Use cases: functions `(connection, actor, …) -> result` that run inside one transaction.

A use case reads and writes through `app.storage`, appends events to the ledger, and returns values of the domain. It
opens no transaction, computes nothing that takes long, and knows nothing of HTTP.
"""

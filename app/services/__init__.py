"""Use cases: the verbs of the product.

Each is a function `(connection, actor, …) -> result` that runs inside one transaction; `transactions` opens and
commits it, and nothing else does. What takes long (parsing, the engine) happens before, with no transaction open.
"""

"""The verbs of the product, as two kinds of functions.

`use_cases`   `(connection, actor, …) -> result`: run inside one transaction, which `transactions` opens and commits.
`workflows`   `(resources, tx, …) -> answer`: span several transactions, with long work (parsing, computing) between
              them and no transaction open meanwhile.

`intake` reads what people send: candidate lists, sheets, JSON. `archives` reads whole studies. `filters` is the
language of conditions, `memory` the budget that requests share, `signing` the server's identity.
"""

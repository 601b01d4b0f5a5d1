"""The promises of the service, and the harnesses that try to break them.

    make prove                 about half an hour on two cores; MINUTES=300 for ten times the cases
    python -m tests.reliability --minutes 5 --only 1 3 --seed 7

`promises/` has one module per promise. A module ends with

    PROMISE = Promise(number, words, tested, unit, full, prove, teeth)

where `prove(budget, seed, databases) -> Count` tries to break the promise as often as the budget lets it
(`for case in budget`), and `teeth` are bugs to plant: context managers inside which `prove` must find violations.
`on_each_database` makes a `prove` for both databases from one that takes an address. That is all there is to register:
the runner (`__main__`) and `test_promises` find the module. `make test` runs every promise with `short` cases, and
again with each tooth; `make prove` runs it for its `share` of the minutes, prints the table and writes each row into
docs/guarantees.md as soon as it is known. A harness that keeps one core busy is `parallel`: `lanes` runs one on each
core.

What harnesses are made of:

    lab       a server in this process            fleet     server processes, to be killed, paused and started again
    bench     a client that notes everything      operations, checking   its history, and what must be true of it
    chaos     deaths under load                   proxy     a bad network
    disk      SQLite's writes, remembered or refused        planting  bugs for server processes
    receivers   of webhooks, that behave badly

`soaking` is no promise: it works slowly at a server for as long as it is told to, and weighs it meanwhile.
"""

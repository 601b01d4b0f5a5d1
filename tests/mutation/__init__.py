"""Mutation testing: are the tests of `app/services`, `app/storage` and `app/api` able to notice small mistakes?

    make mutants MINUTES=20
    python -m tests.mutation --minutes 5 --seed 7 --only app/storage

`mutants` lists the places in the bodies of functions that an operator of cosmic-ray can change, and draws one mutant of
each in random order. `recording` notes once which tests run which lines. `running` runs the tests of each mutant's line
until one fails: the mutant is killed, or it survives. `equivalent.txt` names survivors that behave the same.
"""

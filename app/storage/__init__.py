"""Rows and how they are kept: one module per aggregate, the same promises on SQLite and PostgreSQL.

`database` opens transactions, `tables` names the columns, every other module is functions that take a
connection inside a transaction somebody else opened. Rows never leave this package; values of the domain do.
Times and JSON are kept as text, so that both databases keep exactly the same characters.
"""

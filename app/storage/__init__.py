"""Rows, and what is promised of them: one module per aggregate, the same on SQLite and PostgreSQL.

`database` opens transactions and `tables` names the columns. Every other module is functions that take a connection
inside a transaction that somebody else opened. Rows never leave this package; values of the domain do. Times and JSON
are stored as text, so that both databases hold exactly the same characters.
"""

"""Workflows: functions `(resources, tx, …)` that span several transactions.

A workflow reads in one transaction, works with none open, and commits in another one if nothing has changed meanwhile;
otherwise it starts over. Each step inside a transaction is a use case.
"""

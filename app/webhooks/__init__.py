"""Webhooks: other programs are told what happens in a study, in signed messages (standardwebhooks.com).

The ledger is the outbox: an event and the reason to send something are one row, committed together. A dispatcher in
each server process reads the ledger from where it stopped, so nothing else in this program knows about webhooks.
docs/decisions/0050-the-ledger-is-the-outbox.md says more.
"""

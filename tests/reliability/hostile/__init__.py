"""Requests that nobody honest would send, each made from one that works."""

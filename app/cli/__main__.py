"""`python -m app.cli` is the `nextbatch` command."""

from app.cli import main

main()

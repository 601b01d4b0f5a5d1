"""Computing apart from serving, and long lists: everything that docs/benchmarks/scale.md shows of both, in one run.

    python -m benchmarks.scale [--parts serving lists] [--json] [--plot docs/benchmarks/figures/scale-lists]
        [--workers 0 1 2] [--actors 2] [--databases sqlite postgresql] [--seconds 20]
        [--candidates 1000000 10000000] [--members 50] [--precision float32]

`serving`: reports while asks run all the time, and asks per second (`scale_serving`). `lists`: one long list in one
process, on two threads, in two worker processes and in two Ray actors (`scale_lists`). Ten million candidates in
float32 with 50 members take 6 GB of memory.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from benchmarks import scale_lists, scale_serving
from benchmarks.plots import plot_lists
from benchmarks.shard_places import WAYS


def main(arguments: Sequence[str] | None = None) -> int:
    options = _options().parse_args(arguments)
    serving = scale_serving.measured(options) if "serving" in options.parts else []
    lists = (
        scale_lists.measured(options.candidates, options.ways, options.members, options.precision)
        if "lists" in options.parts
        else []
    )
    grown = {part: dict(scale_lists.growth(lists, part)) for part in ("start", "batch")}
    if options.json:
        print(json.dumps({"serving": serving, "lists": lists, "growth": grown}))
    else:
        print(
            "\n\n".join(
                text(lines) for text, lines in ((scale_serving.table, serving), (scale_lists.table, lists)) if lines
            )
        )
        print(
            "\n".join(
                f"growth of a {part}, {way}: A^{power:.2f}" for part in grown for way, power in grown[part].items()
            )
        )
    if options.plot and lists:
        plot_lists(lists, options.plot)
    return 0 if all(line["same choices"] for line in lists) else 1


def _options() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.scale", description=__doc__.splitlines()[0])
    parser.add_argument("--parts", nargs="+", choices=["serving", "lists"], default=["serving", "lists"])
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--plot", type=Path, help="where the figure of the lists goes, without its ending")
    scale_serving.add_options(parser)
    lists = parser.add_argument_group("lists")
    lists.add_argument("--candidates", type=int, nargs="+", default=[1_000_000, 10_000_000])
    lists.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS))
    lists.add_argument("--members", type=int, default=50, help="results that the study knows at first")
    lists.add_argument("--precision", choices=["float32", "float64"], default="float32")
    return parser


if __name__ == "__main__":
    sys.exit(main())

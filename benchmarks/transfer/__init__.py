"""What results of an earlier study are worth, and what they cost where they tell nothing.

    python -m benchmarks.transfer run --seeds 20
    python -m benchmarks.transfer report
    python -m benchmarks.transfer told                # what the related task could tell at best
    python -m benchmarks.transfer baybe --seeds 3     # BayBE's task parameter, after `make .peers/baybe/ready`
    python -m benchmarks.transfer beside              # its regret beside ours

Every task of a table is the new study once. What it borrows are 40 results of another task, which the product itself
has chosen: of the task whose values agree best with it (related), or least (unrelated), by rank correlation over the
whole tables. On shuffled ones the values of the related task are permuted, so that nothing can be learnt from them. A
new study asks for batches of five; the same seeds are used with and without. Regret is a share of the task's range.
"""

"""A sweep's candidates in consecutive blocks, which several threads may share.

What a block gives depends on the block alone, and where blocks begin depends on the shapes alone. So no result depends
on the number of threads, to the last bit. Nearly all the time of a block goes into products and elementwise functions
of numpy, which let other threads run meanwhile. BLAS itself has one thread: it is the blocks that are shared out.
"""

from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import ContextVar, copy_context

from app.engine.stability import Rescues
from app.engine.time_limit import check_time

BLOCK = 2**17
"""Numbers in one block of a result. A block stays in the cache, and no sweep needs a second array as large as Z."""

FEWEST_COLUMNS = 256

_threads: ContextVar[int] = ContextVar("threads of a sweep in this context", default=1)


@contextmanager
def sweep_threads(threads: int) -> Iterator[None]:
    """Let sweeps inside use so many threads."""
    token = _threads.set(threads)
    try:
        yield
    finally:
        _threads.reset(token)


def blocks(size: int, rows: int, block_size: int = BLOCK) -> Iterator[slice]:
    """0 … size in consecutive slices, each with about `block_size` numbers in `rows` rows."""
    for block in _slices(size, rows, block_size):
        check_time()
        yield block


def each_block(
    size: int, rows: int, work: Callable[[slice, Rescues], None], rescues: Rescues, block_size: int = BLOCK
) -> None:
    """Call `work` with every block, and where to count rescues."""
    waiting = deque(_slices(size, rows, block_size))

    def take_all(own: Rescues) -> None:
        while waiting:
            try:
                block = waiting.popleft()
            except IndexError:  # another thread took the last one
                return
            try:
                check_time()
                work(block, own)
            except BaseException:
                waiting.clear()
                raise

    on_threads([take_all] * min(_threads.get(), len(waiting)), rescues)


def on_threads(jobs: Sequence[Callable[[Rescues], None]], rescues: Rescues) -> None:
    """Do all jobs at the same time, a single one without a thread; each counts rescues of its own."""
    if len(jobs) == 1:
        jobs[0](rescues)
    if len(jobs) <= 1:
        return
    counted = [Rescues() for _ in jobs]
    with ThreadPoolExecutor(len(jobs), "sweep") as pool:
        # The time limit holds in a copy of the context, too.
        running = [pool.submit(copy_context().run, job, own) for job, own in zip(jobs, counted, strict=True)]
    for job, own in zip(running, counted, strict=True):
        job.result()
        rescues.update(own)


def _slices(size: int, rows: int, block_size: int) -> Iterator[slice]:
    step = max(FEWEST_COLUMNS, block_size // max(rows, 1))
    return (slice(start, min(start + step, size)) for start in range(0, size, step))

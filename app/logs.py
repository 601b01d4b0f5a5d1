"""Log lines on standard output: one JSON object each, with the id of the request, or coloured for a terminal.

Ours come from structlog, those of libraries from `logging`. Both look alike and are written as whole lines.
"""

import json
import logging
import select
import sys
import threading
from types import TracebackType
from typing import Any, TextIO

import structlog

Processor = structlog.types.Processor


def configure(log_format: str, level: str) -> None:
    """Set the format of the lines and the lowest level; of libraries only warnings and errors are written."""
    least = logging.getLevelNamesMapping()[level.upper()]
    shared: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render: list[Processor] = (
        [
            structlog.dev.ConsoleRenderer(colors=sys.stdout.isatty(), exception_formatter=structlog.dev.plain_traceback)
        ]  # rich tracebacks would show variables, secrets among them
        if log_format == "console"
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer(_json_line)]
    )
    structlog.configure(
        processors=[*shared, *render],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=lambda *_: _LineLogger(),
        cache_logger_on_first_use=False,
    )
    _hear_libraries(shared, render, max(least, logging.WARNING))


_ENCODER = json.JSONEncoder(default=repr)


def _json_line(event: Any, **_options: Any) -> str:
    """One line of JSON. structlog's own way makes an encoder for each line."""
    return _ENCODER.encode(event)


def hear_python() -> None:
    """Log Python's own warnings and uncaught exceptions, too. For server processes."""
    logging.captureWarnings(True)
    sys.excepthook = _uncaught
    threading.excepthook = lambda gone: _uncaught(gone.exc_type, gone.exc_value, gone.exc_traceback)
    sys.unraisablehook = lambda gone: _uncaught(gone.exc_type, gone.exc_value, gone.exc_traceback)


class _LineLogger:
    """Writes a line and its end as one to standard output. A log that is full, closed or not read costs no request."""

    def msg(self, line: str) -> None:
        write_line(line)

    debug = info = warning = error = critical = exception = msg


class _Output(logging.Handler):
    def emit(self, record: logging.LogRecord) -> None:
        write_line(self.format(record))


_unwritten = 0  # lines since the last that could be written: a number of the process, as its standard output is


def write_line(line: str) -> None:
    """Write a line to standard output, which tests replace, or count it as lost."""
    global _unwritten  # noqa: PLW0603
    try:
        if not _is_read(sys.stdout):
            raise BlockingIOError
        if _unwritten:
            line = f'{{"event": "lines of the log were lost", "level": "warning", "lines": {_unwritten}}}\n{line}'
        sys.stdout.write(f"{line}\n")
        sys.stdout.flush()
        _unwritten = 0
    except (OSError, ValueError):  # full, broken, closed
        _unwritten += 1


def _is_read(stream: TextIO) -> bool:
    """Whether a pipe has room: a reader that stopped reading would stop the server, too."""
    try:
        descriptor = stream.fileno()
    except (OSError, ValueError, AttributeError):  # a test's own stream
        return True
    return bool(select.select([], [descriptor], [], 0)[1])


def _hear_libraries(shared: list[Processor], render: list[Processor], least: int) -> None:
    root = logging.getLogger()
    for handler in [handler for handler in root.handlers if isinstance(handler, _Output)]:
        root.removeHandler(handler)
    output = _Output()
    output.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[structlog.stdlib.add_logger_name, *shared],
            processors=[structlog.stdlib.ProcessorFormatter.remove_processors_meta, *render],
        )
    )
    output.setLevel(least)
    root.addHandler(output)
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # it logs every malformed form


def _uncaught(kind: type[BaseException], error: BaseException | None, where: TracebackType | None) -> None:
    said: Any = (kind, error or kind(), where)
    logging.getLogger("python").critical("uncaught", exc_info=said)

"""Log lines: one JSON object each, with the request's id; or coloured for a person at a terminal."""

import logging

import structlog


def configure(log_format: str, level: str) -> None:
    shared: list[structlog.types.Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    render: list[structlog.types.Processor] = (
        [
            structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        ]  # rich ones show variables: secrets
        if log_format == "console"
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    logging.getLogger("python_multipart").setLevel(logging.CRITICAL)  # it tells of every odd form, in lines of its own
    structlog.configure(
        processors=[*shared, *render],
        wrapper_class=structlog.make_filtering_bound_logger(logging.getLevelNamesMapping()[level.upper()]),
        cache_logger_on_first_use=False,
    )

"""How long a text, how large a number and how much in one request may be: the same for a request and for an archive.

The shapes on the wire state these limits to callers (`app/api/schemas`). The checks here apply to everything that
enters a ledger, whichever way it came.
"""

import re
from collections.abc import Iterator

from app.domain.batches import AskRequest
from app.domain.clock import read_moment
from app.domain.errors import Finding
from app.domain.studies import Configuration, Stop, Theory

LINE_LENGTH = 200
TEXT_LENGTH = 10_000
REASON_LENGTH = 2_000
MOST_MEASUREMENTS = 100_000  # in one batch
MOST_CONDITIONS = 20  # each one looks at every candidate
MOST_NAMED = 10_000  # candidates in one request
MOST_TAGS = 20  # of a study
MOST_TERMS = 20  # columns in each part of a composition
MOST_REPEATS = 1_000_000
MOST_OVERDUE_HOURS = 1_000_000
FEWEST_IN_SHARD, MOST_IN_SHARD = 100, 10**9
MOST_CONFIRMED = 100  # measurements of each candidate that is confirmed
MOST_SETTINGS_OF_COLUMNS = 10_000
SEEDS = 2**63

# What one request may hold. Each is checked before anything larger is made of the bytes that arrived.
MOST_JSON_VALUES = 2_000_000  # members, items and brackets; each takes up to 100 bytes once it is read
MOST_JSON_MEMBERS = 10_000  # of one object
MOST_REPORTS = 200_000
MOST_SHEET_BYTES = 32 * 2**20
MOST_SHEET_ROWS = MOST_REPORTS
MOST_SHEET_CELLS = 2_000_000
MOST_SHEET_COLUMNS = 10_000
MOST_LEDGER_BYTES = 256 * 2**20  # of an archive's events
MOST_CONDITIONS = 20  # of a filter; each one looks at every candidate
MOST_PAGE_CELLS = 1_000_000  # a cell takes about 160 bytes
MOST_PAGE_TEXT_BYTES = 32 * 2**20  # of candidates; three times as much while it is made
MOST_PAGE_BYTES = 8 * 2**20  # of the events of a page, except that the first one is always shown
MOST_NOISE = 1e150
MOST_EXPENSE = 1e15  # of one measurement, or in a budget: their sums stay finite and exact enough
RULES = ("global", "local", "exact", "product", "sequential")

NAME_PATTERN = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
LINE_PATTERN = r"^[^\x00-\x1f\x7f]*$"
NO_NUL_PATTERN = r"^[^\x00]*$"
_NAME = re.compile(NAME_PATTERN[1:-1])
_LINE = re.compile(LINE_PATTERN[1:-1])
_KEY_ID = re.compile(r"[A-Za-z0-9._-]{1,20}")


MOST_EARLIER = 5  # studies that one borrows results from
MOST_EARLIER_RESULTS = 500  # of each


def is_name(text: str) -> bool:
    """The name of a study or of a worker."""
    return _NAME.fullmatch(text) is not None


def is_line(text: str, least: int = 0) -> bool:
    return least <= len(text) <= LINE_LENGTH and _LINE.fullmatch(text) is not None and _is_unicode(text)


def is_text(text: str, longest: int = TEXT_LENGTH) -> bool:
    return len(text) <= longest and "\0" not in text and _is_unicode(text)


def is_reason(text: str) -> bool:
    return bool(text) and is_text(text, REASON_LENGTH)


def is_key_id(text: str) -> bool:
    return _KEY_ID.fullmatch(text) is not None


def is_moment(text: str) -> bool:
    """A moment as this program writes it."""
    return read_moment(text) == text


def is_request(request: AskRequest) -> bool:
    """What an ask may request."""
    sizes = [size for size in (request.min_size, request.max_size) if size is not None]
    allowances = [most for most in (request.budget, request.time) if most is not None]
    return (
        is_name(request.worker)
        and all(1 <= size <= MOST_MEASUREMENTS for size in sizes)
        and all(0 <= most <= MOST_EXPENSE for most in allowances)
        and (request.confirm is None or 2 <= request.confirm <= MOST_CONFIRMED)
    )


def configuration_findings(configuration: Configuration) -> list[Finding]:
    """Everything in a configuration that is outside its limits."""
    return [
        Finding("limits", message, pointer=f"/{setting}")
        for setting, fits, message in _settings(configuration)
        if not fits
    ]


def _settings(configuration: Configuration) -> Iterator[tuple[str, bool, str]]:
    """Each setting, whether it fits, and what to write instead."""
    sizes = {name: getattr(configuration, name) for name in ("min_batch", "max_batch", "first_batch")}
    for name, size in sizes.items():
        optional = name == "first_batch" and size is None
        yield name, optional or 1 <= size <= MOST_MEASUREMENTS, f"Write a number from 1 to {MOST_MEASUREMENTS:,}."
    if len(configuration.quantities) == 1:
        objective = configuration.objective
        yield "objective", is_line(objective.name), f"Write one line of at most {LINE_LENGTH} characters."
        yield "unit", is_line(objective.unit), f"Write one line of at most {LINE_LENGTH} characters."
    yield "description", is_text(configuration.description), f"Write at most {TEXT_LENGTH:,} characters."
    yield "algorithm", is_line(configuration.algorithm), "This is not the name of an algorithm."
    yield "seed", 0 <= configuration.seed < SEEDS, "Write a whole number from 0 to 2⁶³ − 1."
    shard = configuration.shard
    yield (
        "shard",
        shard is None or FEWEST_IN_SHARD <= shard <= MOST_IN_SHARD,
        (f"Write a number from {FEWEST_IN_SHARD:,} to {MOST_IN_SHARD:,}, or leave it out."),
    )
    repeats, hours = configuration.repeats, configuration.overdue_hours
    yield "repeats", not isinstance(repeats, int) or 1 <= repeats <= MOST_REPEATS, "Write a number from 1."
    noise = configuration.noise
    yield "noise", isinstance(noise, str) or 0 < noise <= MOST_NOISE, "Write auto, none or a positive number."
    yield "overdue_hours", hours is None or 0 < hours <= MOST_OVERDUE_HOURS, "Write a positive number of hours."
    confirm = configuration.confirm
    yield "confirm", confirm is None or 2 <= confirm <= MOST_CONFIRMED, f"Write a number from 2 to {MOST_CONFIRMED}."
    can_confirm = configuration.is_plain and configuration.theory is None
    yield "confirm", confirm is None or can_confirm, "Only studies with one objective and without `theory` confirm."
    bounded = configuration.stop.regret_bound is None or configuration.is_plain
    message = "Only one objective without constraints and target has such a bound. Stop by `observations` or `date`."
    yield "stop/regret_bound", bounded, message
    budget, unit = configuration.budget, configuration.cost_unit
    yield "budget", budget is None or 0 <= budget <= MOST_EXPENSE, "Write 0 or a positive number."
    yield "cost_unit", unit is None or is_line(unit), f"Write one line of at most {LINE_LENGTH} characters."
    conditions = configuration.where
    few = len(conditions) <= MOST_CONDITIONS and all(is_line(condition) for condition in conditions)
    yield "where", few, f"Write at most {MOST_CONDITIONS} conditions such as solvent=DMF."
    tags = configuration.tags
    few = len(tags) <= MOST_TAGS and len(set(tags)) == len(tags) and all(is_line(tag, least=1) for tag in tags)
    yield "tags", few, f"Write at most {MOST_TAGS} different words."
    yield "columns", _are_settings_of_columns(configuration), "Write a setting of a column, such as scale: log."
    yield "stop", _is_stop(configuration.stop), "Write positive numbers, and a date with a time zone."
    theories = [configuration.theory, *(quantity.theory for quantity in configuration.quantities)]
    for theory in theories:
        yield "theory", theory is None or _is_theory(theory), "A number of the model is outside its limits."


def _are_settings_of_columns(configuration: Configuration) -> bool:
    settings = configuration.columns
    texts = [text for name, setting in settings.items() for text in (name, *setting, *setting.values())]
    return len(texts) <= MOST_SETTINGS_OF_COLUMNS and all(is_line(text) for text in texts)


def _is_stop(stop: Stop) -> bool:
    positive = (stop.regret_bound is None or stop.regret_bound > 0) and (
        stop.observations is None or stop.observations >= 1
    )
    return positive and (stop.date is None or is_moment(stop.date))


def _is_theory(theory: Theory) -> bool:
    positive = (theory.noise, theory.norm, theory.scale, theory.regularization, theory.q_bar)
    return (
        all(number is None or number > 0 for number in positive)
        and 0 < theory.delta < 1
        and theory.threshold >= 1
        and (theory.rule is None or theory.rule in RULES)
    )


def _is_unicode(text: str) -> bool:
    """Whether the text can be written as UTF-8: a lone surrogate cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True

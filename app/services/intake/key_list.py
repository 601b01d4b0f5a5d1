"""Keys that come apart from the candidates they name, beside a .npy array: a JSON list or lines of text."""

from pathlib import Path

from app.services.intake.findings import refuse


def keys_from_lines(path: Path) -> list[str]:
    """One key per line of a UTF-8 text file; the last line may end without a line feed."""
    try:
        text = path.read_bytes().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = error.object[: error.start].count(b"\n") + 1
        raise refuse("not-utf-8", "not UTF-8; save the keys as text in UTF-8", row=row) from None
    return [line.removesuffix("\r") for line in text.removesuffix("\n").split("\n")]


def keys_from_json(keys: object) -> list[str]:
    """A parsed JSON list of texts or whole numbers."""
    if not isinstance(keys, list):
        raise refuse("not-a-list", "keys must be a list of texts, one per candidate")
    return [_key(key, row) for row, key in enumerate(keys, start=1)]


def _key(key: object, row: int) -> str:
    if isinstance(key, str):
        return key
    if isinstance(key, int) and not isinstance(key, bool) and abs(key) < 1 << 63:
        return str(key)
    raise refuse("key-not-text", "a key must be a text or a whole number", row=row)

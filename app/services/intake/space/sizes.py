"""How large a space is, for people and for memory."""

_CELLS_AT_ONCE = 1 << 19


def readable(size: int) -> str:
    """A whole number, or its order of magnitude where the digits would fill the line."""
    if size < 10**15:
        return str(size)
    return f"about 10^{int(size.bit_length() * 0.30103)}"


def block_rows(width: int) -> int:
    """How many points of this many parameters are looked at in one go."""
    return max(1, _CELLS_AT_ONCE // width)

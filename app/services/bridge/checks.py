"""Whether a configuration can be computed with at all, said before anything is stored."""

from app.domain.errors import Invalid
from app.domain.findings import Finding
from app.domain.studies import Configuration
from app.engine import FAMILY
from app.services.bridge.model import theory_settings

ALGORITHMS: tuple[str, ...] = tuple(sorted(FAMILY))


def check_configuration(configuration: Configuration) -> None:
    if configuration.algorithm not in FAMILY:
        message = f"One of: {', '.join(ALGORITHMS)}."
        raise Invalid([Finding("algorithm", message, pointer="/algorithm")])
    if configuration.min_batch > configuration.max_batch:
        raise Invalid([Finding("sizes", "min_batch is above max_batch.", pointer="/min_batch")])
    if configuration.theory is None:
        return
    try:
        theory_settings(configuration.theory, configuration.algorithm, configuration.seed)
    except (ValueError, KeyError, TypeError, OverflowError) as error:
        raise Invalid([Finding("theory", f"Not a model: {_words(error)}.", pointer="/theory")]) from error


def _words(error: Exception) -> str:
    """What is wrong, without what was sent."""
    return (
        str(error) if isinstance(error, ValueError) else "the kernel's description is incomplete or has wrong members"
    )

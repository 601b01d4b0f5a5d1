"""Reported results as canonical JSON, without going through plain values: a call may bring a hundred thousand of them.

The texts are those that `canonical(to_plain(…))` gives, byte for byte.
"""

from json.encoder import encode_basestring
from math import isfinite

from app.domain.codec import canonical, to_plain
from app.domain.events import ObservationsReported
from app.domain.observations import Measured, Outcome, ReportedObservation


def reported_text(event: ObservationsReported) -> str:
    """The payload of an event."""
    members = [f'"observations":[{",".join(map(observation_text, event.observations))}]']
    if event.digest is not None:
        members.insert(0, f'"digest":{encode_basestring(event.digest)}')
    if event.upload is not None:
        members.append(f'"upload":{event.upload}')
    return f"{{{','.join(members)}}}"


def observation_text(reported: ReportedObservation) -> str:
    """One reported result; only one that nobody asked for, without anything beside its values, takes the short way."""
    beside = reported.suggestion, reported.ref, reported.measured_at, reported.measured_by, reported.note
    if beside != _NOTHING_BESIDE or reported.replicate is not None:
        return canonical(to_plain(reported))
    values = outcome_text(reported.values)
    return f'{{"candidate":{reported.candidate},"observation":{reported.observation},"values":{values}}}'


def outcome_text(values: Outcome) -> str:
    """The values of a measurement, as they are kept with it."""
    if len(values) == 1:
        [(name, measured)] = values.items()
        text = _measured_text(measured)
        if text is not None:
            return f"{{{encode_basestring(name)}:{text}}}"
    return canonical(to_plain(values))


_NOTHING_BESIDE = (None,) * 5


def _measured_text(measured: Measured) -> str | None:
    """None for what is no plain finite number, which `canonical` then refuses or writes in its own way."""
    value, std = measured.value, measured.std
    if type(value) is not float or not isfinite(value):
        return None
    if std is None:
        return f'{{"value":{value!r}}}'
    return f'{{"std":{std!r},"value":{value!r}}}' if type(std) is float and isfinite(std) else None

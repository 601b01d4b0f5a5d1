"""Reported results as canonical JSON, without going through plain values: a call may bring a hundred thousand of them.

The texts are those that `canonical(to_plain(…))` gives, byte for byte.
"""

from collections.abc import Sequence
from json.encoder import encode_basestring
from math import isfinite

from app.domain.codec import canonical, to_plain
from app.domain.events import ObservationsReported
from app.domain.observations import Measured, Outcome, PlainObservations, ReportedObservation


def reported_text(event: ObservationsReported) -> str:
    """The payload of an event."""
    observations: Sequence[ReportedObservation] = event.observations
    if isinstance(observations, PlainObservations):
        texts = _plain_texts(observations)
    else:
        texts = [observation_text(reported) for reported in observations]
    members = [f'"observations":[{",".join(texts)}]']
    if event.digest is not None:
        members.insert(0, f'"digest":{encode_basestring(event.digest)}')
    if event.upload is not None:
        members.append(f'"upload":{event.upload}')
    return f"{{{','.join(members)}}}"


def observation_text(reported: ReportedObservation) -> str:
    """One reported result; one that answers a suggestion goes the long way."""
    if reported.suggestion is not None or reported.replicate is not None:
        return canonical(to_plain(reported))
    beside = (("measured_at", reported.measured_at), ("measured_by", reported.measured_by), ("note", reported.note))
    before = "".join(f'"{name}":{encode_basestring(text)},' for name, text in beside if text is not None)
    ref = "" if reported.ref is None else f'"ref":{encode_basestring(reported.ref)},'
    values = outcome_text(reported.values)
    return f'{{"candidate":{reported.candidate},{before}"observation":{reported.observation},{ref}"values":{values}}}'


def outcome_text(values: Outcome) -> str:
    """The values of a measurement, as they are kept with it."""
    if len(values) == 1:
        [(name, measured)] = values.items()
        text = _measured_text(measured)
        if text is not None:
            return f"{{{encode_basestring(name)}:{text}}}"
    return canonical(to_plain(values))


def outcome_texts(observations: PlainObservations) -> list[str]:
    """The same of many, whose values are finite."""
    beginning = plain_beginning(observations.quantity)
    return [f"{beginning}{value!r}}}}}" for value in observations.values]


def plain_beginning(quantity: str) -> str:
    """How the text of a single value begins; the number and two brackets follow. Every other text begins otherwise."""
    return f'{{{encode_basestring(quantity)}:{{"value":'


def _plain_texts(observations: PlainObservations) -> list[str]:
    name, first = encode_basestring(observations.quantity), observations.first
    pairs = enumerate(zip(observations.candidates, observations.values, strict=True), start=first)
    return [
        f'{{"candidate":{candidate},"observation":{number},"values":{{{name}:{{"value":{value!r}}}}}}}'
        for number, (candidate, value) in pairs
    ]


def _measured_text(measured: Measured) -> str | None:
    """None for what is no plain finite number, which `canonical` then refuses or writes in its own way."""
    value, std = measured.value, measured.std
    if type(value) is not float or not isfinite(value):
        return None
    if std is None:
        return f'{{"value":{value!r}}}'
    return f'{{"std":{std!r},"value":{value!r}}}' if type(std) is float and isfinite(std) else None

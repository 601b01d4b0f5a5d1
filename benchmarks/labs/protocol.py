"""How long a study is and in what portions it is asked for."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Protocol:
    """T measurements in batches of q, of the true values or of single noisy measurements."""

    T: int = 60
    q: int = 5
    noisy: bool = False

    @property
    def name(self) -> str:
        """Such as T60 q5 noisy."""
        return f"T{self.T} q{self.q}" + (" noisy" if self.noisy else "")


PROTOCOLS = {
    protocol.name: protocol
    for noisy in (False, True)
    for protocol in (Protocol(60, 5, noisy), Protocol(120, 10, noisy), Protocol(50, 1, noisy))
}

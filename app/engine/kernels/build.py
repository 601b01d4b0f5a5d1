"""From a plain description back to the kernel it describes."""

from collections.abc import Callable, Sequence

from app.engine.kernels.base import Description, Kernel
from app.engine.kernels.composite import Columns, Product, Scaled, Sum
from app.engine.kernels.dot_product import Linear, Polynomial, Tanimoto
from app.engine.kernels.stationary import Gaussian, Matern


def build(description: Description) -> Kernel:
    """The kernel that was described: build(kernel.describe()) == kernel. ValueError if there is none."""
    kind = description.get("kind")
    if kind not in KINDS:
        raise ValueError(f"unknown kernel kind {kind!r}: one of {', '.join(KINDS)}")
    fields = {name: value for name, value in description.items() if name != "kind"}
    try:
        return KINDS[kind](**fields)
    except (TypeError, AttributeError) as error:
        raise ValueError(f"kernel {kind!r} cannot be built from {fields}: {error}") from error


def _lengthscale(value: float | Sequence[float]) -> float | tuple[float, ...]:
    return tuple(map(float, value)) if isinstance(value, Sequence) else float(value)


def _gaussian(lengthscale: float | Sequence[float] = 1.0) -> Kernel:
    return Gaussian(_lengthscale(lengthscale))


def _matern(lengthscale: float | Sequence[float] = 1.0, nu: float = 2.5) -> Kernel:
    return Matern(_lengthscale(lengthscale), nu)


def _scaled(part: Description, amplitude: float = 1.0) -> Kernel:
    return Scaled(build(part), amplitude)


def _columns(part: Description, columns: Sequence[int]) -> Kernel:
    return Columns(build(part), tuple(columns))


def _sum(parts: Sequence[Description]) -> Kernel:
    return Sum(tuple(map(build, parts)))


def _product(parts: Sequence[Description]) -> Kernel:
    return Product(tuple(map(build, parts)))


KINDS: dict[str, Callable[..., Kernel]] = {
    "gaussian": _gaussian,
    "matern": _matern,
    "linear": Linear,
    "polynomial": Polynomial,
    "tanimoto": Tanimoto,
    "scaled": _scaled,
    "columns": _columns,
    "sum": _sum,
    "product": _product,
}

"""The pages of `docs/reference` that are made from the code: `make reference` writes them anew.

A test compares them with the code, so a new setting, command or operation appears in them or fails it.
"""

import inspect
import json
from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from pathlib import Path
from typing import Any

import typer.main
from pydantic import BaseModel

import nextbatch
from app.api.openapi import TAGS
from app.api.schemas.asks import AskIn, CompositionIn, InclusionIn
from app.api.schemas.quantities import ConstraintSettings, LimitsSettings, ObjectiveSettings, TheorySettings
from app.api.schemas.studies import StopRule, StudySettings
from app.cli import command
from app.engine import ALGORITHMS
from app.engine.kernels.build import build
from app.main import create_app
from app.settings import Settings
from nextbatch._sync_and_async import sync_and_async

FOLDER = Path(__file__).parent / "reference"
MADE = "<!-- Made from the code by `make reference`; do not edit. -->"
Json = dict[str, Any]

STUDY_PARTS: dict[str, type[BaseModel]] = {
    "The study": StudySettings,
    "Limits": LimitsSettings,
    "An objective": ObjectiveSettings,
    "A constraint": ConstraintSettings,
    "The stop rule": StopRule,
    "Theory: a model that you fix": TheorySettings,
}
ASK_PARTS: dict[str, type[BaseModel]] = {
    "The ask": AskIn,
    "A candidate of your own": InclusionIn,
    "The composition of a batch": CompositionIn,
}
HANDLES: tuple[type, ...] = (nextbatch.Client, nextbatch.Study, nextbatch.Batch, nextbatch.Suggestion, nextbatch.Events)
KERNELS: tuple[Json, ...] = (
    {"kind": "gaussian", "lengthscale": 0.5},
    {"kind": "matern", "nu": 2.5, "lengthscale": [0.3, 1.2]},
    {"kind": "linear"},
    {"kind": "polynomial", "degree": 2},
    {"kind": "tanimoto"},
    {"kind": "scaled", "amplitude": 2.0, "part": {"kind": "gaussian"}},
    {"kind": "columns", "columns": [0, 2], "part": {"kind": "gaussian"}},
    {"kind": "sum", "parts": [{"kind": "gaussian"}, {"kind": "linear"}]},
    {"kind": "product", "parts": [{"kind": "gaussian"}, {"kind": "linear"}]},
)


def pages() -> dict[str, str]:
    """Every page by its name, as it should be."""
    return {
        "study-settings.md": study_settings(),
        "asks.md": asks(),
        "http.md": operations(),
        "commands.md": commands(),
        "python.md": python_client(),
    }


def study_settings() -> str:
    text = (
        f"# Study settings\n\n{MADE}\n\nEvery setting has a default that works: `PUT /v1/studies/{{study}}` with "
        '`{"direction": "maximize"}` creates a study. The Python client takes the same names as arguments.\n'
    )
    text += "".join(f"\n## {title}\n\n{_settings_table(shape)}" for title, shape in STUDY_PARTS.items())
    rows = "".join(f"| `{kernel['kind']}` | {_kernel_words(kernel)} | {_code(kernel)} |\n" for kernel in KERNELS)
    names = ", ".join(f"`{name}`" for name in ALGORITHMS)
    return (
        f"{text}\n### Kernels\n\n| kind | what it is | example |\n|---|---|---|\n{rows}"
        f"\n### Algorithms\n\nThe values of `algorithm`: {names}. [The engine](../engine.md) says what they are.\n"
    )


def asks() -> str:
    text = (
        f"# Asks\n\n{MADE}\n\nThe body of `POST /v1/studies/{{study}}/batches`. Everything may be left out. "
        "[Conditions](../api.md#conditions) describes `where`.\n"
    )
    return text + "".join(f"\n## {title}\n\n{_settings_table(shape)}" for title, shape in ASK_PARTS.items())


def operations() -> str:
    """The operations of the API by their tags; `/docs` on a server has their parameters and answers."""
    text = (
        f"# HTTP operations\n\n{MADE}\n\nA running server shows parameters, bodies and answers of every operation on "
        "`/docs`, and the OpenAPI document on `/openapi.json`. [The API by example](../api.md) shows how they "
        "work together; [problems](../problems.md) lists the errors.\n"
    )
    paths: Json = create_app(Settings()).openapi()["paths"]
    for tag, words in TAGS.items():
        rows = "".join(
            f"| {method.upper()} | `{path}` | {operation['summary']} |\n"
            for path, methods in paths.items()
            for method, operation in methods.items()
            if tag in operation["tags"]
        )
        if rows:
            text += f"\n## {tag.capitalize()}\n\n{words}\n\n| method | address | what it does |\n|---|---|---|\n{rows}"
    return text


def commands() -> str:
    text = (
        f"# Commands\n\n{MADE}\n\nEvery command explains itself: `nextbatch --help`, `nextbatch ask --help`. "
        "A command that talks to a server finds the one on this machine; `--url` and `--key`, or `NEXTBATCH_URL` and "
        "`NEXTBATCH_KEY`, name another.\n"
    )
    for name, entry in _commands("nextbatch", typer.main.get_command(command)):
        usage = " ".join([name, *(parameter.name.upper() for parameter in entry.params if _is_argument(parameter))])
        text += f"\n## {name}\n\n{_paragraphs(entry.help)}\n\n    {usage}\n"
        rows = "".join(_parameter_row(parameter) for parameter in entry.params if not parameter.hidden)
        text += f"\n| | default | meaning |\n|---|---|---|\n{rows}" if rows else ""
    return text


def python_client() -> str:
    """The handles with their methods, then the plain answers with their fields, then the errors."""
    text = (
        f"# The Python client\n\n{MADE}\n\n[For the programmer](../client.md) shows it in use. `AsyncClient` has the "
        "same methods, and they are awaited.\n"
    )
    public: list[type] = [getattr(nextbatch, name) for name in sorted(nextbatch.__all__)]
    for handle in HANDLES:
        text += f"\n## {handle.__name__}\n\n{_docstring(handle)}" + "".join(_methods(handle))
    text += "\n## Answers\n"
    for answer in public:
        if is_dataclass(answer):
            listed = "".join(f"- `{field.name}: {field.type}`\n" for field in fields(answer))
            text += f"\n### {answer.__name__}\n\n{_paragraphs(answer.__doc__)}\n\n{listed}"
    errors = [error for error in public if issubclass(error, nextbatch.NextbatchError)]
    rows = "".join(f"| `{error.__name__}` | {_cell(_paragraphs(error.__doc__))} |\n" for error in errors)
    return f"{text}\n## Errors\n\n| error | when |\n|---|---|\n{rows}"


def _methods(handle: type) -> Iterator[str]:
    """Every public method in the order of the source, with its signature and docstring."""
    for owner in reversed(handle.__mro__):
        for name, entry in vars(owner).items():
            method = entry.method if isinstance(entry, sync_and_async) else entry
            if name.startswith("_") or not inspect.isfunction(method):
                continue
            signature = inspect.signature(method)
            shown = [
                parameter.replace(annotation=_Bare(parameter.annotation))
                for parameter in list(signature.parameters.values())[1:]
            ]
            call = signature.replace(parameters=shown, return_annotation=_Bare(signature.return_annotation))
            yield f"\n### {handle.__name__}.{name}\n\n```python\n{name}{call}\n```\n\n{_docstring(method)}"


def _docstring(entry: object) -> str:
    """The text, and the example if there is one."""
    text, _, example = inspect.cleandoc(entry.__doc__ or "").partition("\n>>> ")
    return f"{_paragraphs(text)}\n" + (f"\n```pycon\n>>> {example}\n```\n" if example else "")


class _Bare(str):
    """An annotation that is shown without quotation marks."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self).replace("[ConnectionT]", "")


def _settings_table(shape: type[BaseModel]) -> str:
    schema = shape.model_json_schema()
    rows = "".join(
        f"| `{name}` | {_values(field)} | {_default(field, name in schema.get('required', ()))} | "
        f"{_cell(field.get('description', ''))} | {_code(_example(field))} |\n"
        for name, field in schema["properties"].items()
    )
    introduction = _paragraphs(shape.__doc__) + "\n\n" if shape.__doc__ else ""
    return f"{introduction}| setting | values | default | meaning | example |\n|---|---|---|---|---|\n{rows}"


def _values(field: Json) -> str:
    """The values that a setting may have, in words."""
    if "anyOf" in field:
        return " or ".join(dict.fromkeys(_values(option) for option in field["anyOf"] if option != {"type": "null"}))
    if "enum" in field:
        return ", ".join(_code(value) for value in field["enum"])
    if "const" in field:
        return _code(field["const"])
    if "$ref" in field:
        return "an object"
    kind = {"boolean": "true, false", "string": "text", "array": "a list", "object": "an object"}
    bounds = [f"{words} {_number(field[name])}" for name, words in _BOUNDS.items() if name in field]
    word = {"integer": "a whole number", "number": "a number"}.get(field["type"], kind.get(field["type"], "text"))
    return f"{word}, {', '.join(bounds)}" if bounds else word


_BOUNDS = {"minimum": "at least", "exclusiveMinimum": "above", "maximum": "at most", "exclusiveMaximum": "below"}


def _number(value: float) -> str:
    return f"{value:,.0f}".replace(",", " ") if 1_000 <= value < 1e12 else f"{value:g}"


def _default(field: Json, required: bool) -> str:
    if required:
        return "must be given"
    default = field.get("default")
    return "none" if default in (None, "", [], {}) and default is not False else _code(default)


def _example(field: Json) -> object:
    """The stated example; a choice and a flag explain themselves."""
    if "examples" in field:
        return field["examples"][0]
    if "enum" in field:
        return field["enum"][-1]
    if field.get("type") == "boolean":
        return True
    raise LookupError(f"the setting {field.get('title')} has no example")


def _kernel_words(kernel: Json) -> str:
    return _cell((type(build(kernel)).__doc__ or "").strip().splitlines()[0])


def _commands(name: str, entry: Any) -> Iterator[tuple[str, Any]]:
    """A command, and those of its group, by their full names. (Typer has no public name for their type.)"""
    if hasattr(entry, "commands"):
        for part, below in entry.commands.items():
            yield from _commands(f"{name} {part}", below)
    else:
        yield name, entry


def _is_argument(parameter: Any) -> bool:
    return bool(parameter.param_type_name == "argument")


def _parameter_row(parameter: Any) -> str:
    name = parameter.name.upper() if _is_argument(parameter) else ", ".join(parameter.opts)
    default = parameter.default
    shown = "must be given" if parameter.required else "none" if default in (None, False, ()) else _code(str(default))
    return f"| `{name}` | {shown} | {_cell(parameter.help or '')} |\n"


def _paragraphs(text: str | None) -> str:
    return "\n\n".join(" ".join(part.split()) for part in (text or "").strip().split("\n\n"))


def _cell(text: str) -> str:
    return " ".join(text.split()).replace("|", "\\|")


def _code(value: object) -> str:
    return f"`{json.dumps(value, ensure_ascii=False)}`".replace("|", "\\|")


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    for name, text in pages().items():
        (FOLDER / name).write_text(text)


if __name__ == "__main__":
    main()

"""Plans of experiments: options in a TOML file, with the names and types of a dataclass."""

from __future__ import annotations

import hashlib
import importlib.resources
import json
import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, TypeVar, get_type_hints

from karatage.data.note import Note
from karatage.errors import DataError, InputFileError, KaratageError, OptionError, UnknownNameError
from karatage.experiments.notes import tell
from karatage.io.files import PathLike
from karatage.text import shorten

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Plain = str | int | float | bool
Value = Plain | tuple[Plain, ...] | None
T = TypeVar("T", bound="DataclassInstance")
TABLE = "experiment"  # of the file, with all options in it
FILE = "plan.toml"


@dataclass(frozen=True)
class Plan(Generic[T]):
    """The kind of an experiment, and all its options."""

    kind: str
    options: T

    def to_dict(self) -> dict[str, Value]:
        """The options by name."""
        return asdict(self.options)

    @property
    def fingerprint(self) -> str:
        """Identifies the options, from any source."""
        return hashlib.sha256(json.dumps([self.kind, self.to_dict()], sort_keys=True).encode()).hexdigest()

    def to_toml(self) -> str:
        """The content of a plan file; an option that is None is left out."""
        lines = [f"# To do the same again: karatage experiment {self.kind} --plan {FILE}", f"[{TABLE}]"]
        given = {"kind": self.kind, **self.to_dict()}
        lines += [f"{name} = {_write(value)}" for name, value in given.items() if value is not None]
        return "\n".join(lines) + "\n"


def check_lists(**lists: Sequence[object]) -> None:
    """Refuse lists, by the name of a member, that are empty or have a member twice."""
    for name, given in lists.items():
        what = name.replace("_", " ")
        if not given:
            raise OptionError(f"the plan has no {what}; give at least one")
        if len(set(given)) < len(given):
            raise OptionError(f"the plan has the same {what} twice: {', '.join(map(str, given))}")


def make_plan(
    schema: type[T],
    kind: str,
    *,
    preset: str | None = None,
    path: PathLike | None = None,
    given: Mapping[str, object] | None = None,
) -> Plan[T]:
    """Options from a preset or a file; those `given` replace them unless they are None.

    Args:
        schema: A frozen dataclass with a default for each option. Options are text, whole numbers, numbers, bools,
            Literals of text and tuples of these; each may also be None. Its `earlier` values are those of options that
            older files lack.
        kind: The experiment's name.
        preset: One of `list_presets`.
        path: A plan file.
        given: Options by name.
    """
    if preset is not None and path is not None:
        raise OptionError("a preset and a plan are two plans; give one of them; other options may be added")
    chosen: dict[str, Value] = {}
    if preset is not None:
        name = f"preset {kind}-{preset}"
        chosen |= _read(_find_preset(kind, preset).read_text("utf-8"), name, schema, kind)
    if path is not None:
        from karatage.io.sources import Source

        source = Source(str(path))
        try:
            text = source.read(store=True).decode()
        except UnicodeDecodeError:
            raise InputFileError(source.name, None, "is not text in UTF-8, so it is not a plan") from None
        chosen |= {**getattr(schema, "earlier", {}), **_read(text, source.name, schema, kind)}
        try:
            schema(**chosen)
        except KaratageError as problem:
            raise InputFileError(source.name, None, str(problem)) from None
    hints = _declare(schema)
    for name, value in (given or {}).items():
        if name not in hints:
            raise UnknownNameError("option", name, hints)
        if value is not None:
            chosen[name] = _check(name, value, hints[name])
    return Plan(kind, schema(**chosen))


def narrow_options(schema: type[T], options: DataclassInstance) -> T:
    """The experiment's part of a command's options; the others name files."""
    return schema(**{field.name: getattr(options, field.name) for field in fields(schema)})


def read_plan(path: PathLike, schema: type[T], kind: str) -> Plan[T]:
    """The plan in a file; other options have the dataclass' `earlier` values or defaults."""
    return make_plan(schema, kind, path=path)


def write_plan(plan: Plan[T], folder: PathLike) -> tuple[Note, ...]:
    """Write a plan to the folder of its results; a note tells if the folder has results of another plan."""
    from karatage.io.writing import write_bytes

    path = Path(folder) / FILE
    notes = _tell_difference(path, plan) if path.is_file() else ()
    if notes or not path.is_file():  # a file with the same plan is not replaced; it may have comments
        write_bytes(path, plan.to_toml().encode())
    return notes


def list_presets(kind: str) -> list[str]:
    """The plans that come with karatage."""
    names = (entry.name for entry in _presets().iterdir()) if _presets().is_dir() else ()
    return sorted(name[len(kind) + 1 : -5] for name in names if name.startswith(f"{kind}-") and name.endswith(".toml"))


def _presets() -> Traversable:
    return importlib.resources.files("karatage.experiments") / "presets"


def _find_preset(kind: str, preset: str) -> Traversable:
    known = list_presets(kind)
    if preset not in known:
        raise UnknownNameError(f"preset of {kind}", preset, known)
    return _presets() / f"{kind}-{preset}.toml"


def _tell_difference(path: Path, plan: Plan[T]) -> tuple[Note, ...]:
    """The differences from the stored plan; a file that is not a plan differs in all options."""
    try:
        found = tomllib.loads(path.read_text("utf-8", errors="replace")).get(TABLE, {})
    except tomllib.TOMLDecodeError:
        found = {}
    found = {**getattr(plan.options, "earlier", {}), **found}
    wanted = tomllib.loads(plan.to_toml())[TABLE]
    other = tuple(name for name in {**found, **wanted} if found.get(name) != wanted.get(name))
    return tell.when(other, "other-plan", folder=str(path.parent), options=other)


def _read(text: str, name: str, schema: type[T], kind: str) -> dict[str, Value]:
    """The options in a file, checked."""
    try:
        content = tomllib.loads(text.removeprefix("\N{BYTE ORDER MARK}"))
    except tomllib.TOMLDecodeError as problem:
        found = re.search(r"line (\d+)", str(problem))
        line = int(found[1]) if found else len(text.splitlines())
        raise InputFileError(name, line, f"is not TOML: {shorten(str(problem), 120)}") from None
    except RecursionError:
        raise InputFileError(name, None, "is nested too deeply to be a plan") from None
    stray = next((key for key in content if key != TABLE), None)
    options = content.get(TABLE)
    if stray is not None or not isinstance(options, dict):
        where = None if stray is None else _find_line(text, stray)
        raise InputFileError(name, where, f"a plan has only options, all of them under [{TABLE}]")
    if options.get("kind") != kind:
        from karatage.data.plain import show

        told = f"kind = {show(options['kind'])}" if "kind" in options else "no kind"
        raise InputFileError(name, _find_line(text, "kind"), f'has {told}, but this is kind = "{kind}"')
    hints = _declare(schema)
    chosen: dict[str, Value] = {}
    for key, value in options.items():
        try:
            if key not in {"kind", *hints}:
                raise UnknownNameError("option", key, ["kind", *hints])
            if key != "kind":
                chosen[key] = _check(key, value, hints[key])
        except KaratageError as problem:
            raise InputFileError(name, _find_line(text, key), str(problem)) from None
    return chosen


def _find_line(text: str, key: str) -> int | None:
    found = re.search(rf"""^\s*\[?["']?{re.escape(key)}\b""", text, re.MULTILINE)
    return None if found is None else text.count("\n", 0, found.end()) + 1


def _declare(schema: type[T]) -> dict[str, Any]:
    hints = get_type_hints(schema)
    return {field.name: hints[field.name] for field in fields(schema)}


def _check(name: str, value: object, hint: Any) -> Value:
    """A value of the dataclass' type: a list becomes a tuple, a whole number a number."""
    from karatage.data.codec import structure

    try:
        found: Value = structure({name: list(value) if isinstance(value, tuple) else value}, dict[str, hint])[name]
        _write(found).encode()
    except DataError as problem:
        raise OptionError(str(problem)) from None
    except UnicodeEncodeError:
        raise OptionError(f"{name} has half a character, which a file cannot contain") from None
    return found


def _write(value: Value) -> str:
    if isinstance(value, tuple):
        return f"[{', '.join(map(_write, value))}]"
    if isinstance(value, float):
        return repr(value)
    # TOML writes text as JSON does, except for one more character that it escapes.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")

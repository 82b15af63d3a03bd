"""The reference of the Python interface, from docstrings and the comments beside fields."""

from __future__ import annotations

import dataclasses
import inspect
import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from operator import attrgetter

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

import karatage

MODULES = (karatage, *(getattr(karatage, name) for name in ("stats", "charts", "experiments", "simulation")))
PUBLIC = {module.__name__: module.__all__ for module in MODULES}
RESULTS: set[str] = set()  # classes that functions return and nobody constructs
# What classes inherit is shown too, such as a model's `fit`, except for what all results, tuples and exceptions have.
MEMBERS = "   :members:\n   :inherited-members: Result, Shown, tuple, BaseException\n"


def describe_public(names: Sequence[str]) -> str:
    """Functions, and classes that a user constructs."""
    return _ask_autodoc(names)


def describe_results(names: Sequence[str]) -> str:
    """Classes that functions return: no constructor is shown."""
    RESULTS.update(names)
    return _ask_autodoc(names)


def describe_fields(app: Sphinx, what: str, name: str, subject: object, options: object, lines: list[str]) -> None:
    """Add a class's fields, with the comment that stands beside each, unless the docstring describes them."""
    del app, name, options
    if what != "class" or not inspect.isclass(subject) or "Args:" in lines:
        return
    fields = dict(_find_fields(subject))
    if fields:
        lines += ["", "Attributes:", *(f"    {field} ({kind}): {note}" for field, (kind, note) in fields.items()), ""]


def hide_constructor(
    app: Sphinx, what: str, name: str, subject: object, options: object, *signature: str | None
) -> tuple[None, None] | None:
    """Results are made by functions, so how they are constructed does not matter."""
    del app, subject, options, signature
    return (None, None) if what == "class" and name.removeprefix("karatage.") in RESULTS else None


def find_public(app: Sphinx, env: BuildEnvironment, node: pending_xref, content: nodes.Element) -> nodes.Element | None:
    """Lead a name of an inner module to the public one; names of other libraries and inner ones stay as text."""
    target = node.get("reftarget", "")
    if node.get("refdomain") != "py":
        return None
    public = target.rpartition(".")[2]
    place = next((f"{home}.{public}" for home, names in PUBLIC.items() if public in names), None)
    if place is not None:
        domain = env.get_domain("py")
        return domain.resolve_xref(env, node["refdoc"], app.builder, "obj", place, node, content)
    return content


def _ask_autodoc(names: Sequence[str]) -> str:
    blocks = (
        f".. auto{_kind(name)}:: karatage.{name}\n" + (MEMBERS if _kind(name) == "class" else "") for name in names
    )
    return "```{eval-rst}\n" + "\n".join(blocks) + "```"


def _kind(name: str) -> str:
    subject = attrgetter(name)(karatage)
    if inspect.isclass(subject):
        return "exception" if issubclass(subject, BaseException) else "class"
    return "function"


def _find_fields(subject: type) -> Iterator[tuple[str, tuple[str, str]]]:
    """Each field of a dataclass or named tuple, its type and the comment beside it."""
    names = (
        {field.name for field in dataclasses.fields(subject)}
        if dataclasses.is_dataclass(subject)
        else set(getattr(subject, "_fields", ()))
    )
    if not names:
        return
    notes = _read_comments(inspect.getsource(subject))
    for name, kind in subject.__annotations__.items():
        if name in names and not name.startswith("_"):
            yield name, (str(kind), notes.get(name, ""))


def _read_comments(source: str) -> dict[str, str]:
    """Comments at the end of a line that starts with a field's name."""
    tokens = tokenize.generate_tokens(io.StringIO(inspect.cleandoc(source)).readline)
    found = {}
    for token in tokens:
        field = re.match(r"    (\w+): ", token.line)
        if token.type == tokenize.COMMENT and field and "noqa" not in token.string:
            found[field[1]] = token.string.lstrip("# ")
    return found

"""Edits of saved results, hostile or careless: shared by the gate and the soak.

`edit_anything` breaks the structure, `garble` the text, and `change_numbers` changes one number at a time. `read` reads
what comes out and, where it is accepted, does all that can be done with a result: only a KaratageError may be raised.
"""

from __future__ import annotations

import copy
import inspect
import json
import math
import random
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import karatage as kt
from karatage.data.disagreement import DroppedTopic, HeldOut, TopicModel
from karatage.errors import KaratageError
from karatage.views import html as pages
from karatage.views.html import clean_chart
from karatage.views.reading import restore
from karatage.views.showing import lay_out
from karatage.views.table import to_latex, to_markdown

Place = tuple[str | int, ...]
LONGEST_MESSAGE = 800
TINY = 1e-8
HOSTILE_NAMES = (
    *(
        "",
        " ",
        "\0",
        "\x1b[31mred\x1b[0m",
        "\u202egnp",
        "\u2066x",
        "\ud800",
        "../../etc/passwd",
        "C:\\x",
        "a/b",
        ".",
        "-rf",
    ),
    *(
        "</script><script>alert(1)</script>",
        "=1+1",
        "@SUM(A1)",
        "+1",
        "'\"`",
        "{{7*7}}",
        "${x}",
        "%s%n",
        "a\nb",
        "a\tb",
    ),
    *(
        "NaN",
        "null",
        "infinite",
        "-infinite",
        "1e400",
        "judge:",
        "judge:x",
        "judge",
        "gold",
        "x" * 5000,
        "😀" * 50,
        "é",
    ),
    *(
        "AP",
        "nDCG@20",
        "P@5",
        "mv",
        "uniform",
        "int64",
        "float",
        "money2",
        "money99",
        "nothing",
        "copied",
        "best merge",
    ),
    *("pairs", "none", "expert", "crowd", "topics", "error_correlation_within", "alpha_ordinal", "polars", "__class__"),
)
HOSTILE_VALUES: tuple[Any, ...] = (
    *(
        None,
        True,
        False,
        0,
        1,
        -1,
        2,
        3,
        0.5,
        -0.5,
        1.5,
        1e-320,
        1e308,
        -1e308,
        10**400,
        2**31,
        2**63,
        -(2**63) - 1,
        1e17,
    ),
    *([], {}, [[]], [None], [{}], {"": None}, {"kind": "board"}, [0], [1.0, 2.0], "0.5", "1", 127, 128, 255, 1e-12),
)


def list_places(value: Any, place: Place = ()) -> Iterator[Place]:
    """Where something stands, objects, lists and leaves."""
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for step, member in members:
        yield (*place, step)
        yield from list_places(member, (*place, step))


def list_numbers(facts: Any) -> list[Place]:
    """Where numbers stand."""
    return [
        place for place in list_places(facts) if is_number(look_up(facts, place)) and not _is_rounding(facts, place)
    ]


def _is_rounding(facts: Any, place: Place) -> bool:
    """Numbers so near 0 that a change is within what machines differ by."""
    value = look_up(facts, place)
    return isinstance(value, float) and 0 < abs(value) < TINY


def is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def look_up(facts: Any, place: Place) -> Any:
    for step in place:
        facts = facts[step]
    return facts


def describe(place: Place) -> str:
    """A place without the numbers of its rows, by which leaves are listed: `systems.*.naive_low`."""
    return ".".join("*" if isinstance(step, int) else step for step in place)


@dataclass
class Subject:
    """A result's JSON, and where there is something to edit."""

    name: str
    text: str
    reader: Callable[[Path], Any] = lambda path: kt.read_result(path).result
    counts: Counter[str] = field(default_factory=Counter)

    @cached_property
    def facts(self) -> Any:
        return json.loads(self.text)

    @cached_property
    def places(self) -> list[Place]:
        return list(list_places(self.facts))

    def pick(self, rng: random.Random) -> Place:
        """A place, as often near the top as deep in a table."""
        place = rng.choice(self.places)
        return place[: rng.randint(1, len(place))]


def edit_anything(subject: Subject, rng: random.Random) -> Any:
    """One to three edits of the structure."""
    facts = copy.deepcopy(subject.facts)
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        try:
            rng.choice(EDITS)(facts, subject.pick(rng), rng)
        except (LookupError, TypeError, AttributeError, ValueError, OverflowError):
            continue  # an earlier edit has taken the place away, or it holds no such thing
    return facts


def _delete(facts: Any, place: Place, _: random.Random) -> None:
    del look_up(facts, place[:-1])[place[-1]]


def _replace(facts: Any, place: Place, rng: random.Random) -> None:
    value = rng.choice((rng.choice(HOSTILE_VALUES), rng.choice(HOSTILE_NAMES)))
    look_up(facts, place[:-1])[place[-1]] = copy.deepcopy(value)


def _rename(facts: Any, place: Place, rng: random.Random) -> None:
    """A key, or text that is a name elsewhere too: there it may stay."""
    parent = look_up(facts, place[:-1])
    if isinstance(parent, dict):
        parent[rng.choice(HOSTILE_NAMES)] = parent.pop(place[-1])
    else:
        parent[place[-1]] = rng.choice(HOSTILE_NAMES)


def _rename_all(facts: Any, place: Place, rng: random.Random) -> None:
    """A name everywhere, so that the result still hangs together."""
    old, new = look_up(facts, place), rng.choice(HOSTILE_NAMES)
    if isinstance(old, str) and len(place) > 1:
        for at in list(list_places(facts)):
            if look_up(facts, at) == old:
                look_up(facts, at[:-1])[at[-1]] = new


def _repeat(facts: Any, place: Place, rng: random.Random) -> None:
    several = look_up(facts, place)
    several.insert(rng.randint(0, len(several)), copy.deepcopy(rng.choice(several)))


def _shorten(facts: Any, place: Place, rng: random.Random) -> None:
    several = look_up(facts, place)
    del several[rng.randint(0, len(several) - 1) :]


def _swap(facts: Any, place: Place, rng: random.Random) -> None:
    several = look_up(facts, place)
    keys = list(several) if isinstance(several, dict) else list(range(len(several)))
    a, b = rng.choice(keys), rng.choice(keys)
    several[a], several[b] = several[b], several[a]


def _nest(facts: Any, place: Place, rng: random.Random) -> None:
    parent = look_up(facts, place[:-1])
    for _ in range(rng.choice((1, 2, 400))):
        parent[place[-1]] = [parent[place[-1]]]


def _change_number(facts: Any, place: Place, rng: random.Random) -> None:
    parent = look_up(facts, place[:-1])
    parent[place[-1]] = change_number(parent[place[-1]], rng.choice(tuple(CHANGES)))


EDITS = (
    _delete,
    _replace,
    _replace,
    _rename,
    _rename_all,
    _repeat,
    _shorten,
    _swap,
    _nest,
    _change_number,
    _change_number,
)
CHANGES: dict[str, Callable[[Any], Any]] = {
    "negative": lambda value: -value if value else -1,
    "doubled": lambda value: value * 2 if value else 1,
    "half more": lambda value: value + 0.5,
}


def change_number(value: Any, change: str) -> Any:
    """A number changed, whole numbers to whole ones but for halves."""
    if not is_number(value):
        raise TypeError
    return CHANGES[change](value)


class Changed(NamedTuple):
    """A number that was changed."""

    place: str
    change: str
    refused: bool


def change_numbers(subject: Subject, most: int, rng: random.Random) -> Iterator[Changed]:
    """So many changes of single numbers at most, each tried by reading the result; all kinds of change at a place."""
    facts, places = copy.deepcopy(subject.facts), list_numbers(subject.facts)
    changes = [(place, change) for place in places for change in CHANGES]
    for place, change in rng.sample(changes, min(most, len(changes))):
        parent = look_up(facts, place[:-1])
        known = parent[place[-1]]
        parent[place[-1]] = change_number(known, change)
        try:
            restore(facts)
            refused = False
        except KaratageError as problem:
            check_message(problem)
            refused = True
        parent[place[-1]] = known
        yield Changed(describe(place), change, refused)


def change_names(subject: Subject, home: Path, rng: random.Random) -> int:
    """A text of every sort replaced by a hostile name, alone and everywhere; how many were accepted and used."""
    sorts = {describe(place): place for place in subject.places if isinstance(look_up(subject.facts, place), str)}
    accepted = 0
    for place in sorts.values():
        for change in (_rename_one, _rename_all):
            facts = copy.deepcopy(subject.facts)
            change(facts, place, rng)
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("error")
                    accepted += read(json.dumps(facts).encode(), home / "result.json", subject.reader)
            except Exception as problem:
                problem.add_note(f"{subject.name}: {str(list_differences(subject.facts, facts))[:1500]}")
                raise
    return accepted


def _rename_one(facts: Any, place: Place, rng: random.Random) -> None:
    look_up(facts, place[:-1])[place[-1]] = rng.choice(HOSTILE_NAMES)


def garble(subject: Subject, rng: random.Random) -> bytes:
    """The text with bytes flipped, left out or put in, or cut short."""
    content = bytearray(subject.text.encode())
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(content) or 1)
        match rng.randrange(5):
            case 0:
                content[at : at + 1] = bytes([rng.randrange(256)])
            case 1:
                del content[at : at + rng.choice((1, 2, 30))]
            case 2:
                content[at:at] = rng.choice(
                    (b"NaN", b"Infinity", b"-", b"1e400", b'"', b",", b"[", b"}", b"\0", b"[" * 5000)
                )
            case 3 if rng.random() < 0.3:
                del content[at:]
            case _:
                other = rng.randrange(len(content) or 1)
                content[at : at + 1], content[other : other + 1] = content[other : other + 1], content[at : at + 1]
    return bytes(content)


def read(content: bytes, path: Path, reader: Callable[[Path], Any]) -> bool:
    """Whether a result is accepted; then all that can be done with it is done."""
    path.write_bytes(content)
    try:
        result = reader(path)
    except KaratageError as problem:
        check_message(problem)
        return False
    use(result)
    return True


def check_message(problem: KaratageError) -> None:
    message = str(problem)
    assert "\n" not in message, message
    assert len(message) < LONGEST_MESSAGE, message
    assert message.isprintable(), message


def use(result: Any) -> None:
    """All that a result offers without arguments, and its page with tables and charts, which are not drawn."""
    for name in list_offers(type(result)):
        with suppress(KaratageError):
            found = getattr(result, name)
            if inspect.ismethod(found):
                found()
    try:
        page = lay_out(result)
    except KaratageError:
        return
    pages.render_excerpt(page)
    for _, table in page.tables:
        to_latex(table), to_markdown(table)
    for _, figure in page.figures:
        clean_chart(figure.chart)


def list_offers(kind: type) -> list[str]:
    """Properties, and methods that need nothing; `plot` and what notebooks show are the page's."""
    offers = []
    for name in dir(kind):
        if name in {"plot"} or (name.startswith("_") and name != "__repr__"):
            continue
        found = inspect.getattr_static(kind, name)
        if isinstance(found, property | cached_property):
            offers.append(name)
        elif inspect.isfunction(found):
            needed = list(inspect.signature(found).parameters.values())[1:]
            if all(one.default is not one.empty for one in needed):
                offers.append(name)
    return offers


def fuzz(subject: Subject, rng: random.Random, home: Path) -> None:
    """One edit, whatever it is; what was edited is told where something else than a KaratageError comes out."""
    way = rng.choice(("structure", "structure", "structure", "text"))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        if way == "text":
            content: Any = garble(subject, rng)
        else:
            content = edit_anything(subject, rng)
        try:
            text = content if way == "text" else json.dumps(content).encode()
            accepted = read(text, home / "result.json", subject.reader)
        except Exception as problem:
            shown = content.decode(errors="replace") if way == "text" else list_differences(subject.facts, content)
            problem.add_note(f"{subject.name}, {way}: {str(shown)[:1500]}")
            raise
    subject.counts["used" if accepted else "refused"] += 1


def list_differences(before: Any, after: Any, place: str = "") -> list[str]:
    """What was edited, in short."""
    if isinstance(before, dict) and isinstance(after, dict):
        keys = [*before, *(key for key in after if key not in before)]
        parts = [(before.get(key), after.get(key, "MISSING"), f"{place}.{key}") for key in keys]
    elif isinstance(before, list) and isinstance(after, list) and len(before) == len(after):
        parts = [(one, other, f"{place}[{k}]") for k, (one, other) in enumerate(zip(before, after, strict=True))]
    else:
        return (
            []
            if before == after and type(before) is type(after)
            else [f"{place}: {str(before)[:80]} -> {str(after)[:80]}"]
        )
    return [told for one, other, at in parts for told in list_differences(one, other, at)]


def list_models(home: Path) -> list[Subject]:
    """Models that are kept in files of their own."""
    model = kt.experiments.DisagreementModel(
        feature_set="own",
        features=("length", "age"),
        topics=(
            TopicModel(
                topic="401",
                items=50,
                disagreed=9,
                intercept=-0.3,
                coefficients=(0.1, 0.2),
                mean=HeldOut(0.5, 0.5, 0.9, 0.9, 0.7),
                spread=HeldOut(0.1, math.nan, 0.1, 0.1, 0.1),
            ),
        ),
        dropped=(DroppedTopic(topic="402", items=5, disagreed=0, reason="judges agree"),),
        trials=10,
        seed=0,
        versions={},
    )
    kt.experiments.write_disagreement(model, home / "model.json")
    crowds = [
        Subject(name, kt.simulation.load_crowd(name).to_json(), kt.simulation.read_crowd)
        for name in ("hcb", "llm-dl-2021")
    ]
    return [
        *crowds,
        Subject("disagreement", (home / "model.json").read_text("utf-8"), kt.experiments.read_disagreement),
    ]

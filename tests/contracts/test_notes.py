"""Every kind of note that the code tells has a text, every text is told, and every place in it gets its fact."""

import ast
import string
from collections import defaultdict
from functools import cache
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "karatage"


def read_modules(word):
    """The modules in which a word is: to parse all takes seconds."""
    texts = ((path, path.read_text()) for path in sorted(SOURCE.rglob("*.py")))
    return [(path, ast.parse(text)) for path, text in texts if word in text]


@cache
def find_homes():
    """The modules that hold a table, with it."""
    return {
        ".".join(("karatage", *path.relative_to(SOURCE).with_suffix("").parts)): table
        for path, tree in read_modules("Texts(")
        for table in filter(None, map(find_table, tree.body))
    }


def read_texts():
    """The one table of each package: {kind: text}."""
    found, packages = {}, []
    for module, table in find_homes().items():
        package, texts = (ast.literal_eval(argument) for argument in table.args)
        assert package == module.split(".")[1]
        assert list(texts) == sorted(texts), module
        packages.append(package)
        found |= {f"{package}.{name}": text for name, text in texts.items()}
    assert len(packages) == len(set(packages)) > 9
    return found


def find_table(node):
    """The call that makes a table of texts called `tell`, where this does."""
    match node:
        case ast.Assign([ast.Name("tell")], ast.Call(ast.Name("Texts")) as call):
            return call


def read_calls():
    """Where each kind is told, and the names of the facts given; None where they are not spelled out."""
    found, homes = defaultdict(list), set(find_homes())
    for path, tree in read_modules("tell"):
        nodes = list(ast.walk(tree))
        packages = {
            node.module.split(".")[1]
            for node in nodes
            if isinstance(node, ast.ImportFrom)
            and node.module in homes
            and "tell" in {name.name for name in node.names}
        } | {path.relative_to(SOURCE).parts[0] for node in tree.body if find_table(node) is not None}
        for node in nodes:
            if isinstance(node, ast.Call) and (at := find_name(node)) is not None and packages:
                (package,) = packages
                kind = f"{package}.{ast.literal_eval(node.args[at])}"
                facts = [keyword.arg for keyword in node.keywords]
                found[kind].append((f"{path.name}:{node.lineno}", None if None in facts else set(facts)))
    return found


def find_name(call):
    """The place of the note's name among the arguments, where this tells a note."""
    match call.func:
        case ast.Name("tell"):
            return 0
        case ast.Attribute(ast.Name("tell"), "when"):
            return 1
    return None


TEXTS, CALLS = read_texts(), read_calls()


def test_kinds_and_texts_are_the_same():
    assert TEXTS.keys() == CALLS.keys()
    assert len(TEXTS) > 100


@pytest.mark.parametrize("kind", TEXTS)
def test_every_place_gets_its_fact(kind):
    places = {name for _, name, _, _ in string.Formatter().parse(TEXTS[kind]) if name is not None}
    for place, facts in CALLS[kind]:
        assert facts is None or facts == places, place


def test_kinds_that_the_code_looks_for_exist():
    sought = {
        part.value
        for _, tree in read_modules(".kind")
        for node in ast.walk(tree)
        if isinstance(node, ast.Compare) and isinstance(node.left, ast.Attribute) and node.left.attr == "kind"
        for part in node.comparators
        if isinstance(part, ast.Constant) and "." in str(part.value)
    }
    assert {"aggregation.gold-known", "data.lacking-topics"} <= sought <= TEXTS.keys()

"""Made-up collections: few documents, so that ties, gaps and overlaps are the rule."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st

# Ids whose order depends on how strings are compared: by case, length, digits, beyond ASCII.
DOCUMENTS = ("a", "B", "a10", "a9", "b", "d-1", "d1", "z", "é", "文")
TOPICS = ("1", "9", "10", "x")
SYSTEMS = ("alpha", "beta", "gamma")
JUDGES = ("ann", "bob", "cid")

Qrels = dict[str, dict[str, int]]
Run = dict[str, dict[str, float]]


@dataclass(frozen=True)
class Collection:
    runs: dict[str, Run]
    judgments: dict[str, Qrels]
    top_grade: int

    def scale(self) -> str:
        """The grade scale as `read_judgments` takes it."""
        return f"0-{self.top_grade}"


_tied = st.integers(-1, 2).map(float)
_single = st.floats(width=32, allow_nan=False, allow_infinity=False)


def rankings(least: int = 0) -> st.SearchStrategy[dict[str, float]]:
    """Scores by document, rounded to single precision, often tied."""
    return st.dictionaries(st.sampled_from(DOCUMENTS), _tied | _single, min_size=least, max_size=8)


def grades(top_grade: int, least: int = 0) -> st.SearchStrategy[dict[str, int]]:
    """Grades by document."""
    return st.dictionaries(st.sampled_from(DOCUMENTS), st.integers(0, top_grade), min_size=least, max_size=9)


@st.composite
def collections(draw: st.DrawFn, top_grade: int = 3) -> Collection:
    """Systems lack topics, judges lack topics and documents; all share the first topic."""

    def per_topic(own: st.SearchStrategy, first: st.SearchStrategy) -> dict:
        return {topic: draw(first if topic == TOPICS[0] else own) for topic in TOPICS}

    return Collection(
        runs={system: per_topic(rankings(), rankings(least=1)) for system in SYSTEMS},
        judgments={judge: per_topic(grades(top_grade), grades(top_grade, least=1)) for judge in JUDGES},
        top_grade=top_grade,
    )

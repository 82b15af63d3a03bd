"""Everything about a collection at once, as one page shows it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from importlib.metadata import version
from typing import TypeVar

import polars as pl

from karatage.approaches.registry import evaluate_known
from karatage.data.audit import Audit
from karatage.data.calibration import Calibration
from karatage.data.judgments import Judgments
from karatage.data.note import Note, tell_once
from karatage.data.options import Adjust
from karatage.data.posterior import Posterior
from karatage.data.result import list_versions
from karatage.data.survey import Survey
from karatage.decisions.audit import audit_fitted
from karatage.decisions.board import check_board, compare_board
from karatage.decisions.calibrate import calibrate_fitted
from karatage.decisions.case import Case, ask
from karatage.decisions.compare import check_pair, choose_pair, compare_pair
from karatage.decisions.diagnose import examine
from karatage.decisions.material import DEFAULT_MERGE, Material, gives_grades
from karatage.decisions.notes import tell
from karatage.decisions.question import Question
from karatage.decisions.reading import Sources
from karatage.errors import DataError, KaratageError
from karatage.text import counted

# A vote, plain averages, a model of judges' errors, and judges weighed by their distance from chance.
APPROACHES = ("mv", "uniform", "ds", "sgl_tau_msd", "sgl_rmse_own4")
MERGES = ("mv", "wawa", "zc", "ds")  # in no time even for many judges; `audit` by itself tries all there are
MOST_JUDGES_ALONE = 40
FEWEST_GOLD_TOPICS = 2

_Part = TypeVar("_Part")


def survey(
    material: Material,
    question: Question,
    *,
    a: str | None,
    b: str | None,
    approaches: Sequence[str],
    families: Mapping[str, str] | None,
    adjust: Adjust,
) -> Survey:
    """Compare systems, hold approaches against gold, audit and calibrate the judges.

    Args:
        material: Runs, judgments and gold.
        question: What is asked of them.
        a: One of two systems to decide between; default: the two that there are, or the leaderboard.
        b: The other.
        approaches: Those held against gold; default: a vote, plain and weighted averages of scores, a model of judges'
            errors, and up to forty judges alone.
        families: Judge to family: judges of one family may err alike.
        adjust: For many pairs: Holm, Benjamini-Hochberg, or not at all.
    """
    runs, judgments, gold = material.runs, material.judgments, material.gold
    chosen = choose_pair(runs, a, b)
    case = ask(material, question, systems=runs.systems)
    comparison, board = None, None
    if chosen is not None:
        check_pair(*chosen)
        comparison = compare_pair(ask(material, question, systems=chosen))
    if len(runs.systems) > 2:
        check_board(runs.systems, question, adjust)
        board = compare_board(case, adjust)
    trusted, refused = _find_ranking_gold(case)
    found = evaluate_known(
        material.list_known(question.seed),
        runs,
        judgments,
        question.parsed,
        approach=_choose_approaches(approaches, case, judgments),
        gold=trusted,
        rng=question.seed,
    )
    heard = _limit_topics(judgments, case.topic_names)
    fitted = {name: found.posteriors[name] for name in MERGES if name in found.posteriors and heard is judgments}
    audited = audit_fitted(fitted, heard, gold, families or {}, MERGES, question.seed)
    calibration, reason = _attempt(lambda: _calibrate(heard, gold, case, fitted))
    refused |= {} if reason is None else {"calibration": reason}
    sources = Sources(runs=runs, judgments=judgments, gold=gold)
    diagnosis = examine(sources, question, a=chosen and chosen[0], b=chosen and chosen[1], material=material)
    parts = [part for part in (comparison, board, found, audited, calibration) if part is not None]
    return Survey(
        measure=str(question.parsed),
        comparison=comparison,
        board=board,
        evaluation=found,
        audit=audited,
        calibration=calibration,
        diagnosis=diagnosis,
        counts=_count(case, heard),
        refused=refused,
        seed=question.seed,
        versions=_find_versions(),
        notes=tell_once([*_tell_suspects(audited, case), *(note for part in parts for note in part.notes)]),
    )


def _limit_topics(judgments: Judgments, topics: tuple[str, ...]) -> Judgments:
    """What is said of other topics has no part in the decision."""
    return judgments if set(judgments.topics) <= set(topics) else judgments.only_topics(topics)


def _choose_approaches(asked: Sequence[str], case: Case, judgments: Judgments) -> list[str]:
    """The one that decides comes first."""
    if asked:
        return list(dict.fromkeys((case.approach, *asked)))
    if len(judgments.judges) == 1:
        return [case.approach]
    alone = ("judge:*",) if len(judgments.judges) <= MOST_JUDGES_ALONE else ()
    return list(dict.fromkeys((case.approach, *APPROACHES, *alone)))


def _find_ranking_gold(case: Case) -> tuple[Judgments | None, dict[str, str]]:
    """Gold on whole topics, which ranks systems by itself, or why there is none."""
    if case.gold is None:
        return None, {"approaches": "there is no gold to hold them against"}
    if case.gold.draw is not None and not (case.gold.draw.pi == 1).all():
        return None, {"approaches": "gold was drawn document by document, so it ranks no systems by itself"}
    topics = [name for name, whole in zip(case.topic_names, case.gold_topics, strict=True) if whole]
    if len(topics) < FEWEST_GOLD_TOPICS:
        has = f"gold has all documents that count in {counted(len(topics), 'topic')} only"
        return None, {"approaches": f"{has}, so it ranks no systems by itself"}
    return case.gold.only_topics(topics), {}


def _calibrate(
    judgments: Judgments, gold: Judgments | None, case: Case, fitted: Mapping[str, Posterior]
) -> Calibration:
    if gold is None:
        raise DataError("there is no gold to hold the judges against")
    approach = case.approach if gives_grades(case.approach) else DEFAULT_MERGE
    level = case.question.parsed.level
    return calibrate_fitted(fitted, judgments, gold, approach, relevant=level, topics=case.topic_names, seed=case.seed)


def _attempt(make: Callable[[], _Part]) -> tuple[_Part | None, str | None]:
    """A part of the survey, or why the data do not allow it."""
    try:
        return make(), None
    except KaratageError as problem:
        return None, str(problem)


def _tell_suspects(audited: Audit, case: Case) -> Iterator[Note]:
    """The audit comes after the decision."""
    if audited.drop and not case.approach.startswith("judge:"):
        yield tell("suspects-used", judges=audited.drop)


def _count(case: Case, judgments: Judgments) -> pl.DataFrame:
    """The data in figures."""
    rows = [
        ("systems", len(case.systems), f"up to {counted(case.runs.depth, 'document')} a topic"),
        ("topics", len(case.topics), "answered by some system and seen by the judges"),
        ("judges", len(judgments.judges), f"become one by {case.approach}"),
        ("grades", len(judgments.grade), f"0 to {judgments.top_grade}{judgments.tell_heard()}"),
        ("items", len(judgments.item_topic), "documents of a topic that some judge graded"),
    ]
    if case.gold is not None:
        rows.append(("gold items", len(case.gold.grade), f"in {counted(len(case.gold.topics), 'topic')}"))
    return pl.DataFrame(rows, schema={"what": pl.String, "number": pl.Int64, "detail": pl.String}, orient="row")


def _find_versions() -> dict[str, str]:
    return list_versions() | {name: version(name) for name in ("numpy", "numba", "polars", "scipy")}

"""`report`: the decision, the approaches and the judges, for one page."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from importlib.metadata import version

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
from karatage.decisions.calibrate import calibrate_fitted
from karatage.decisions.case import Case, ask
from karatage.decisions.compare import check_board, compare_board, compare_pair
from karatage.decisions.diagnose import examine
from karatage.decisions.material import Material
from karatage.decisions.notes import tell
from karatage.decisions.question import Question, check_pair, choose_pair
from karatage.decisions.reading import Sources
from karatage.errors import DataError, KaratageError
from karatage.text import counted

# A vote, plain averages, a model of judges' errors, and judges weighted by their distance from chance.
APPROACHES = ("mv", "uniform", "ds", "sgl_tau_msd", "sgl_rmse_own4")
MERGES = ("mv", "wawa", "zc", "ds")  # fast even for many judges; `audit` tries all
MOST_JUDGES_ALONE = 40
FEWEST_GOLD_TOPICS = 2


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
    """Compare systems, compare approaches with gold, audit and calibrate the judges.

    Args:
        material: Runs, judgments and gold.
        question: The measure, the claim and the assumptions.
        a: One of two systems to compare; default: the only two, or the leaderboard.
        b: The other.
        approaches: Those compared with gold; default: a vote, plain and weighted averages of scores, a model of judges'
            errors, and up to forty single judges.
        families: Judge to family: judges of one family may share errors.
        adjust: Correction for many pairs: Holm, Benjamini-Hochberg, or none.
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
    audited = audit_fitted(fitted, heard, gold, families or {}, MERGES, question.seed, material.record)
    calibration = None
    try:
        calibration = _calibrate(heard, gold, case, fitted)
    except KaratageError as problem:
        refused["calibration"] = f"{problem}"
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
    """The judgments of the topics in the decision."""
    return judgments if set(judgments.topics) <= set(topics) else judgments.only_topics(topics)


def _choose_approaches(asked: Sequence[str], case: Case, judgments: Judgments) -> list[str]:
    """Approaches to compare; the first is that of the decision."""
    if asked:
        return list(dict.fromkeys((case.approach, *asked)))
    if len(judgments.judges) == 1:
        return [case.approach]
    alone = ("judge:*",) if len(judgments.judges) <= MOST_JUDGES_ALONE else ()
    return list(dict.fromkeys((case.approach, *APPROACHES, *alone)))


def _find_ranking_gold(case: Case) -> tuple[Judgments | None, dict[str, str]]:
    """Gold on whole topics, which ranks systems without judges, or why there is none."""
    if case.gold is None:
        return None, {"approaches": "there is no gold to compare them with"}
    if case.gold.draw is not None and not (case.gold.draw.pi == 1).all():
        return None, {"approaches": "gold was drawn document by document, so it cannot rank systems without judges"}
    topics = [name for name, whole in zip(case.topic_names, case.gold_topics, strict=True) if whole]
    if len(topics) < FEWEST_GOLD_TOPICS:
        has = f"gold covers all documents that count in only {counted(len(topics), 'topic')}"
        return None, {"approaches": f"{has}, so it cannot rank systems without judges"}
    return case.gold.only_topics(topics), {}


def _calibrate(
    judgments: Judgments, gold: Judgments | None, case: Case, fitted: Mapping[str, Posterior]
) -> Calibration:
    if gold is None:
        raise DataError("there is no gold to compare the judges with")
    level = case.question.parsed.level
    return calibrate_fitted(
        fitted, judgments, gold, case.merge, relevant=level, topics=case.topic_names, seed=case.seed
    )


def _tell_suspects(audited: Audit, case: Case) -> Iterator[Note]:
    """A note if the decision uses judges that the audit would leave out."""
    if audited.drop and not case.approach.startswith("judge:"):
        yield tell("suspects-used", judges=audited.drop)


def _count(case: Case, judgments: Judgments) -> pl.DataFrame:
    """The data in figures."""
    rows = [
        ("systems", len(case.systems), f"up to {counted(case.runs.depth, 'document')} a topic"),
        ("topics", len(case.topics), "with documents of some system and with judgments"),
        ("judges", len(judgments.judges), f"merged by {case.approach}"),
        ("grades", len(judgments.grade), f"0 to {judgments.top_grade}{judgments.tell_heard()}"),
        ("items", len(judgments.item_topic), "judged documents of a topic"),
    ]
    if case.gold is not None:
        rows.append(("gold items", len(case.gold.grade), f"in {counted(len(case.gold.topics), 'topic')}"))
    return pl.DataFrame(rows, schema={"what": pl.String, "number": pl.Int64, "detail": pl.String}, orient="row")


def _find_versions() -> dict[str, str]:
    return list_versions() | {name: version(name) for name in ("numpy", "numba", "polars", "scipy")}

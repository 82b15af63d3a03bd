"""`evaluate`: leaderboards by measures and approaches, compared with gold, and scores of randomly drawn grades."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from karatage.aggregation.registry import MODELS, parse_model
from karatage.approaches.evidence import Known
from karatage.approaches.registry import EXPECTED, evaluate_known
from karatage.data.alignment import Alignment, align, require_data
from karatage.data.evaluation import Evaluation
from karatage.data.judgments import Gold, Judgments
from karatage.data.note import Note
from karatage.data.options import show_options
from karatage.data.posterior import Posterior
from karatage.data.runs import Runs
from karatage.data.scores import Draws
from karatage.decisions.notes import tell
from karatage.errors import OptionError
from karatage.measures.registry import find_family, parse_measure
from karatage.measures.scoring import score_grades
from karatage.measures.spec import Measure
from karatage.random_streams import settle_seed, stream

AT_ONCE = 256  # draws scored together, which bounds memory by items x this
DOUBT = tell("draws-given")


@show_options()
def evaluate(
    runs: Runs,
    judgments: Judgments,
    measure: str | Measure | Sequence[str | Measure] = "nDCG@10",
    *,
    approach: str | Sequence[str] = ("uniform", "mv"),
    gold: Judgments | Gold | None = None,
    train: str | Sequence[str] | None = None,
    gold_certainty: float = 1.0,
    draws: int = 0,
    rng: int | np.random.Generator | None = 0,
) -> Evaluation:
    """Rank systems by one or more measures and approaches; with gold, compare each ranking with gold's.

    Args:
        runs: What the systems retrieved.
        judgments: The judges' grades.
        measure: A measure such as `nDCG@10`, or several.
        approach: One or several names. Merges of scores are `uniform`, `sgl_tau_msd`, `tpc_tau_own4`, `sup_tau` and
            similar; merges of grades are `mv`, `ds`, `glad` and similar. `binmv` and `expected:ds` give expected
            measures under probabilities. `judge:NAME` is one judge, `judge:*` is each judge in turn.
        gold: Trusted grades to compare with. Approaches that learn from gold use, for each topic, that of the other
            topics; `kt.Gold` has other options.
        train: Topics whose gold is used for training only: names, or a share like `30%`.
        gold_certainty: Below 1, gold is random; the papers use 0.95.
        draws: Draws of merged grades, for intervals and the probability that one system is better than another.
        rng: Seed for approaches that draw at random.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold.grades if isinstance(gold, Gold) else gold)
    seed = settle_seed(rng)
    used = Gold.of(gold, train, gold_certainty, rng=seed)
    found = evaluate_known(Known(), runs, judgments, measure, approach=approach, gold=used, rng=seed)
    return draw_evaluation(runs, found, draws=draws) if draws else found


def draw_scores(
    runs: Runs,
    posterior: Posterior,
    measure: str | Measure,
    *,
    draws: int = 1000,
    rng: int | np.random.Generator | None = None,
) -> Draws:
    """Draw grades from a posterior, score every system with each draw, and report the variation of scores and ranks.

    Args:
        runs: What the systems retrieved.
        posterior: What `aggregate` returned.
        measure: A measure such as `nDCG@10`.
        draws: How many times grades are drawn.
        rng: Seed.
    """
    require_data(runs=runs)
    (found,) = draw_measures(align(runs, posterior.judgments), posterior, [measure], draws=draws, rng=rng)
    return found


def draw_measures(
    alignment: Alignment,
    posterior: Posterior,
    measures: Sequence[str | Measure],
    *,
    draws: int = 1000,
    rng: int | np.random.Generator | None = None,
    topics: Sequence[str] | None = None,
) -> list[Draws]:
    """Like `draw_scores` for several measures of the same draws; default: on all topics that some run has."""
    if draws < 2:
        raise OptionError(f"draws must be at least 2, not {draws}")
    seed = settle_seed(rng)
    source = stream(seed, f"draws {posterior.model}")
    names = [str(parse_measure(measure)) for measure in measures]
    kept = alignment.retrieved_topics
    if topics is not None:
        kept = np.array([alignment.topics.index(topic) for topic in topics])
    parts: dict[str, list[np.ndarray]] = {name: [] for name in names}
    top = posterior.probability.shape[1] - 1
    for first in range(0, draws, AT_ONCE):
        grade = posterior.draw(min(AT_ONCE, draws - first), source)
        scored = score_grades(alignment, grade, names, top_grade=top)
        for name in names:
            parts[name].append(scored[name].value[:, kept].mean(axis=1))
    found = []
    for name in names:
        value = np.concatenate(parts[name])
        found.append(
            Draws(
                measure=name,
                approach=posterior.model,
                systems=alignment.systems,
                value=value,
                topics=len(kept),
                seed=seed,
                notes=(*posterior.notes, DOUBT),
            )
        )
    return found


def draw_evaluation(runs: Runs, evaluation: Evaluation, *, draws: int = 1000) -> Evaluation:
    """Add draws for every measure and every approach that merges grades.

    For approaches with expected measures, and measures that are ratios, a note gives the difference between the ratio
    of expectations and the mean over draws. The latter estimates the exact expectation.
    """
    require_data(runs=runs)
    if not evaluation.posteriors:
        raise OptionError("draws come from approaches that merge grades, such as mv or ds; choose one of those")
    topics = next(iter(evaluation.scores.values())).topics
    merged = {id(posterior.judgments): posterior.judgments for posterior in evaluation.posteriors.values()}
    alignments = {key: align(runs, judgments) for key, judgments in merged.items()}
    drawn = [
        replace(found, approach=name)
        for name, posterior in evaluation.posteriors.items()
        for found in draw_measures(
            alignments[id(posterior.judgments)],
            posterior,
            evaluation.measures,
            draws=draws,
            rng=evaluation.seed,
            topics=topics,
        )
    ]
    differences = [note for found in drawn for note in _tell_ratio(evaluation, found)]
    return replace(evaluation, draws=tuple(drawn), notes=(*evaluation.notes, DOUBT, *differences))


def _tell_ratio(evaluation: Evaluation, drawn: Draws) -> Iterator[Note]:
    """The difference between the ratio of two expectations and the expectation of the ratio."""
    if not _takes_expectations(drawn.approach) or not find_family(drawn.measure).ratio:
        return
    scores = evaluation.scores[drawn.measure]
    gap = np.abs(scores.mean[scores.judges.index(drawn.approach)] - drawn.mean)
    widest = int(np.argmax(gap))
    error = float(drawn.value[:, widest].std(ddof=1) / np.sqrt(len(drawn.value)))
    facts = {"gap": float(gap[widest]), "error": error}
    yield tell("draws-ratio", measure=drawn.measure, approach=drawn.approach, draws=len(drawn.value), **facts)


def _takes_expectations(approach: str) -> bool:
    is_model = approach.partition("(")[0] in MODELS
    return approach.startswith(EXPECTED) or (is_model and parse_model(approach).expected)

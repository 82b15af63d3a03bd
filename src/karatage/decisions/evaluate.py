"""`evaluate`: leaderboards by any number of measures and approaches, and how near they come to gold's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from karatage.approaches.evidence import Known
from karatage.approaches.registry import evaluate_known
from karatage.data.alignment import require_data
from karatage.data.evaluation import Evaluation
from karatage.data.judgments import Gold, Judgments
from karatage.data.runs import Runs
from karatage.decisions.draw import draw_evaluation
from karatage.measures.spec import Measure
from karatage.random_streams import settle_seed


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
    """Rank systems by one or more measures and approaches; with gold, say how near each comes to gold's ranking.

    Args:
        runs: What the systems retrieved.
        judgments: What the judges said.
        measure: A measure such as `nDCG@10`, or several.
        approach: One or several of: a merge of scores such as `uniform`, `sgl_tau_msd`, `tpc_tau_own4` or `sup_tau`; a
            merge of grades such as `mv`, `ds` or `glad`; `binmv` or `expected:ds` for expected measures under
            probabilities; `judge:NAME`, or `judge:*` for every judge in turn.
        gold: Trusted grades to compare with. Approaches that learn from gold see, for each topic, that of the others;
            `kt.Gold` says otherwise.
        train: Topics whose gold is for training only: names, or a share like `30%`.
        gold_certainty: Below 1, gold is random: 0.95 is the papers' choice.
        draws: Draws of merged grades, for intervals and the chance that one system is better than another.
        rng: Seed for approaches that draw at random.
    """
    require_data("gold", runs=runs, judgments=judgments, gold=gold.grades if isinstance(gold, Gold) else gold)
    seed = settle_seed(rng)
    used = Gold.of(gold, train, gold_certainty, rng=seed)
    found = evaluate_known(Known(), runs, judgments, measure, approach=approach, gold=used, rng=seed)
    return draw_evaluation(runs, found, draws=draws) if draws else found

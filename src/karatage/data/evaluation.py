"""Leaderboards under several approaches, and how close each is to gold's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import polars as pl

from karatage.data.axes import FloatArray, mean_over_topics, settle_ties
from karatage.data.checks import require_known, require_names, require_numbers
from karatage.data.note import Note
from karatage.data.plain import TableRows
from karatage.data.posterior import Posterior
from karatage.data.result import Result
from karatage.data.scores import Draws, Scores, Weights
from karatage.errors import DataError
from karatage.text import counted, shorten


class Fidelity(NamedTuple):
    """The agreement of an approach's leaderboard with gold's; None where it is not defined."""

    measure: str
    approach: str
    tau: float | None
    tau_ap: float | None
    rmse: float | None
    topics: int


class Lead(NamedTuple):
    """The first two systems, and by how much the first is ahead, paired over topics."""

    first: str
    second: str | None
    score: float
    difference: float
    standard_error: float | None
    topics: int


@dataclass(frozen=True, eq=False, kw_only=True)
class Evaluation(Result, kind="evaluation"):
    """The result of `evaluate`: scores by measure, with approaches on the judge axis."""

    derived = ("sentence", "measures", "approaches", "systems", "rows", "fidelity")
    unsaved = ("posteriors",)

    scores: Mapping[str, Scores]
    gold: Mapping[str, Scores] | None
    judges: int
    judges_first: Mapping[str, int]  # per measure, how many different systems single judges put first
    seed: int
    versions: Mapping[str, str]
    notes: tuple[Note, ...]
    draws: tuple[Draws, ...] = ()
    weights: tuple[Weights, ...] = ()  # of the approaches that weigh judges, by measure
    posteriors: Mapping[str, Posterior] = field(default_factory=dict)  # of the approaches that merge grades

    def __post_init__(self) -> None:
        """Refuse parts that are not about the same measures, approaches and systems."""
        require_names("measures", self.measures)
        require_names("approaches", self.approaches)
        require_names("systems", self.systems)
        require_numbers("judges", self.judges, 1)
        for measure, scores in self.scores.items():
            if (scores.measure, scores.judges, scores.systems) != (measure, self.approaches, self.systems):
                raise DataError(f"scores.{shorten(measure)} are of another measure, or of other approaches or systems")
        self._check_gold()
        if tuple(self.judges_first) != self.measures:
            raise DataError("judges_first is not about the measures that were asked for")
        require_numbers("judges_first", list(self.judges_first.values()), 0, len(self.systems))
        for part, found in (("draws", self.draws), ("weights", self.weights)):
            require_known(part, [one.measure for one in found], self.measures, "measures")
            require_known(part, [one.approach for one in found], self.approaches, "approaches")
            require_names(part, [f"{one.measure} {one.approach}" for one in found], least=0)
        for drawn in self.draws:
            require_known("draws", drawn.systems, self.systems, "systems")

    def _check_gold(self) -> None:
        if self.gold is None:
            return
        if tuple(self.gold) != self.measures:
            raise DataError("gold is not about the measures that were asked for")
        for measure, scores in self.gold.items():
            require_known(f"gold.{shorten(measure)}", scores.systems, self.systems, "systems")
            if scores.measure != measure or len(scores.judges) != 1 or len(scores.systems) != len(self.systems):
                raise DataError(f"gold.{shorten(measure)} holds scores of another measure, of other systems or judges")

    @cached_property
    def fidelity(self) -> tuple[Fidelity, ...]:
        """The agreement of each approach with gold on the topics that both have; empty without gold."""
        if self.gold is None:
            return ()
        return tuple(
            _measure_fidelity(scores, a, self.gold[measure])
            for measure, scores in self.scores.items()
            for a in range(len(scores.judges))
        )

    @property
    def measures(self) -> tuple[str, ...]:
        """The measures, as asked for."""
        return tuple(self.scores)

    @property
    def approaches(self) -> tuple[str, ...]:
        """The approaches, as asked for."""
        return next((scores.judges for scores in self.scores.values()), ())

    @property
    def systems(self) -> tuple[str, ...]:
        """All systems."""
        return next((scores.systems for scores in self.scores.values()), ())

    def leaderboard(self, measure: str, approach: str) -> pl.DataFrame:
        """Systems from best to worst: rank, system, score, standard error over topics, gold's score and rank."""
        scores = self.scores[measure]
        a = scores.judges.index(approach)
        frame = _ranked(scores.systems, scores.mean[a], scores.standard_error[a])
        if self.gold is not None:
            gold = self.gold[measure]
            trusted = _ranked(gold.systems, gold.mean[0], gold.standard_error[0]).select(
                "system", gold_score="score", gold_rank="rank"
            )
            frame = frame.join(trusted, on="system", how="left", maintain_order="left")
        return frame

    def name_gold(self, measure: str) -> str:
        """The name of gold's scores, with the number of topics if these are not the approaches' topics."""
        assert self.gold is not None
        gold = self.gold[measure]
        topics = {topic for topic, seen in zip(gold.topics, gold.judged[0], strict=True) if seen}
        return "gold" if topics == set(self.scores[measure].topics) else f"gold ({counted(len(topics), 'topic')})"

    def to_frame(self) -> pl.DataFrame:
        """All leaderboards in one table; with gold, each approach's tau, tau_ap and RMSE in every row."""
        frames = [
            self.leaderboard(measure, approach).select(
                pl.lit(measure).alias("measure"), pl.lit(approach).alias("approach"), pl.all()
            )
            for measure in self.measures
            for approach in self.approaches
        ]
        frame = pl.concat(frames)
        if self.draws:
            drawn = pl.concat(
                [
                    d.to_frame().select(
                        pl.lit(d.measure).alias("measure"), pl.lit(d.approach).alias("approach"), pl.all()
                    )
                    for d in self.draws
                ]
            )
            frame = frame.join(drawn, on=["measure", "approach", "system"], how="left", maintain_order="left")
        if not self.fidelity:
            return frame
        near = pl.DataFrame(self.fidelity, schema=Fidelity._fields, orient="row").drop("topics")
        return frame.join(near, on=["measure", "approach"], how="left", maintain_order="left")

    def per_topic(self) -> pl.DataFrame:
        """One row per measure, approach, topic and system; gold's rows are called 'gold'."""
        frames = [scores.to_frame() for scores in self.scores.values()]
        frames += [scores.to_frame() for scores in (self.gold or {}).values()]
        return pl.concat(frames).rename({"judge": "approach"})

    def tell_facts(self, *, per_topic: bool = False, weights: bool = False) -> dict[str, Any]:
        """All facts but single items for JSON; rows of scores by topic and of weights on request."""
        facts = super().tell_facts()
        if per_topic:
            facts["per_topic"] = TableRows(self.per_topic())
        if weights:
            facts["weight_rows"] = [row for found in self.weights for row in TableRows(found.to_frame())]
        return facts

    def lead(self, measure: str, approach: str) -> Lead:
        """The first two systems, and their difference with its standard error."""
        scores = self.scores[measure]
        a = scores.judges.index(approach)
        mean = scores.mean[a]
        order = np.argsort(-settle_ties(mean), kind="stable")
        first = int(order[0])
        if len(order) == 1:
            return Lead(scores.systems[first], None, float(mean[first]), 0.0, None, len(scores.topics))
        second = int(order[1])
        gap = scores.value[a, :, first] - scores.value[a, :, second]
        gap = gap[np.isfinite(gap)]
        error = float(gap.std(ddof=1) / np.sqrt(len(gap))) if len(gap) > 1 else None
        return Lead(
            scores.systems[first],
            scores.systems[second],
            float(mean[first]),
            float(gap.mean()) if settle_ties(gap.mean()) else 0.0,
            error,
            len(gap),
        )

    @property
    def sentence(self) -> str:
        """What to take away from the first measure and approach."""
        measure, approach = self.measures[0], self.approaches[0]
        if not np.isfinite(self.scores[measure].mean[0]).any():
            return f"{shorten(approach)} has no score on {measure}: it judged no topic of the runs."
        parts = [self._say_lead(measure, approach)]
        parts += [drawn.sentence for drawn in self.draws[:1]]
        if self.gold is not None:
            parts.append(self._say_gold(measure))
        elif self.judges > 1:
            parts.append(self._say_judges(measure))
        return " ".join(parts)

    def _say_lead(self, measure: str, approach: str) -> str:
        lead = self.lead(measure, approach)
        if lead.second is None:
            alone = f"{shorten(lead.first)} scores {lead.score:.3f} on {measure} by {shorten(approach)}"
            return f"{alone}; no other system has a score."
        text = f"By {shorten(approach)}, {shorten(lead.first)} has the highest {measure} ({lead.score:.3f}), "
        if lead.difference == 0:
            return text + f"equal to {shorten(lead.second)}: no winner."
        text += f"{lead.difference:.3f} above {shorten(lead.second)}"
        if lead.standard_error is None:
            return text + "; one topic is too few for a standard error."
        margin = f" (standard error {lead.standard_error:.3f} over {lead.topics} topics)"
        clear = lead.difference > 2 * lead.standard_error
        verdict = (
            "more than 2 standard errors, but the judges' errors are not corrected"
            if clear
            else "not a clear difference"
        )
        return text + margin + f": {verdict}."

    def _say_gold(self, measure: str) -> str:
        assert self.gold is not None
        gold = self.gold[measure]
        best = gold.systems[int(np.argmax(gold.mean[0]))]
        lead = self.lead(measure, self.approaches[0])
        winner = f"Gold {'also ' if best == lead.first else ''}ranks {shorten(best)} first."
        parts = [winner] if lead.difference > 0 else []
        near = [near for near in self.fidelity if near.measure == measure and near.tau_ap is not None]
        if near:
            nearest = max(near, key=lambda near: near.tau_ap or -1.0)
            detail = f"tau {nearest.tau:.2f}, tau_ap {nearest.tau_ap:.2f}"
            choice = f"Of {len(near)} approaches, " if len(near) > 1 else "Compared with gold, the order by "
            ending = f"has the order closest to gold ({detail})." if len(near) > 1 else f"has {detail}."
            parts.append(f"{choice}{shorten(nearest.approach)} {ending}")
        return " ".join(parts)

    def _say_judges(self, measure: str) -> str:
        count = self.judges_first[measure]
        if count == 1:
            return (
                f"Each of the {self.judges} judges alone ranks the same system first; add gold (--gold) to measure "
                f"their errors."
            )
        return (
            f"The {self.judges} judges, each alone, rank {count} different systems first: get gold before you decide."
        )


def _measure_fidelity(scores: Scores, a: int, gold: Scores) -> Fidelity:
    from karatage.kernels.correlation import compare_orders

    place = {topic: t for t, topic in enumerate(gold.topics)}
    common = [t for t, topic in enumerate(scores.topics) if topic in place and scores.judged[a, t]]
    ours = mean_over_topics(scores.value[a : a + 1, common])
    theirs = mean_over_topics(gold.value[:, [place[scores.topics[t]] for t in common]])
    tau, tau_ap, rmse, systems = None, None, None, ours.shape[1]
    if common and not np.isfinite(ours + theirs).all():
        raise DataError("scores that are compared with gold must be finite; leave out systems without a score")
    if common:
        rmse = float(np.sqrt(((ours - theirs) ** 2).mean()))
    if common and systems > 1:
        agreeing, above = compare_orders(settle_ties(theirs), settle_ties(ours))
        tau = float(agreeing[0, 0]) / (systems * (systems - 1) / 2)
        tau_ap = float(np.clip(above[0, 0] / (systems - 1), -1, 1))  # rounding must not pass 1
    return Fidelity(scores.measure, scores.judges[a], tau, tau_ap, rmse, len(common))


def _ranked(systems: tuple[str, ...], mean: FloatArray, error: FloatArray) -> pl.DataFrame:
    frame = pl.DataFrame(
        {
            "system": pl.Series(systems, dtype=pl.String),
            "score": pl.Series(mean).fill_nan(None),
            "standard_error": pl.Series(error).fill_nan(None),
        }
    ).with_columns(steps=pl.Series(settle_ties(mean)).fill_nan(None))
    frame = frame.sort("steps", "system", descending=[True, False], nulls_last=True)
    rank = frame["steps"].rank("min", descending=True).cast(pl.Int64)
    return frame.select(rank.alias("rank"), "system", "score", "standard_error")

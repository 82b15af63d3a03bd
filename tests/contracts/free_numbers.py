"""Numbers of saved results that nothing else in the file tells, by kind: `systems.*.naive_low` is one in any row."""

# Numbers that may be anything within their range, since nothing else in the file tells them. All others follow from
# these, or are said in a second place, so that a changed one is refused.
_GOLD_ERRORS = {
    *(f"gold_errors.{of}" for of in ("judges", "doubles", "split", "repeated", "wavered", "share")),
    *(f"gold_errors.{of}.{end}" for of in ("slips", "opinions", "shrinks") for end in ("value", "low", "high")),
}
_AUDIT = {
    *_GOLD_ERRORS,
    *("seed", "gold_items", "counts.*.agree", "judges.*.repeats", "judges.*.percent", "judges.*.reliability"),
    *(f"judges.*.{of}" for of in ("kappa", "weighted_kappa", "gold_kappa", "gold_weighted_kappa", "leniency")),
    *(f"judges.*.{of}_{end}" for of in ("leniency", "gold_leniency", "accuracy") for end in ("low", "high")),
    *(
        "panel.*.value",
        "panel.*.low",
        "panel.*.high",
        "confusion.*.grade",
        "confusion.*.gold",
        "judges.*.self_agreement",
    ),
    *(
        f"merges.*.{of}"
        for of in ("accuracy", "low", "high", "kappa", "weighted_kappa", "gain", "gain_low", "gain_high")
    ),
    *("merges.*.shared", "merges.*.topics", "merges.*.items", "families.*.error_correlation"),
    *(f"pairs.*.{of}" for of in ("shared", "percent", "kappa", "weighted_kappa", "gold_shared", "error_correlation")),
}
_BOARD = {
    *_GOLD_ERRORS,
    *("seed", "topics"),
    *(f"{of}.{end}" for of in ("slope", "tau", "tau_ap") for end in ("value", "low", "high")),
}
_CALIBRATION = {
    *(
        "seed",
        "topics",
        "brier.value",
        "grades.*.elsewhere",
        "shift.*.value",
        "shift.*.low",
        "shift.*.high",
        "shift.*.p_value",
    ),
    *(f"{of}.{end}" for of in ("bias", "brier", "ece") for end in ("low", "high")),
}
_COMPARISON = {
    *_GOLD_ERRORS,
    *("seed", "topics"),
    *(f"naive.{of}.degrees" for of in ("a", "b", "difference")),
    *(
        f"{of}.{which}.{end}"
        for of in ("corrected", "others.*")
        for which in ("a", "b", "difference")
        for end in ("low", "high")
    ),
    *("others.*.difference.value", "corrected.a.degrees", "corrected.b.degrees"),
}
_DIAGNOSIS = {"seed", "systems.*.short", "systems.*.topics", "systems.*.judged", "measures.*.detectable"}
_DRAWS = {"seed", "topics"}
_SETTLING = {"draws", "indifference", "risk", "wrong.*.*"}
_SCORES = {"value.*.*.*"}
_WEIGHTS = {f"distance.{of}.*" for of in ("und", "uni", "ovr", "own", "gold")}
_EVALUATION = {"seed", "judges", *(f"draws.*.{of}" for of in _DRAWS), *(f"weights.*.{of}" for of in _WEIGHTS)}
FREE: dict[str, set[str]] = {
    "audit": _AUDIT,
    "aware": {"covariance.*.*.*.*.*.*", "plan.seed", "plan.samples", "plan.replicates"},
    "benchmark": {
        "seed",
        *(f"data_sets.*.{of}" for of in ("judgments", "judges", "items", "gold", "scale.*")),
        *(f"judges.*.{of}" for of in ("items", "gold", "accuracy")),
    }
    | {"races.*.table.*.p_value"},
    "board": _BOARD,
    "calibration": _CALIBRATION,
    "collaborative": {
        "items",
        "topics",
        "systems",
        "relevant",
        "plan.relevant",
        "plan.expert_shares.*",
        "plan.per_item",
        "plan.seed",
        "plan.resamples",
        "plan.samples",
    }
    | {f"{of}.sample.values.*" for of in ("orders", "finding", "mixes", "quality", "areas")},
    "comparison": _COMPARISON,
    "crowd": {
        "correlation",
        "items",
        "relevant",
        "pairs",
        "precision",
        "recall",
        "tied",
    },
    "diagnosis": _DIAGNOSIS,
    "draws": _DRAWS,
    "evaluation": _EVALUATION,
    "gold-plan": {"earlier", "frame_size", "items.*.pi", "items.*.said", "seed", "topics", "pairs", "undecided"}
    | {f"{of}.{which}" for of in ("these", "new") for which in ("half_width", "standard_error")},
    "noisy": {
        f"plan.{of}.*" for of in ("differences", "gold_sizes", "precision", "topics", "right_relevant", "right_other")
    }
    | {"plan.seed", "plan.depth", "plan.topic_spread", "worked.*.digits", "worked.*.value"}
    | {f"histogram.*.{of}" for of in ("low", "high", "simulations")}
    | {f"tests.*.{of}" for of in ("covered", "estimate", "refused", "rejected", "wrong")}
    | {f"intervals.*.{of}" for of in ("naive", "corrected", "bias", "spread", "standard_error", "outside", "refused")}
    | {f"intervals.*.{of}" for of in ("naive_covered", "covered", "covered_t")},
    "posterior": {
        "trace.*",
        *(f"judgments.{of}" for of in ("grade.*", "item.*", "judge.*", "top_grade")),
        *(f"judgments.with_repeats.{of}" for of in ("grade.*", "item.*", "judge.*", "top_grade")),
    },
    "queue": {"batch", "depth", "items.*.pi", "by_crowd", "by_experts", "pool", "prices.judgments", "seed"}
    | {f"settling.{of}" for of in _SETTLING},
    "random-relevance": {f"check.*.{of}" for of in ("difference", "standard_error", "tau_ap")}
    | {f"plan.{of}" for of in ("draws", "samples", "seed", "sizes.*", "certainty")}
    | {f"frame.*.{of}" for of in ("sample", "size", "tau", "tau_ap")},
    "scores": _SCORES,
    "settling": _SETTLING,
    "size-plan": {"budget", "detectable", "difference", "level", "power", "topics_without_errors", "estimates.*"}
    | {f"needs.*.{of}" for of in ("have", "share")},
    "supervised": {f"frame.{of}.values.*" for of in ("sample", "topics", "unseen")}
    | {f"topic_errors.*.{of}" for of in ("size", "topics", "error")}
    | {f"plan.{of}" for of in ("training", "replicates", "samples", "seed", "people.*", "sizes.*")},
    "survey": {
        f"{part}.{of}"
        for part, free in {"audit": _AUDIT, "board": _BOARD, "calibration": _CALIBRATION}.items()
        for of in free
    }
    | {f"comparison.{of}" for of in _COMPARISON}
    | {f"diagnosis.{of}" for of in _DIAGNOSIS}
    | {"seed", "counts.*.number"}
    | {f"evaluation.{of}" for of in _EVALUATION},
    "weights": _WEIGHTS,
}


def is_free(kind: str, place: str) -> bool:
    """Whether a number may be anything; those in the facts of a note may, in any result."""
    return place in FREE[kind] or ".facts." in place

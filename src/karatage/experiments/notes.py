"""The texts of notes on experiments."""

from karatage.data.note import Texts

tell = Texts(
    "experiments",
    {
        "adversaries": "{approach}: mean number of adversaries per fit: {judges}",
        "cell-damaged": "cell file {file} was damaged or belonged to another cell, and was computed again",
        "cells-damaged": "{files:,} cell files were damaged or belonged to another cell, and were computed again, the "
        "first {first}",
        "cells-failed": "{cells:count cell} failed with {reason}, the first '{first}'; run again to retry",
        "cells-kept": "{kept:,} of {cells:count cell} were already done by an earlier run",
        "data-set-broken": "skipped: {problem}",
        "documents-ungraded": "panel '{panel}': {documents:count document} with gold that no judge graded, left out",
        "every-tuple": "with {sizes} judges every k-tuple of these judges was used, so intervals have no width; "
        "with other judges or topics, results may differ",
        "few-topics": "{topics:count topic} are few: on other topics, orders and mixes may rank differently",
        "few-tuples": "there are fewer k-tuples than the {asked} asked for, and all were used: {sizes}",
        "folders-without-tables": "folders without a labels* or a gold* table, skipped: {folders:list 8}",
        "found-none": "judges who found no relevant document in some topic, left out: {judges:all}",
        "gold-partial": "{gold:,} of {items:,} items have gold; the others are merged too, but not scored",
        "gold-unjudged": "{items:count gold item} without any judgment, left out",
        "grades-missing": "panel '{panel}': {grades:count grade} missing, so binmv and uniform differ a little: binmv "
        "is the share among judges who graded a document, uniform counts a missing grade as not relevant",
        "judged-none": "judges who graded none of gold's items, left out: {judges:all}",
        "judged-part": "judges who graded less than {least:.0%} of gold's items, left out: {judges:all}",
        "label": "{label} stands for {measure}",
        "last-grades": "if a judge graded an item repeatedly, only the last grade is used here, also for merging",
        "level-binary": "grades from {level} are relevant, but from 1 for judges whose highest grade is 1: "
        "{judges:all}",
        "level-middle": "grades above the middle of each judge's scale are relevant",
        "loose": "{approach} did not converge in {loose:,} of {fits:count fit}",
        "loose-fits": "{approach} did not converge in {loose:count fit}",
        "loose-tuples": "{approach} did not converge on {loose:,} of {tuples:count k-tuple}",
        "never-retrieved": "{documents:count document} of the pool are in no ranking and come last in every order",
        "no-difference": "without a difference of 0 there is no result on how often tests reject for equal systems",
        "no-model": "the order 'disagreement' is left out, because neither a model of disagreement "
        "nor other judges were given",
        "no-variance": "no analysis of variance of {outcome}: {problem}",
        "not-in-pool": "{results:count result} in the first {depth} ranks without gold, not in the pool",
        "often-refused": "in {refused} of {worlds} worlds more than {share:.0%} of gold samples could not distinguish "
        "judges from random ones, and correction was refused; shares describe the other samples",
        "only-gold-items": "only items with gold are used; left out: {items:count item}, {grades:count grade} and "
        "{judges:count judge}",
        "only-grades": "only the grades {grades} occur, so models have {count} grades",
        "other-plan": "{folder} has results of another plan, with other {options:list 4}; its cells are kept, and "
        "used where they fit, but tables, charts and page are replaced by those of this plan",
        "outside-gold": "{grades:count grade} of documents outside gold's pool, left out",
        "over-samples": "intervals over samples describe other crowds (n = {samples}) on the same documents; for other "
        "topics use the intervals over topics, which need resamples above 1",
        "over-samples-topics": "intervals over samples describe other crowds (n = {samples}) on the same documents; "
        "for other topics use the intervals over {topics} topics",
        "partly-graded": "panel '{panel}': judges graded only parts of the pool; whole ones are left out",
        "rates-exchanged": "with two gold samples the second system's judges have the first's two rates exchanged, "
        "and the shared form uses the rates of both samples pooled",
        "same-scores": "{times:count time} all systems have the same score under a judge, who then has no weight in "
        "that topic under tpc estimators",
        "samples-lost": "{samples:count sample} left out, because the k-tuple graded no evaluated document",
        "sizes-large": "k-tuples of {sizes} cannot be drawn from {judges:count judge}, left out",
        "sizes-whole": "sizes that include all of {judges:count judge}, left out: {sizes}",
        "skipped": "{approach} was skipped with supervision {supervision}: {reason}",
        "skipped-on": "{approach} was skipped on {data_sets:list 4} with supervision {supervision}: {reason}",
        "topics-lost": "in {samples:count sample} some test topics were left out, because the k-tuple graded none of "
        "their documents",
        "topics-without-relevant": "topics without a relevant document in gold, left out: {topics:all}",
        "unseen": "in {unseen:,} of {samples:count sample}, up to {most:,} {who} had no documents in training, and got "
        "the mean weight of the others",
    },
)

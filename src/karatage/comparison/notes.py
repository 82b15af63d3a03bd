"""The texts of notes on tests."""

from karatage.data.note import Texts

tell = Texts(
    "comparison",
    {
        "alike": "both systems have the same score on every topic",
        "constant": "the difference is the same in every topic, so t cannot be computed: use test='permutation'",
        "constant-resampled": "the difference is the same in every topic: resampling topics does not change it; use "
        "test='permutation'",
        "constant-scores": "scores do not vary from topic to topic, so t cannot be computed",
        "few-degrees": "the error has only {degrees:count degree} of freedom: tests have little power",
        "few-topics": "only {topics} topics: tests have little power",
        "no-interval": "{topics} topics are too few for a {confidence:percent} interval by this test",
        "one-level": "factor '{factor}' has one level only, '{level}', and is left out",
        "precision-differs": "levels have means of different precision: comparison intervals are approximate, p-values "
        "are not",
        "pseudo-median": "the interval is about the middle difference (Hodges and Lehmann's), not the mean",
        "random-flips": "p-value and interval are from {resamples:,} random sign flips",
        "random-subsets": "the interval is from {resamples:,} random subsets of topics",
        "topics-unpaired": "{topics:count topic} left out: without a score for both systems",
        "topics-unscored": "{topics:count topic} left out: without a score",
        "unbalanced": "combinations of levels have different numbers of rows: sums of squares are of type III and do "
        "not add up to the total",
        "zeros": "{topics:count topic} without a difference left out, as Wilcoxon does",
    },
)

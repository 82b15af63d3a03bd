"""The texts of notes on judges held against each other and against gold."""

from karatage.data.note import Texts

tell = Texts(
    "agreement",
    {
        "below-gold": "{below:,} of {judges:count judge} never go as high as gold, which goes up to {top} ({counts}): "
        "every item above a judge's scale counts as its error, and as one shared by all on that scale, so that "
        "accuracy, error correlation and effective votes depend on scales as well as on judges; map all grades to one "
        "scale with --grades and --gold-grades",
        "few-gold": "judges with few gold items, less than {least:.0%} of them: {judges:names}; their figures are "
        "little more than a guess",
        "few-topics": "judges with gold in fewer than {least} topics, whose intervals count items as if each stood by "
        "itself, and are too short where a topic's items are alike: {judges:names}",
        "no-gold": "judges without gold items: {judges:names}",
        "pairs-drawn": "{judges:,} judges have about {pairs:,.0f} pairs that share items, of which {drawn:,}, drawn at "
        "random with the seed, were compared: kappa, error correlation and effective votes are estimates from these; "
        "the sampling adds a standard error of {error:.2g} to the mean kappa, which its interval includes, and of "
        "{typical:.2g} to the kappa of a typical judge; pairs of judges are listed for these only",
    },
)

"""The texts of notes on scores."""

from karatage.data.note import Texts

tell = Texts(
    "measures",
    {
        "few-expected": "{times:count time} less than one relevant document is expected, where {measure}, a ratio of "
        "expectations, may be far above the exact one: {where}; compare with --draws",
        "nothing-relevant": "{times:,} times a judge found nothing relevant; these {outcome}: {where}",
        "unjudged": "{missing:,} of {shown:,} positions in {where} of {systems:count system} ({share:.1%}) hold "
        "unjudged documents, which count as not relevant",
    },
)

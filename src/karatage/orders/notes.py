"""The texts of notes on models of disagreement."""

from karatage.data.note import Texts

tell = Texts(
    "orders",
    {
        "any-difference": "grades go up to {top}, and any difference counts as disagreement; for relevant or not "
        "alone, read the judgments with grades mapped to 0 and 1",
        "dropped": "topics dropped: {topics:names}",
        "dull": "topics kept for their recall whose items are poorly separated (AUC below {least:g}): {topics:names}",
        "one-topic": "only one topic was kept, so there is nothing to choose from on a new collection",
        "saturated": "judges disagree on {share:.0%} of items: with many judges or grades, few items are unanimous; "
        "learn from fewer judges or fewer grades",
        "usual": "topics on which judges disagree on {threshold:g} of items or more, {topics:names}: nearly all their "
        "items are flagged, so recall says little; look at AUC",
    },
)

"""The texts of notes on simulated judges and on crowd models."""

from karatage.data.note import Texts

tell = Texts(
    "simulation",
    {
        "binary-crowd": "the judges of '{crowd}' say relevant (1) or not (0); gold's grades from 1 on are relevant",
        "binary-gold": "the judges of '{crowd}' use {grades} grades; on binary gold, their grades from 1 on count as 1",
        "few-gold": "half of the judges have gold for at most {relevant:,} relevant and {others:,} other items; with "
        "fewer than {least} of each, mean rates are reliable, but shares of single voxels are not",
        "grades-limited": "the judges of '{crowd}' use grades 0 to {top}, so documents of a higher grade are graded as "
        "if it were {top}",
        "judged-alone": "no item has two judges, so the correlation of errors cannot be learned; it is taken as 0",
        "missing": "{grades:,} grades are missing where the person drawn had not graded the document",
        "no-crowd-rows": "no row of {queue} goes to the crowd, so {path} is not written",
        "no-expert-rows": "no row of {queue} goes to an expert, so {path} is not written",
        "no-gold": "{judges:count judge} without any item that has gold, left out",
        "no-rates": "{judges:count judge} judged no relevant item, or only relevant items, left out",
        "no-topics": "without several topics, the dependence of errors on topics cannot be learned; it is taken as 0",
        "one-topic": "gold has a single topic, so errors do not depend on it",
        "panel": "{judges:count judge} simulated ({random} random, {inverted} inverted; the others find "
        "{low:g}-{high:g} of relevant items and {least:g}-{most:g} of the rest), error correlation {correlation:g}, "
        "seed {seed}",
        "pseudo-judges": "{judges:count pseudo-judge} combined from people, seed {seed}",
        "simulated": "{judges:count judge} simulated by the crowd model '{crowd}', seed {seed}",
        "stretched": "to give every item its judges, some judge more or less of a topic than is usual for their kind",
        "teams-crowded": "in {topics:count topic} there are more pseudo-judges than people in teams, so that a person "
        "may have graded a document for several of them",
        "without-gold": "documents of the queue without gold, taken as not relevant: {documents:names}",
        "without-gold-aside": "{judgments:count judgment} of items without gold, left out",
    },
)

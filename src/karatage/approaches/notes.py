"""The texts of notes on evaluations."""

from karatage.data.note import Texts

tell = Texts(
    "approaches",
    {
        "few-items": "judges with fewer than {least} items: {judges:names}",
        "gold-random": "grades are random: a relevant document is relevant with probability {certainty:g}",
        "gold-topics-missing": "judged topics without gold, left out when comparing with it: {topics:names}",
        "gold-topics-unjudged": "topics with gold but without judgments: {topics:names}",
        "less-than-half": "judges who graded less than half of their topics' pools, compared with random judges of all "
        "of it, so that weights also depend on how much they graded: {judges:names}",
        "same-scores": "{times:count time} all systems score the same under a judge, who then has no weight in that "
        "topic; judges concerned: {judges:names}",
        "some-topics": "judges who saw only some of the {topics:count topic}, counted where they did: {judges:names}",
        "training-topics": "training topics, from which approaches may learn, left out: {topics:names}",
        "uniform": "weights that differ by less than {least:.0%} between judges, so nearly uniform: {approaches:names}",
        "unseen": "judges unseen in training get the mean weight of the others: {judges:names}",
        "weighted-by-folds": "judges were weighted, for each topic, by gold of other topics only ({folds} folds), so "
        "gold can check it",
        "weighted-by-training": "judges were weighted by {topics} training topics",
        "weights-zero": "{approach}: where all weights are 0, judges count alike; topics concerned: {topics:names}",
    },
)

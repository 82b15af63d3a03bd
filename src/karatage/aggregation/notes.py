"""The texts of notes on merged grades."""

from karatage.data.note import Texts

tell = Texts(
    "aggregation",
    {
        "adversaries": "mv {did} {judges:,} of {all:,} judges: those who agree with {source} significantly less often "
        "than by chance",
        "alone": "no item has grades by two judges, so judges cannot be compared: items keep their grades",
        "alone-weighted": "no item has grades by two judges, so judges cannot be compared: all weights are equal",
        "crossfit": "{model}: each topic was merged with gold of other topics only ({folds} folds), so gold can check "
        "it",
        "earlier-aside": "{model} uses only a judge's last grade of an item; {grades:count earlier grade} ignored",
        "far-from-votes": "{model} differs from majority vote on {share:.0%} of the items: this is better if judges "
        "differ in skill and have independent errors, and worse if they share errors; check with gold (karatage audit "
        "-g)",
        "gold-known": "gold is known for {known:,} of {items:,} items, which keep it",
        "moving": "{model}: after its {steps} steps, posteriors were still changing",
        "no-quality": "{model}: no judge agrees with the consensus beyond chance, so all weights are equal",
        "not-converged": "{model}: stopped after {steps:count step} before convergence",
        "not-converged-rounds": "{model}: stopped after {rounds} rounds before convergence, as its authors do",
        "prior-decides": "{model}: without its prior the model would change the grades of {share:.0%} of the items, so "
        "the result depends on the prior: get more grades per judge, or gold",
        "program-stops": "{model}: its program stops after {steps} steps, before convergence",
        "reversed": "{model}: {reversed:,} of {judges:,} judges have a negative ability: their grades count as "
        "reversed",
        "short-scales": "{model}: judges who never give the highest grades; their highest grade is taken as 'this or "
        "more': {judges:names}",
        "silent": "{items:count item} without any grade, so its merged grade is a guess",
        "ties": "majority vote: {tied:,} of {items:,} items had ties, which were {rule}",
        "unheard": "{model}: {items:count item} graded only by judges of quality 0, who have equal weights there",
        "unseen": "{model}: {unseen:,} of {judges:,} judges graded no item with gold, so they are not used",
        "vote-moves": "{model}: the vote was still changing after {rounds:,} rounds",
    },
)

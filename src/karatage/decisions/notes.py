"""The texts of notes on decisions, plans, queues and audits."""

from karatage.data.note import Texts

tell = Texts(
    "decisions",
    {
        "alone": "no item was graded by two judges, so agreement among them cannot be measured",
        "apart": "{first} give {one:+.3f}, {second} {other:+.3f}, {errors:.1f} standard errors apart: {reason}",
        "apart-pairs": "{first} and {second} are more than {errors:g} standard errors apart on {apart:,} of "
        "{pairs:count pair}: {reason}",
        "apart-pairs-unclaimed": "{first} and {second} are more than {errors:g} standard errors apart on {apart:,} of "
        "{pairs:count pair}, of which nothing is claimed",
        "at-bound": "([NOISY18] (17)) does not hold for {reason}; its corrected score is put at the bound",
        "batches": "gold came in {batches} batches: p-values hold if their number was fixed beforehand, not if judging "
        "stopped when a difference first showed",
        "batches-weighted": "gold was drawn in several batches, each weighted by the inverse of its sampling "
        "probabilities",
        "bounded": "corrected scores beyond {worst:g} or {best:g}, replaced by the likeliest that are possible with "
        "the rates they imply ([NOISY18] 3.6): {systems:names}",
        "budget-left": "{rest} of the budget is left over: all that can matter is in this batch, or judged",
        "chance-apart": "chance between topics and in gold pulls orders apart: without it tau would be higher, by "
        "{lost:.2f} at least",
        "checked-few": "experts have checked {documents:count document} of those the crowd judged, so how far the "
        "crowd can be relied on is mostly guessed; later batches let them check more",
        "choice-topics": "gold is on {topics} whole topics of {pool}: judges err alike within a topic, so formulas "
        "that count items would give intervals far too narrow; topics are counted instead",
        "copies-sampled": "{finding}; audit fewer judges at a time to test all pairs",
        "copy": "{finding}; {advice}",
        "copy-unused": "{finding}, which this answer does not use",
        "decides-nothing": "gold so far decides nothing: {reason}",
        "design-effect": "judges err alike within topics: gold counts as {share:.0%} of its items (design effect "
        "{effect:.2f})",
        "disjoint": "the systems answered different topics, so tau, tau_ap and slope have no intervals",
        "drawn-here": "experts' documents were drawn with the chances pi, so karatage compare can take them as gold",
        "draws-given": "draws take judges' errors as independent and topics as given: where judges err together the "
        "intervals are too narrow, and they say nothing of other topics",
        "draws-ratio": "{measure} by {approach} is a ratio of expectations; the exact expectation over {draws:,} draws "
        "differs by at most {gap:.4f} (standard error {error:.4f})",
        "error-free": "judges erred on none of {items:,} {grade} gold items; up to {most:.1%} errors would look so",
        "errors-unknown": "{pairs:count pair} of which gold tells too little to know the error, not claimed to differ",
        "families-alone": "judges without a family, each counted as its own: {judges:names}",
        "families-strange": "families name judges who graded nothing: {judges:names}",
        "few-differ": "judges and gold disagree on {topics:count topic} with gold only, so that how much they do so "
        "elsewhere is hardly known: the interval may be too narrow",
        "few-gold": "{labels:count gold label} are too few to tell anything: compare wants {least} at least",
        "few-items": "judges with fewer than {least} items, too few to call random, inverted or copied: {judges:names}",
        "few-topics": "{topics:count topic} only: intervals over topics assume normal scores",
        "few-topics-calibrated": "calibration uses gold in {topics:count topic}: its intervals are for topics like "
        "these",
        "few-topics-lambda": "{topics:count topic} with gold are too few to estimate how far to rely on the judges, so "
        "that (lambda) was fixed beforehand; with {least} topics or more it is estimated",
        "few-topics-planned": "{reason}: {instead}, or judge {least} at least",
        "frame-unknown": "gold does not say what it was drawn from: taken to be all documents of these systems that "
        "matter",
        "gold-alone": "unjudged documents that matter, of which gold alone tells the correction: {documents:,}",
        "gold-drawn": "gold was drawn with chances (pi), by a plan where systems differ: weighed by their inverse it "
        "stands for what it was drawn from; its items may well be unlike the others, and are not compared with them",
        "gold-graded": "{items:count item} of {gold:,} with gold were graded",
        "gold-outside": "{items:count gold item} outside of these systems' documents and topics, not used",
        "gold-unlike": "gold does not say how it was drawn (pi): calibration is for items like gold's",
        "impossible": "second opinions beyond {top:.4g}, which a difference cannot be, not shown: {opinions}",
        "impossible-scores": "corrected scores outside 0 to {top:.4g}, what {measure} can be, are not shown: "
        "{systems:names}",
        "inverted": "{finding}; {advice}",
        "items-alone": "items have no topics, so they are treated as independent in the intervals of calibration",
        "lambda": "reliance on the judges (lambda): {value:.2f}, where 0 is gold alone and 1 is full trust",
        "many-grades": "{grades} grades are too many to look for copies; map them to fewer",
        "merged-instead": "gold on single documents cannot correct {approach}, so what it corrects is {merge}",
        "merges-costly": "merges that would take much time or memory were not tried: {merges}; name them with "
        "--approach to try them",
        "mute": "judges who never give a grade of {relevant} or more, and so call nothing relevant: {judges:names}",
        "nearly-chance": "judges are {errors:.1f} standard errors better than chance only: corrected figures are "
        "shaky, get gold",
        "no-gold": "without gold, errors that judges share look like agreement: effective votes and accuracy are not "
        "given",
        "no-gold-shared": "gold and judgments share no item, so gold says nothing of the judges; are items written "
        "alike in both?",
        "no-gold-yet": "no gold yet to tell how good the judges are: widths are for uninformative judges, with gold as "
        "varied as their grades; judge a first batch and plan the next with it to know better",
        "no-second": "no second opinion: {reason}",
        "no-slope": "gold shows no differences between systems beyond its own chance, so there is no attenuation slope",
        "nothing-claimed": "nothing is claimed of {apart:,} of {pairs:count pair}: {reason}",
        "nothing-judged": "nothing is judged yet: until then all that is known of the documents is who retrieved them",
        "order-assumed": "error rates are taken to be the same for all systems, so undoing them stretches scores and "
        "hardly changes their order: tau and tau_ap are near 1, and the slope below it, by assumption",
        "other-topics": "where judges disagree is predicted by a model of other topics, which may not carry over to "
        "these",
        "outside-pool": "{documents:count document} that {who} judged are outside the pool and are left out",
        "outside-pool-counts": "judged by {who}, but outside the pool of depth {depth}: {documents:count document}, "
        "whose grades count as well",
        "pairs-unshared": "{who} share {least} gold items, so error correlation is not known of pairs",
        "picked": "experts' documents were picked by the order {order}, not drawn at random: they serve this "
        "leaderboard, but rates of error read off them may mislead; for a corrected comparison, let the order effect "
        "draw them",
        "picked-before": "but earlier expert judgments were not drawn: compare takes the drawn ones only on their own",
        "queues-void": "what earlier queues list without a grade is void: leave it ungraded, and judge these instead",
        "rates-assumed": "error rates are assumed to be the same on both systems' documents; those of LLM judges were "
        "not on TREC DL 2021, where such intervals covered 48 to 62 % instead of 95 %{instead}",
        "scales-differ": "the crowd grades up to {crowd}, experts up to {experts}: if scales differ, map them",
        "scores-unknown": "scores are not estimated, only differences: up to {share:.0%} of a system's weight is on "
        "documents that all systems rank alike, which gold drawn to compare systems does not contain",
        "settled-here": "settled or not is about these topics, and about what judging can change; other topics may say "
        "otherwise",
        "spread-assumed": "how far topics differ is taken from the judges' scores",
        "stop-at-budget": "stop when the budget is spent, not when a difference first shows: looking often finds what "
        "is not there",
        "suspects-used": "the decision still uses judges that the audit would leave out: {judges:names}; take them out "
        "of the judgments to decide without them",
        "topics-like-these": "intervals of tau, tau_ap and slope are about topics like these, not these only",
        "topics-unjudged": "topics that the judges did not see, left out: {topics:names}",
        "typical-unknown": "too few topics have gold on some of their items, or lack it, to tell if gold's items are "
        "typical",
        "without-gold": "documents that matter and were judged but have no gold, counted as not relevant: "
        "{documents:,}",
    },
)

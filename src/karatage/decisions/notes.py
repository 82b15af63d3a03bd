"""The texts of notes on decisions, plans, queues and audits."""

from karatage.data.note import Texts

tell = Texts(
    "decisions",
    {
        "alone": "no item was graded by two judges, so agreement among them cannot be measured",
        "apart": "{first} give {one:+.3f}, {second} {other:+.3f}, which differ by {errors:.1f} standard errors: "
        "{reason}",
        "apart-pairs": "{first} and {second} differ by more than {errors:g} standard errors on {apart:,} of "
        "{pairs:count pair}: {reason}",
        "apart-pairs-unclaimed": "{first} and {second} differ by more than {errors:g} standard errors on {apart:,} of "
        "{pairs:count pair}; no claim is made about these",
        "at-bound": "condition (17) of [NOISY18] does not hold for {reason}; its corrected score is set to the bound",
        "batches": "gold was judged in {batches} batches: p-values are valid if their number was fixed beforehand, "
        "not if judging stopped at the first significant difference",
        "batches-weighted": "gold was drawn in several batches, each weighted by the inverse of its sampling "
        "probabilities",
        "bounded": "corrected scores outside {worst:g} to {best:g} were replaced by the most likely possible ones, "
        "with the rates that these imply ([NOISY18] 3.6): {systems:names}",
        "budget-left": "{rest} of the budget is not used: all documents that can affect the result are already judged "
        "or in this batch",
        "chance-apart": "part of the difference between the two orders is random, since topics and gold are samples: "
        "without it, tau would be higher by at least {lost:.2f}",
        "checked-few": "experts have graded {documents:count document} that the crowd judged, too few to estimate the "
        "crowd's accuracy, so it is mostly an assumption; later batches contain more of them",
        "choice-topics": "gold covers {topics} of {pool} topics completely. Judges' errors within a topic are "
        "correlated, so formulas that count items would give intervals that are far too narrow: here the sample size "
        "is the number of topics",
        "copies-sampled": "{finding}; audit fewer judges at a time to test all pairs",
        "copy": "{finding}; {advice}",
        "copy-unused": "{finding}, which this answer does not use",
        "decides-nothing": "no pair is decided by the gold so far: {reason}",
        "design-effect": "judges' errors within topics are correlated: gold counts as {share:.0%} of its items "
        "(design effect {effect:.2f})",
        "disjoint": "the systems answered different topics, so tau, tau_ap and slope have no intervals",
        "drawn-here": "documents for experts were drawn with the sampling probabilities pi, so karatage compare can "
        "use them as gold",
        "draws-given": "draws assume that judges' errors are independent and that topics are fixed: intervals are too "
        "narrow if judges share errors, and they do not apply to other topics",
        "draws-ratio": "{measure} by {approach} is a ratio of expectations; the exact expectation over {draws:,} "
        "draws differs by at most {gap:.4f} (standard error {error:.4f})",
        "error-free": "judges made no error on {items:,} {grade} gold items; this is consistent with up to {most:.1%} "
        "errors",
        "errors-unknown": "{pairs:count pair} with too little gold to estimate the standard error; no claim is made "
        "about these",
        "families-alone": "judges without a family, each counted as a separate family: {judges:names}",
        "families-strange": "families contain judges who graded nothing: {judges:names}",
        "few-differ": "judges and gold disagree on only {topics:count topic} with gold, so the disagreement elsewhere "
        "is uncertain: the interval may be too narrow",
        "few-gold": "too few gold labels ({labels:,}): compare needs at least {least}",
        "few-items": "judges with fewer than {least} items, too few to call random, inverted or copied: {judges:names}",
        "few-topics": "only {topics:count topic}: intervals over topics assume normally distributed scores",
        "few-topics-calibrated": "calibration uses gold in {topics:count topic}: its intervals are for topics like "
        "these",
        "few-topics-lambda": "{topics:count topic} with gold are too few to estimate the weight of the judges "
        "(lambda), so it was fixed beforehand; with {least} topics or more it is estimated",
        "few-topics-planned": "{reason}: {instead}, or judge at least {least}",
        "forecast-linear": "the forecast has only the part of {measure} that is linear in gold's grades: intervals are "
        "usually 1.2 to 2 times as wide, most with little gold",
        "frame-unknown": "gold has no column frame: it is assumed to be drawn from all documents that matter for "
        "these systems",
        "gold-alone": "documents that matter and that no judge graded, corrected only by gold: {documents:,}",
        "gold-drawn": "gold was drawn with sampling probabilities (pi) from the documents on which systems differ. "
        "Weighted by 1/pi, it represents these documents. Items with and without gold may differ, so they are not "
        "compared",
        "gold-errors-kept": "about {slips:.1%} of gold's grades are slips, and {estimator} takes them as correct",
        "gold-few-doubles": "{doubles:count gold item} graded more than once, {split:,} differently, too few to "
        "estimate gold's own errors: gold is taken as correct. From {least} on, differences are corrected for them",
        "gold-graded": "the judges graded {items:,} of {gold:count gold item}",
        "gold-many-grades": "gold has {grades} grades, too many to estimate its own errors: gold is taken as correct. "
        "Map grades to {most} or fewer",
        "gold-opinions": "gold's judges graded fewer than {least} items again themselves, so all differences between "
        "them count as slips. If they are differences of opinion, differences between systems are {shrinks:.2f} times "
        "those shown, with about the same p-values",
        "gold-outside": "{items:count gold item} outside the documents and topics of these systems were not used",
        "gold-unlike": "gold has no sampling probabilities (pi): calibration is for items like those with gold",
        "impossible": "second opinions larger than {top:.4g}, the largest possible difference, are not shown: "
        "{opinions}",
        "impossible-pairs": "the corrected difference of {pairs:count pair} is outside -{top:g} to {top:g}, which is "
        "possible by chance with so little gold; no claim is made about these in {measure}",
        "impossible-scores": "corrected scores outside 0 to {top:.4g}, the range of {measure}, are not shown: "
        "{systems:names}",
        "inverted": "{finding}; {advice}",
        "items-alone": "items have no topics, so they are treated as independent in the intervals of calibration",
        "lambda": "weight of the judges (lambda): {value:.2f}, where 0 is gold alone and 1 is full trust",
        "many-grades": "{grades} grades are too many to look for copies; map them to fewer",
        "merged-instead": "gold on single documents cannot correct {approach}, so it corrects {merge}",
        "merges-costly": "merges that need much time or memory were not tried: {merges}; to try them, name them with "
        "--approach",
        "mute": "judges who call nothing relevant (no grade of {relevant} or more): {judges:names}",
        "nearly-chance": "judges are only {errors:.1f} standard errors better than chance: corrected figures are "
        "unreliable; get more gold",
        "no-gold": "without gold, shared errors cannot be distinguished from agreement: effective votes and accuracy "
        "are not given",
        "no-gold-shared": "gold and judgments have no item in common, so the judges' accuracy cannot be measured; are "
        "items written in the same way in both?",
        "no-gold-yet": "there is no gold yet, so the judges' errors are unknown. Interval widths assume uninformative "
        "judges, and gold that varies as much as their grades. For a better forecast, judge a first batch and plan "
        "the next one with it",
        "no-second": "no second opinion: {reason}",
        "no-slope": "by gold, the differences between systems are not larger than chance, so there is no attenuation "
        "slope",
        "nothing-claimed": "no claim is made about {apart:,} of {pairs:count pair}: {reason}",
        "nothing-judged": "nothing is judged yet: the order uses only which systems retrieved which documents",
        "order-assumed": "error rates are assumed to be the same for all systems, so the correction rescales scores "
        "and changes their order little. This assumption alone makes tau and tau_ap near 1 and the slope below 1",
        "other-topics": "disagreement is predicted by a model of other topics, which may not apply to these",
        "outside-pool": "{documents:count document} judged by {who} are outside the pool and are left out",
        "outside-pool-counts": "{documents:count document} judged by {who} are outside the pool of depth {depth}; "
        "their grades are used",
        "pairs-unshared": "{who} share {least} gold items, so the error correlation of pairs is unknown",
        "picked": "documents for experts were chosen by the order {order}, not drawn at random. They are suitable for "
        "this leaderboard, but error rates estimated from them may be biased. For a corrected comparison, use the "
        "order effect, which draws them",
        "picked-before": "earlier expert judgments were not drawn at random: give karatage compare only those that "
        "were",
        "queues-void": "documents of earlier queues without a grade are replaced by these: do not grade them",
        "rates-assumed": "error rates are assumed to be the same on both systems' documents. For LLM judges on TREC "
        "DL 2021 they were not: such intervals had a coverage of 48% to 62% instead of 95%{instead}",
        "rates-together": "judges with fewer than {least} gold items of some kind have their error rates estimated "
        "together, as if these were equal: {judges:names}",
        "record-near": "the record has no study of {judge}, but one of {near}; another prompt or model is another "
        "judge, so the record is not used",
        "record-none": "the record has no study of {judge}",
        "record-other": "the record has no earlier study of {judge} on another collection by a measure with the gains "
        "of {measure}",
        "record-stale": "{stale} of {studies:count earlier study} of {judge} in the record are stale and not used: "
        "{reason}",
        "record-used": "{judge} has {studies:count earlier study} with {labels:count gold label} in the record, from "
        "{first} to {last}: with them, the width of intervals for usual judges changes by {change:+.0%}",
        "scales-differ": "the crowd's highest grade is {crowd}, the experts' {experts}: if the scales differ, map "
        "them first",
        "scores-unknown": "only differences are estimated, not scores: up to {share:.0%} of a system's weight is on "
        "documents that count the same for all systems. Gold drawn to compare systems does not contain them",
        "scores-untold": "only differences are estimated, not scores: {measure} is not a weighted sum, and gold was "
        "drawn to compare systems",
        "settled-here": "'settled' refers to these topics and to what more judging can change; other topics may give "
        "another order",
        "spread-assumed": "the variance between topics is estimated from the judges' scores",
        "stop-at-budget": "stop when the budget is spent, not at the first significant difference: repeated tests "
        "increase the risk of a false claim",
        "suspects-used": "the decision uses judges that the audit would leave out: {judges:names}; remove them from "
        "the judgments to decide without them",
        "topics-like-these": "intervals of tau, tau_ap and slope are about topics like these, not these only",
        "topics-unjudged": "topics without judgments, left out: {topics:names}",
        "typical-unknown": "whether items with gold are typical cannot be tested: too few topics have gold on only "
        "some of their items",
        "usual-errors": "if the judges are biased as usual judges are, differences below {bound:.2g} between these "
        "systems are not to be trusted: {confidence:percent} of usual errors are smaller. This is an assumption, which "
        "only gold can test",
        "usual-errors-typical": "if the judges are biased as usual judges are, differences below {bound:.2g} are not "
        "to be trusted: {confidence:percent} of usual errors are smaller, for a typical pair of systems. This is an "
        "assumption, which only gold can test",
        "without-gold": "judged documents that matter but have no gold count as not relevant: {documents:,}",
    },
)

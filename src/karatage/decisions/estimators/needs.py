"""What estimators need at least, and how their refusals begin."""

from __future__ import annotations

from karatage.decisions.case import Case
from karatage.text import counted

LEAST_TOPICS = 10  # to say anything of new ones
FEWEST_TOPICS = 5  # with gold, below which their spread says nothing
LEAST_ITEMS = 10
CLAIM_THESE = "claim these topics only (--claim these)"
RATES_INSTEAD = ", or use --correction rates, which assumes that judges err alike on all documents"
WEIGHTED_SUMS = "nDCG@k, P@k, DCG@k or RBP"


def find_least_topics(case: Case) -> int:
    """From how many topics on something is said of new ones: fewer where gold knows all that counts in every topic."""
    return FEWEST_TOPICS if case.gold is not None and case.gold_topics.all() else LEAST_TOPICS


def tell_few_topics(topics: int) -> str:
    """How the refusal of few topics begins."""
    return f"{counted(topics, 'topic')} {'says' if topics == 1 else 'say'} too little about new ones"

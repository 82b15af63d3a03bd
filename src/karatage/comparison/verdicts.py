"""What a test says, in words."""

from __future__ import annotations

import math

from karatage.data.comparison import say_p
from karatage.text import percent


def say_test(difference: float, p_value: float, interval: tuple[float, float], *, confidence: float, where: str) -> str:
    """How far the second system is from the first, and whether that may be chance.

    >>> say_test(0.25, 0.125, (-0.1, 0.6), confidence=0.95, where="on 4 topics")
    'The second system scores 0.25 higher than the first on 4 topics: this may be chance (p = 0.12, 95% interval ...'
    """
    if not difference:
        return f"Both systems score alike on average {where}."
    side = "higher" if difference > 0 else "lower"
    verdict = "more than chance" if p_value <= 1 - confidence + 1e-12 else "this may be chance"
    low, high = interval
    known = math.isfinite(low) and math.isfinite(high)
    between = f", {percent(confidence)} interval {low:+.4g} to {high:+.4g}" if known else ""
    far = f"The second system scores {abs(difference):.4g} {side} than the first {where}"
    return f"{far}: {verdict} (p {say_p(p_value)}{between})."

"""`python -m benchmarks.agreeing`: does ds arrive where crowd-kit's arrives? Nothing is timed."""

from __future__ import annotations

import numpy as np

import karatage as kt
from benchmarks.consensus import crowd_kit_ds, simulate_crowd

ROWS, JUDGES = 20_000, 200
MOST_STEPS, AT_REST = 5_000, 1e-9


def compare(grades: int) -> str:
    """Both from the shares of votes and without smoothing, until no posterior of karatage's moves any more."""
    crowd = simulate_crowd(ROWS, JUDGES, grades)
    model = kt.stats.DawidSkene(prior=None, max_steps=MOST_STEPS, tolerance=AT_REST)
    posterior = kt.aggregate(crowd.to_judgments(), model)
    other = crowd_kit_ds(crowd.to_frame(), posterior.iterations)
    far = float(np.abs(posterior.probability - other).max())
    rest = "at rest" if posterior.converged else "not yet at rest"
    return f"{far:.1e} with {grades} grades ({rest} after {posterior.iterations:,} steps)"


def main() -> None:
    """One sentence."""
    found = " and ".join(compare(grades) for grades in (2, 5))
    print(f"ds without smoothing: posteriors differ from crowd-kit's, which it cuts off at 1e-10, by at most {found}.")


if __name__ == "__main__":
    main()

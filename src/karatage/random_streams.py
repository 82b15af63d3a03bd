"""From a seed to random generators; the only place where one is made."""

from __future__ import annotations

import zlib
from typing import TYPE_CHECKING

from karatage.errors import OptionError

if TYPE_CHECKING:
    import numpy as np


def generator(rng: int | np.random.Generator | None) -> np.random.Generator:
    """A generator from a seed; a generator is passed through, None gives fresh entropy.

    >>> bool(generator(7).random() == generator(7).random())
    True
    """
    import numpy as np

    return rng if isinstance(rng, np.random.Generator) else np.random.default_rng(None if rng is None else _check(rng))


def settle_seed(rng: int | np.random.Generator | None) -> int:
    """The seed to record: the one given, or one drawn."""
    if isinstance(rng, int):
        return _check(rng)
    return int(generator(rng).integers(2**32))


def _check(seed: int) -> int:
    if seed < 0:
        raise OptionError(f"a seed is a whole number from 0, not {seed}")
    return seed


def stream(seed: int, name: str) -> np.random.Generator:
    """A separate stream for each named piece of work, so that adding one changes no other."""
    import numpy as np

    return np.random.default_rng([seed, zlib.crc32(name.encode())])

"""How kernels are compiled: cached on disk, and free of the interpreter lock so that threads run them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

import numba

F = TypeVar("F", bound=Callable[..., object])


def kernel(function: F) -> F:
    """Compile `function` on first use."""
    return cast("F", numba.njit(cache=True, nogil=True, error_model="numpy")(function))

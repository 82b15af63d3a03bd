"""Studies of methods: many cells of work, resumable and parallel, one file per study."""

from karatage.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

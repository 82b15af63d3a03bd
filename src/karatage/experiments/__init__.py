"""The papers' experiments: many cells of work, which can be resumed and distributed."""

from karatage.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

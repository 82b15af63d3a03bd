"""Charts of results, for notebooks and files."""

from karatage.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

"""Statistics: agreement of judges, correlations of rankings, tests, analysis of variance, consensus models."""

from karatage.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

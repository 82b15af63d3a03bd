"""Simulated crowds and collections, whose truth is known."""

from karatage.lazy import attach

__getattr__, __dir__, __all__ = attach(__name__, __file__)

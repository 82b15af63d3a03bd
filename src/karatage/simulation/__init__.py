"""Worlds in which the truth is known."""

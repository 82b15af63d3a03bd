"""Noisy judges and a little gold [NOISY18]: intervals and tests that hold what they promise, and those that do not."""

"""Noisy judges and a little gold [NOISY18]: which intervals and tests are valid."""

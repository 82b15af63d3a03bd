"""Estimators correct the judges' errors with gold; the registry lists them."""

"""The SQUARE benchmark: models that merge grades, on many data sets."""

"""Estimators: each undoes the judges' errors with gold of some design, and says what it takes for granted."""

"""Measures of rankings: what they are called (`spec`) and what they are (`graded`)."""

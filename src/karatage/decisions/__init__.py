"""Decisions between systems: where judgments, gold, measures and corrections meet."""

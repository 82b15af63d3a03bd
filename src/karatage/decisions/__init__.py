"""Decisions between systems, from runs, judgments and gold."""

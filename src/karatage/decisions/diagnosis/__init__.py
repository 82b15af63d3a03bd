"""Diagnoses: what a set of files is fit for."""

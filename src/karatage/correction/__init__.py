"""Correcting judges' errors with a gold sample: arrays in, estimates with their variance out."""

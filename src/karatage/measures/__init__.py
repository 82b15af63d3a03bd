"""Measures of rankings: what one is (`spec`), all of them (`registry`), and scores by them."""

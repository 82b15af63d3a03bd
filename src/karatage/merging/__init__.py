"""Scores under many judges -> one: weights by how far a judge is from chance, or how near to gold."""

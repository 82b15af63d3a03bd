"""Scores under many judges -> one: weights by how far a judge is from chance, or how close to gold."""

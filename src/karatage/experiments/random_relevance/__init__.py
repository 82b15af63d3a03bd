"""The experiment on random relevance: judgments as probabilities, against gold with and without doubt."""

"""The experiment on random relevance: judgments as probabilities, against certain and uncertain gold."""

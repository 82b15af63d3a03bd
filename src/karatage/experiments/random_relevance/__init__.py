"""The experiment on random relevance: judgments as probabilities, against gold as it is and randomised gold."""

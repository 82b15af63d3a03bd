"""The s-AWARE experiment: weights of judges from gold of some topics, tested on the others."""

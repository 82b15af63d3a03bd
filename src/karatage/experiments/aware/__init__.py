"""The AWARE experiment: approaches on k-tuples of judges, against gold."""

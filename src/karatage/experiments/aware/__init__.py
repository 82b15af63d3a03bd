"""The AWARE experiment: approaches on k judges out of many, against gold."""

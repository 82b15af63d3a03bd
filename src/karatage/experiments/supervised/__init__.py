"""The s-AWARE experiment: judges weighed by gold on some topics, tried on the others."""

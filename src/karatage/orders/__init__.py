"""Which documents to judge next, and by whom."""

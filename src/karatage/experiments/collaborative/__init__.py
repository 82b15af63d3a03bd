"""The collaborative experiment: experts judge the top of a queue, a crowd the next part [COLLAB14]."""

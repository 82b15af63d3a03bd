"""How leaderboards and scores differ."""

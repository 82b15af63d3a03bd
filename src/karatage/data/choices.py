"""What options may be, and defaults that functions and commands share; imported to show help, so it imports nothing."""

from typing import Final, Literal

CONFIDENCE: Final = 0.95
Adjust = Literal["holm", "bh", "none"]  # for many pairs
Repeats = Literal["last", "first", "majority", "all", "error"]  # which grade counts when a judge graded again
Supervision = Literal["none", "light", "full"]  # what models use gold for

"""How far judges agree, how independent they are, and which of them look odd."""

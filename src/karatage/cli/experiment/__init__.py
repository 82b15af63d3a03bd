"""`karatage experiment`: the papers' experiments, one command each."""

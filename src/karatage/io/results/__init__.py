"""Results read back from JSON, a module for each kind."""

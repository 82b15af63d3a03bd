"""Results as pages; one module for each kind of result."""

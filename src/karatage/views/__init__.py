"""Results as charts and pages."""

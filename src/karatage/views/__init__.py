"""How results are shown: tables, charts and pages."""

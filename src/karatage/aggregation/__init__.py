"""From many judges' grades to one probability table per item; one file per model."""

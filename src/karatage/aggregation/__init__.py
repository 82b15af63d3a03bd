"""From many judges' grades to one belief per item; one file per model."""

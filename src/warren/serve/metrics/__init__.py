"""`/metrics`."""

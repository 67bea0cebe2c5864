"""Verdicts and log ends over time, in a Delta table."""

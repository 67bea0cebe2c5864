"""What outlives a tick: verdicts and log ends, kept in a Delta table."""

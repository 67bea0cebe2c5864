"""Bytes -> meaning: commits as Spark column functions, the rare group records on the driver."""

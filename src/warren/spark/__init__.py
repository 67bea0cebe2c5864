"""Spark: its Java, its jars, its session."""

"""The history of each partition: the last commits of every group, as a few large arrays."""

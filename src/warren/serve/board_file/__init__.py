"""A board as a file that the workers map into memory."""

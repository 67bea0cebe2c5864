"""A board as a file that other processes map."""

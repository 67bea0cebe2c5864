"""Push: notifications about groups that are in trouble, and about their recovery."""

"""Push: people are told of groups that are in trouble, and that they are well again."""

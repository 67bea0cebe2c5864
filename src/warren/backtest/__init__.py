"""History through evaluator and incidents again, under other policies: what would have paged."""

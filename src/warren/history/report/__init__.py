"""What `warren report` says: history in numbers."""

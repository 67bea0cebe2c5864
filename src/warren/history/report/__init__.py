"""`warren report`: history in numbers."""

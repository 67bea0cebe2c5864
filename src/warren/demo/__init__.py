"""A real broker, and groups in every state."""

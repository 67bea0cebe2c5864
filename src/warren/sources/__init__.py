"""Where offsets come from."""

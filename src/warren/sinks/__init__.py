"""From history to other stores: each sink is a stream with its own checkpoint."""

"""From history to other stores: one stream for each, with a checkpoint of its own."""

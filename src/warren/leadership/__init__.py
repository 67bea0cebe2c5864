"""Of several instances one leads: which one, and for how long."""

"""Of several instances one leads: who that is, and for how long."""

"""How the servers around us are reached, from what the configuration says of them."""

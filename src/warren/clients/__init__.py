"""Clients for the servers around us, made from the configuration."""

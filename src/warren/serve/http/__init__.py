"""Requests, answers, and the processes that give them."""

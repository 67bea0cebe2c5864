"""HTTP requests, answers, and the worker processes that serve them."""

"""Users' own Go templates, and the data passed to them."""

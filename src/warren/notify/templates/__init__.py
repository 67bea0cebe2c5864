"""Users' own Go templates, and the data they are given."""

"""What `warren status` and `warren lag` show, from a running Warren or from a cluster itself."""

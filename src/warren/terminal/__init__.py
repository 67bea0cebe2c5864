"""What `warren status` and `warren lag` show, asked of a running Warren or of a cluster itself."""

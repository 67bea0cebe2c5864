# Sourced by Spark's launcher. Ctrl-C reaches every process of the terminal, and a service manager's SIGTERM every
# process of the service: Spark must outlive both, so that Warren can finish its batch and stop Spark itself.
# (It cannot linger: it ends when the pipe to its parent closes.)
trap '' HUP INT TERM

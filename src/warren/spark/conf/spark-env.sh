# Sourced by Spark's launcher. Ctrl-C reaches every process of the terminal, and a service manager's SIGTERM every
# process of the service: Spark must outlive both, so that Warren can finish its batch and stop Spark itself.
# (It cannot linger: it ends when the pipes to its parent close.)
trap '' HUP INT TERM
# The C library would give every thread memory of its own, and take little of it back.
export MALLOC_ARENA_MAX="${MALLOC_ARENA_MAX:-2}"
# Whoever started it has gone, or has given up while it starts: nobody will ever connect to it.
# (Java takes the place of this shell and has its process id.)
if [ -n "${WARREN_LIFELINE:-}" ]; then
    { read -r _ <&"$WARREN_LIFELINE"; kill -9 $$; } >/dev/null 2>&1 &
fi

"""What surrounds the work: pidfile, output, logs, signals. `life` puts them in order."""

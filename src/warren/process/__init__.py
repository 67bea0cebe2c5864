"""The process around the work: pidfile, output, logs, signals. `life` puts them together."""

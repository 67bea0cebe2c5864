"""Warren judges Kafka consumer groups without thresholds."""

__version__ = "0.1.0"

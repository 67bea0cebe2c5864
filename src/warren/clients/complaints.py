"""Why brokers cannot be reached: librdkafka tells it beside the calls that fail of it."""

from confluent_kafka import KafkaError, KafkaException


class Complaints:
    """Remembers the last one: give it to a client as `error_cb`."""

    def __init__(self) -> None:
        self.last = ""

    def __call__(self, error: KafkaError) -> None:
        # That all brokers are down follows from what was told before, and gives no reason.
        if error.code() != KafkaError._ALL_BROKERS_DOWN:  # noqa: SLF001  # librdkafka's own codes
            # Without "(after 3ms in state CONNECT)": the same failure should read the same.
            self.last = error.str().partition(" (after ")[0]

    def reason(self, error: KafkaException) -> str:
        """Such as a wrong password; if nothing was told, what the call failed of."""
        return self.last or str(error.args[0].str())

    def forget(self) -> None:
        self.last = ""

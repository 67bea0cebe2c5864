"""What the owner of a configuration that is right should know all the same.

Mostly what this version does not do yet: a line goes when the work it speaks of is done.
"""

from warren.config.config import Config
from warren.config.findings import Findings


def notice(config: Config, findings: Findings) -> None:
    if not config.clusters:
        findings.warn("cluster", "there is no [cluster.NAME]: nothing to monitor")
    for name, consumer in config.consumers.items():
        if consumer.class_name != "kafka":
            text = f"consumers of class {consumer.class_name} are not read by this version yet"
            findings.warn(f"consumer.{name}", text)
    for name in config.notifiers:
        findings.warn(f"notifier.{name}", "notifications are not sent by this version yet")
    if config.general.state_dir:
        findings.warn("general.state-dir", "not used by this version yet")

"""What the owner of a configuration that is right should know all the same.

Mostly what this version does not do yet: a line goes when the work it speaks of is done.
"""

from warren.config.config import Config
from warren.config.findings import Findings
from warren.config.secrets import has_java_options, is_secretive

IN_ARGUMENTS = (
    "what is secret in it shows in the arguments of Spark's processes on other machines; leave it "
    "to a file there"
)


def notice(config: Config, findings: Findings) -> None:
    if not config.clusters:
        findings.warn("cluster", "there is no [cluster.NAME]: nothing to monitor")
    is_local = config.spark.master.startswith("local")
    if config.history is not None and not is_local and "://" not in config.history_directory:
        findings.warn(
            "history.directory",
            f"it is a path, and Spark runs on {config.spark.master}: unless all its machines share "
            "that path, each writes its part to its own disk; give a URL",
        )
    for name, value in config.spark.conf.items():
        is_ours = is_local or name.startswith("spark.driver.")
        if has_java_options(name) and is_secretive(value) and not is_ours:
            findings.warn(f"spark.conf.{name}", IN_ARGUMENTS)

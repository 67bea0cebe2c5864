"""The options of Spark's Java, and why each is set.

Those of the user come last and win, and some of them stop us from setting ours.
"""

import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from warren.spark.class_archive import OPTIONS_VARIABLES, ClassArchive

# Stopping a query inside foreachBatch unwinds a deep stack and overflows the default one.
# Hadoop starts `chmod` for each file of a checkpoint, two in a batch: VFORK makes that cheap.
EVERYWHERE = ("-Xss8m", "-Djdk.lang.Process.launchMechanism=VFORK")
# On a small machine more threads for garbage take time from the others. With less room for what is
# new, collections would take more of a catch-up than reading does; another collector would leave
# Spark less of a small heap than it starts with.
OWN_COLLECTOR = ("-XX:+UseSerialGC", "-XX:NewRatio=1")
COLLECTOR = re.compile(r"-XX:\+Use\w+GC\b")
# The second compiler waits ten times as long as usual before it takes on a method. So it leaves
# the start alone, and compiles what a catch-up of millions runs again and again.
LATE_COMPILER = (
    "-XX:Tier4InvocationThreshold=50000",
    "-XX:Tier4MinInvocationThreshold=6000",
    "-XX:Tier4CompileThreshold=150000",
    "-XX:Tier4BackEdgeThreshold=400000",
)
# What is live takes some 60 MB. By default the heap starts with a 64th of the machine's memory, and
# keeps what a catch-up needed, or gives it back in four collections.
SMALL_HEAP = (
    *("-Xms48m", "-XX:MinHeapFreeRatio=25", "-XX:MaxHeapFreeRatio=40"),
    "-XX:-ShrinkHeapInSteps",
)
LOCAL = ("-XX:-UsePerfData", *LATE_COMPILER, *SMALL_HEAP)  # without a file in /tmp
OWN_SHARING = re.compile(r"-Xshare|Shared(Archive|ClassList)File|ArchiveClasses|DumpLoaded|AOT")
GIVEN_OPTIONS = "spark.driver.extraJavaOptions"
DEFAULT_OPTIONS = "spark.driver.defaultJavaOptions"
DRIVER_OPTIONS = (DEFAULT_OPTIONS, GIVEN_OPTIONS)
CONF_DIR = Path(__file__).parent / "conf"
LOG_SETTINGS = CONF_DIR / "log4j2.properties"


def compose(
    conf: Mapping[str, str], archive: ClassArchive | None, class_list: Path, *, is_local: bool
) -> str:
    """The options of the driver's Java; classes are listed in a file if there is no archive yet."""
    options = list(EVERYWHERE)
    if is_local:
        options += LOCAL
        if not COLLECTOR.search(_given(conf)):  # two different ones would be an error
            options += OWN_COLLECTOR
        if is_own_conf():
            options.append(f"-Dlog4j2.configurationFile={LOG_SETTINGS.as_uri()}")
    if archive is not None:
        options += archive.options(class_list)
    return " ".join([shlex.join(options), conf.get(GIVEN_OPTIONS, "")])


def allow_archive(conf: Mapping[str, str]) -> bool:
    """Whether the user has set up no archive of another kind."""
    return not OWN_SHARING.search(_given(conf))


def _given(conf: Mapping[str, str]) -> str:
    """All options that the user gives to Java, wherever."""
    settings = [conf.get(name, "") for name in DRIVER_OPTIONS]
    variables = (*OPTIONS_VARIABLES, "SPARK_SUBMIT_OPTS")
    return " ".join([*settings, *(os.environ.get(name, "") for name in variables)])


def is_own_conf() -> bool:
    return os.environ.get("SPARK_CONF_DIR", str(CONF_DIR)) == str(CONF_DIR)

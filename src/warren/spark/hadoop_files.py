"""Files wherever Spark's file systems reach: `file:`, `hdfs:`, `s3a:`, `abfss:` and so on.

Hadoop's own API is called in Spark's Java process, one small file at a time: its answers come
without a Spark job, so thousands of small files cost little (benchmarks/checkpoints.py). It only
reads. Errors are Python's own, with the first line of what Java says.
"""

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.sql import SparkSession

from warren.errors import StreamEnded

MOST_BYTES = 64 * 1024 * 1024  # of a file
_FILE_SYSTEM = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?")
_MISSING = ("FileNotFoundException", "NoSuchFileException")
_REFUSED = ("AccessControlException", "AccessDeniedException")
_NO_SUCH_SYSTEM = ("UnsupportedFileSystemException", "ClassNotFoundException")
JARS = "; Spark needs the jars of this file system: name them as spark.jars in [spark.conf]"


class _System(NamedTuple):
    """A file system of Hadoop's, two ways."""

    whole: Any  # leaves checksum files out of listings
    files: Any  # reads without checksums: else Hadoop moves a local file that does not fit its own


class HadoopFiles:
    """Paths are texts with or without a scheme; several threads may ask at once."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        jvm = context._jvm  # noqa: SLF001  Hadoop has no Python API
        # Looked up once: each dot of a Java name is a question to Java.
        self._path = jvm.org.apache.hadoop.fs.Path
        self._to_paths = jvm.org.apache.hadoop.fs.FileUtil.stat2Paths
        self._conf = context._jsc.hadoopConfiguration()  # noqa: SLF001  see above
        self._systems: dict[str, _System] = {}
        self._mapper = _json_of_paths(jvm)

    def find(self, pattern: str) -> list[str]:
        """Everything that matches Hadoop's pattern, such as `s3a://lake/checkpoints/*`."""
        return self._paths(pattern, lambda system, path: system.whole.globStatus(path))

    def names(self, directory: str) -> list[str]:
        """The names of what is in a directory."""
        paths = self._paths(directory, lambda system, path: system.whole.listStatus(path))
        return [path.rpartition("/")[2] for path in paths]

    def exists(self, path: str) -> bool:
        """Ask this of a file that may be absent: Java's exceptions cost many times as much."""
        with _failures():
            system, there = self._open(path)
            return bool(system.files.exists(there))

    def modified_ms(self, path: str) -> int:
        with _failures():
            system, there = self._open(path)
            return int(system.files.getFileStatus(there).getModificationTime())

    def read(self, path: str) -> bytes:
        with _failures():
            system, there = self._open(path)
            stream = system.files.open(there)
            try:
                return bytes(stream.readNBytes(MOST_BYTES))
            finally:
                stream.close()

    def _paths(self, text: str, ask: Any) -> list[str]:
        with _failures():
            found = ask(*self._open(text))
            if found is None:
                return []
            listed = self._mapper.writeValueAsString(self._to_paths(found))
        paths: list[str] = json.loads(listed)
        return paths

    def _open(self, text: str) -> tuple[_System, Any]:
        """The file system of a path, and the path as Java has it."""
        path = self._path(text)
        found = _FILE_SYSTEM.match(text)
        name = found[0] if found else ""
        if name not in self._systems:
            whole = path.getFileSystem(self._conf)
            is_local = whole.getUri().getScheme() == "file"
            self._systems[name] = _System(whole, whole.getRaw() if is_local else whole)
        return self._systems[name], path


def _json_of_paths(jvm: Any) -> Any:
    """Writes all paths of a listing as one text: each call into Java costs."""
    module = jvm.com.fasterxml.jackson.databind.module.SimpleModule()
    as_text = jvm.com.fasterxml.jackson.databind.ser.std.ToStringSerializer()
    module.addSerializer(jvm.java.lang.Class.forName("org.apache.hadoop.fs.Path"), as_text)
    return jvm.com.fasterxml.jackson.databind.ObjectMapper().registerModule(module)


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except Py4JJavaError as error:
        raise _failure(error) from error
    except (Py4JError, ConnectionError) as error:  # Java has ended: no file is to blame
        raise StreamEnded("Spark does not answer") from error


def _failure(error: Py4JJavaError) -> OSError:
    """Java's exception as one of Python's."""
    text = str(error.java_exception.toString())
    line = next((each.strip() for each in text.splitlines() if each.strip()), "no reason given")
    kind, _, reason = line.partition(": ")
    reason = reason or kind.rpartition(".")[2]
    if kind.endswith(_MISSING):
        return FileNotFoundError(reason)
    if kind.endswith(_REFUSED):
        return PermissionError(reason)
    return OSError(reason + JARS if any(each in line for each in _NO_SUCH_SYSTEM) else reason)

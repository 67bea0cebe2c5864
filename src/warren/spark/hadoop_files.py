"""Files wherever Spark's file systems reach: `file:`, `hdfs:`, `s3a:`, `abfss:` and so on.

Hadoop's own API is called in Spark's Java process, one small file at a time: its answers come
without a Spark job, so thousands of small files cost little (benchmarks/checkpoints.py). It only
reads. Every failure of a file system is an OSError, with the first line of what Java says.
"""

import json
import os
import re
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import re2
from py4j.protocol import Py4JError, Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from warren.errors import StreamEnded

MOST_BYTES = 64 * 1024 * 1024  # of a file
ABSENT = (FileNotFoundError, NotADirectoryError)
_FILE_SYSTEM = re.compile(r"(?:[A-Za-z][A-Za-z0-9+.-]*:(?://[^/]*)?)?")
_VARIABLE = re.compile(r"[*?\[{\\]")
_MISSING = ("FileNotFoundException", "NoSuchFileException")
_REFUSED = ("AccessControlException", "AccessDeniedException")
_NO_SUCH_SYSTEM = ("UnsupportedFileSystemException", "ClassNotFoundException")
JARS = "; Spark needs the jars of this file system: name them as spark.jars in [spark.conf]"


class _System(NamedTuple):
    """A file system of Hadoop's, two ways."""

    whole: Any  # leaves checksum files out of listings
    files: Any  # reads without checksums: else Hadoop moves a local file that does not fit its own
    is_local: bool


class HadoopFiles:
    """Paths are texts with or without a scheme; several threads may ask at once."""

    def __init__(self, spark: SparkSession) -> None:
        context: Any = spark.sparkContext
        jvm = context._jvm  # noqa: SLF001  Hadoop has no Python API
        # Looked up once: each dot of a Java name is a question to Java.
        self._path = jvm.org.apache.hadoop.fs.Path
        self._to_paths = jvm.org.apache.hadoop.fs.FileUtil.stat2Paths
        self._alternatives = jvm.org.apache.hadoop.fs.GlobExpander.expand
        self._compile = jvm.org.apache.hadoop.fs.GlobPattern.compile
        self._conf = context._jsc.hadoopConfiguration()  # noqa: SLF001  see above
        self._systems: dict[str, _System] = {}
        self._mapper = _json_of_paths(jvm)

    def find(self, pattern: str) -> list[str]:
        """Everything that matches Hadoop's pattern, such as `s3a://lake/checkpoints/*`.

        A directory below the pattern's root that cannot be listed is itself in the answer. Hadoop's
        own search fails as a whole for it, and wherever a name has a colon.
        """
        with _failures():
            alternatives = [str(each) for each in self._alternatives(pattern)]
        return sorted({path for each in alternatives for path in self._matching(each)})

    def root(self, pattern: str) -> str:
        """The directory of a pattern below which names vary; the whole path if none do."""
        fixed, _ = _split(pattern)
        with self._asking(fixed) as (system, path):
            return str(system.whole.makeQualified(path).toString())

    def names(self, directory: str) -> list[str]:
        """The names of what is in a directory."""
        with self._asking(directory) as (system, path):
            listed = self._mapper.writeValueAsString(self._to_paths(system.whole.listStatus(path)))
            names = [each.rpartition("/")[2] for each in json.loads(listed)]
            if names == [directory.rpartition("/")[2]] and not system.files.isDirectory(path):
                raise NotADirectoryError("it is no directory")
            if not names and system.is_local and not os.access(_local(directory), os.X_OK):
                raise PermissionError("Permission denied")  # to Java it is empty
        return names

    def exists(self, path: str) -> bool:
        """Ask this of a file that may be absent: Java's exceptions cost many times as much."""
        with self._asking(path) as (system, there):
            return bool(system.files.exists(there)) or (system.is_local and _is_local_there(path))

    def modified_ms(self, path: str) -> int:
        with self._asking(path) as (system, there):
            return int(system.files.getFileStatus(there).getModificationTime())

    def identity(self, directory: str) -> tuple[int, int] | None:
        """Tells a local directory from another at its place, such as where a disk was mounted.

        None on other file systems, which are not mounted.
        """
        with self._asking(directory) as (system, _):
            found = _local(directory).stat() if system.is_local else None
            return (found.st_dev, found.st_ino) if found else None

    def read(self, path: str) -> bytes:
        with self._asking(path) as (system, there):
            if system.is_local and _is_special(_local(path)):
                raise OSError("it is no regular file")  # a pipe may never end
            stream = system.files.open(there)
            try:
                return bytes(stream.readNBytes(MOST_BYTES))
            finally:
                stream.close()

    def _matching(self, pattern: str) -> Iterator[str]:
        """What matches a pattern without alternatives that span directories."""
        _, parts = _split(pattern)
        root, is_listed = self.root(pattern), False
        places = [root]
        for part in parts:
            if not (is_listed := bool(_VARIABLE.search(part))):
                places = [_join(place, part) for place in places]
                continue
            matches, found = self._matcher(part), list[str]()
            for place in places:
                try:
                    found += [_join(place, name) for name in self.names(place) if matches(name)]
                except ABSENT:
                    continue
                except OSError:
                    if place == root:
                        raise
                    yield place
            places = found
        yield from (place for place in places if is_listed or self.exists(place))

    def _matcher(self, part: str) -> Any:
        with _failures():
            expression = str(self._compile(part).pattern())
        return re2.compile(f"(?s){expression}").fullmatch

    @contextmanager
    def _asking(self, text: str) -> Iterator[tuple[_System, Any]]:
        """The file system of a path, and the path as Java has it."""
        with _failures():
            path = self._path(text)
            name = _system_of(text)
            if name not in self._systems:
                whole = path.getFileSystem(self._conf)
                is_local = whole.getUri().getScheme() == "file"
                files = whole.getRaw() if is_local else whole
                self._systems[name] = _System(whole, files, is_local)
            system = self._systems[name]
        try:
            with _failures():
                yield system, path
        except ValueError as error:  # such as a zero byte
            raise OSError(str(error)) from error
        except OSError as error:
            raise (_as_local(error, _local(text)) if system.is_local else error) from error


def _json_of_paths(jvm: Any) -> Any:
    """Writes all paths of a listing as one text: each call into Java costs."""
    module = jvm.com.fasterxml.jackson.databind.module.SimpleModule()
    as_text = jvm.com.fasterxml.jackson.databind.ser.std.ToStringSerializer()
    module.addSerializer(jvm.java.lang.Class.forName("org.apache.hadoop.fs.Path"), as_text)
    return jvm.com.fasterxml.jackson.databind.ObjectMapper().registerModule(module)


def _system_of(text: str) -> str:
    found = _FILE_SYSTEM.match(text)
    return found[0] if found else ""


def _split(pattern: str) -> tuple[str, Sequence[str]]:
    """The fixed start of a pattern, and the names after it."""
    system = _system_of(pattern)
    parts = pattern[len(system) :].split("/")
    at = next((at for at, part in enumerate(parts) if _VARIABLE.search(part)), len(parts))
    fixed = system + "/".join(parts[:at])
    return fixed + "/" * (fixed == system), [part for part in parts[at:] if part]


def _join(directory: str, name: str) -> str:
    return f"{directory.rstrip('/')}/{name}"


def _local(text: str) -> Path:
    """A path of the local file system as Python has it: Java runs on the same machine."""
    return Path(text[len(_system_of(text)) :])


def _is_local_there(path: str) -> bool:
    """Java takes a local file for absent that is out of reach; this raises an OSError."""
    try:
        _local(path).stat()
    except ABSENT:
        return False
    return True


def _is_special(file: Path) -> bool:
    """Whether it is a pipe, a device or a socket; what cannot be told is left to Java."""
    try:
        mode = file.stat().st_mode
    except OSError:
        return False
    return not stat.S_ISREG(mode) and not stat.S_ISDIR(mode)


def _as_local(error: OSError, file: Path) -> OSError:
    """Java takes a local file for absent that is out of reach or that may not be read."""
    try:
        file.stat()
    except ABSENT:
        return error
    except OSError as found:
        return found
    return error if os.access(file, os.R_OK) else PermissionError("Permission denied")


@contextmanager
def _failures() -> Iterator[None]:
    try:
        yield
    except Py4JJavaError as error:
        raise _failure(str(error.java_exception.toString())) from error
    except PySparkException as error:  # PySpark has its own for some of Java's
        raise _failure(str(error)) from error
    except (Py4JError, ConnectionError) as error:  # Java has ended: no file is to blame
        raise StreamEnded("Spark does not answer") from error


def _failure(said: str) -> OSError:
    """Java's exception as one of Python's."""
    line = next((each.strip() for each in said.splitlines() if each.strip()), "no reason given")
    kind, _, reason = line.partition(": ")
    if not kind.endswith(("Exception", "Error")):
        reason = line
    elif " " not in reason:  # only a host, or nothing
        reason = ": ".join([kind.rpartition(".")[2], *([reason] if reason else [])])
    if kind.endswith(_MISSING):
        return FileNotFoundError(reason)
    if kind.endswith(_REFUSED):
        return PermissionError(reason)
    return OSError(reason + JARS if any(each in line for each in _NO_SUCH_SYSTEM) else reason)

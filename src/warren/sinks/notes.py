"""Small texts beside history, on whatever file system that is.

A text is there as a whole or as it was before, whatever ends the process: it is written beside and
takes the old one's place.
"""

from typing import Any

from pyspark.sql import SparkSession

END = "\n"  # of a text that was written to its end


class Notes:
    def __init__(self, spark: SparkSession, folder: str) -> None:
        context: Any = spark.sparkContext
        self._jvm = context._jvm  # noqa: SLF001  Hadoop has no Python API
        self._folder = folder
        files = self._path("").getFileSystem(context._jsc.hadoopConfiguration())  # noqa: SLF001  see above
        # Without checksums, which are files of their own: two cannot take others' places at once.
        self._files = files.getRaw() if files.getUri().getScheme() == "file" else files

    def read(self, name: str) -> str | None:
        """Nothing where there is no such text."""
        if self._files.exists(self._path(name)):
            return self._text(self._path(name)).removesuffix(END)
        if not self._files.exists(self._beside(name)):
            return None
        text = self._text(self._beside(name))  # written to its end, or not
        return text.removesuffix(END) if text.endswith(END) else None

    def write(self, name: str, text: str) -> None:
        path, beside = self._path(name), self._beside(name)
        stream = self._files.create(beside, True)  # noqa: FBT003  Java: write over what is there
        try:
            stream.write(bytearray(text + END, "utf-8"))
        finally:
            stream.close()
        if not self._files.rename(beside, path):  # not everywhere does that replace a file
            self.drop(name)
            self._files.rename(beside, path)

    def _text(self, path: Any) -> str:
        stream = self._files.open(path)
        try:
            return bytes(stream.readAllBytes()).decode()
        finally:
            stream.close()

    def _beside(self, name: str) -> Any:
        return self._path(f"{name}.new")

    def names(self) -> list[str]:
        """Of all that is in the folder."""
        return [status.getPath().getName() for status in self._files.listStatus(self._path(""))]

    def drop(self, name: str) -> None:
        """A text, or a folder with all that is in it."""
        self._files.delete(self._path(name), True)  # noqa: FBT003  Java: what is in it too

    def _path(self, name: str) -> Any:
        return self._jvm.org.apache.hadoop.fs.Path(f"{self._folder}/{name}")

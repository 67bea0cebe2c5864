"""Kafka's primitive forms as Spark columns over a binary column that is never null.

No bytes make these functions fail. Beyond the end of the data a number reads as zero bytes, and a
string ends beyond it too. So a caller must compare where a field ends with the length of the data
before using the field. Without nulls and guards at every step the generated code stays small enough
for the JIT, which compiles no method above 8,000 bytes.

Positions count from zero. The functions use their arguments several times: give a computed argument
a column of its own first, or the expression grows with every step.
"""

from functools import reduce

from pyspark.sql import Column
from pyspark.sql import functions as F
from pyspark.sql.classic.column import Column as ClassicColumn
from pyspark.sql.utils import get_active_spark_context

NOWHERE = 1 << 28  # beyond the end of any record; the sum of a few still fits an int
VARINT_BYTES = 5  # of an unsigned 32-bit number, seven bits in each


def big_endian(data: Column) -> Column:
    """Read the first eight bytes as a signed 64-bit integer; missing ones count as zero.

    SQL has only `conv(hex(data), 16, -10)` for this, which makes two strings and would cost more
    than everything else. `ByteArray.getPrefix`, with which Spark sorts binary columns, is compiled
    into the generated code and costs next to nothing.
    """
    context = get_active_spark_context()
    jvm = context._jvm  # noqa: SLF001 - PySpark has no public way to name a Catalyst expression
    assert jvm is not None  # noqa: S101 - there is one as long as there is a context
    expressions = jvm.org.apache.spark.sql.classic.ExpressionUtils
    argument = expressions.expression(data._jc)  # noqa: SLF001
    prefix = jvm.org.apache.spark.sql.catalyst.expressions.objects.StaticInvoke(
        jvm.java.lang.Class.forName("org.apache.spark.unsafe.types.ByteArray"),
        jvm.org.apache.spark.sql.types.DataType.fromJson('"long"'),
        "getPrefix",
        jvm.PythonUtils.toSeq([argument]),
        jvm.PythonUtils.toSeq([]),  # no implicit casts of the argument
        True,  # noqa: FBT003 - a null argument gives a null
        False,  # noqa: FBT003 - any other never does
        True,  # noqa: FBT003 - deterministic
        jvm.scala.Option.empty(),
    )
    return ClassicColumn(expressions.column(prefix))


def integer(data: Column, at: Column, width: int) -> Column:
    """Read the signed big-endian integer of `width` bytes at `at`."""
    bits = big_endian(F.substring(data, at + 1, F.lit(width)))
    return F.shiftright(bits, 64 - 8 * width) if width < 8 else bits


def text(data: Column, begin: Column, end: Column) -> Column:
    """Read the characters from `begin` to `end`.

    Bytes that are not UTF-8 become U+FFFD, as in Burrow's JSON: readers of Arrow fail on them.
    """
    return F.make_valid_utf8(F.substring(data, begin + 1, end - begin).cast("string"))


def after_string(at: Column, size: Column) -> Column:
    """Where the string at `at` ends, by its `size`: -1 is null, less is wrong."""
    taken = F.when(size >= 0, size).when(size == -1, 0).otherwise(NOWHERE)
    return at + 2 + taken.cast("int")


def after_compact_string(at: Column, head: Column) -> Column:
    """Where a compact string ends, by its first eight bytes: a varint of length + 1, 0 is null."""
    taken = F.lit(NOWHERE).cast("long")
    for last in reversed(range(VARINT_BYTES)):
        is_last = _byte(head, last).bitwiseAND(F.lit(0x80)) == 0
        length = F.greatest(_varint(head, last), F.lit(1)) - 1
        taken = F.when(is_last, length + (last + 1)).otherwise(taken)
    return at + F.least(taken, F.lit(NOWHERE)).cast("int")


def _varint(head: Column, last: int) -> Column:
    sevens = (
        F.shiftleft(_byte(head, place).bitwiseAND(F.lit(0x7F)), 7 * place)
        for place in range(last + 1)
    )
    return reduce(Column.bitwiseOR, sevens)


def _byte(head: Column, place: int) -> Column:
    """Shift one of the eight bytes to the right end; the bytes left of it stay."""
    return F.shiftright(head, 56 - 8 * place)

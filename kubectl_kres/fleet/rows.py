"""Files of rows: one a cluster, gzipped JSON lines or Parquet. A file appears whole or not at all."""

from __future__ import annotations

import contextlib
import gzip
import os
from collections.abc import Callable, Iterable, Iterator
from importlib import import_module, util
from pathlib import Path
from types import UnionType
from typing import Any, Final, Protocol, get_args, get_origin, get_type_hints

import msgspec
from msgspec import Struct

from kubectl_kres.errors import UsageError
from kubectl_kres.quantity import Quantity

ENDINGS: Final = {"jsonl": ".jsonl.gz", "parquet": ".parquet"}
#: Rows of one group of a Parquet file.
_GROUP: Final = 10_000
_INT64: Final = 2**63

_ENCODER: Final = msgspec.json.Encoder()


class FleetRow(Struct, frozen=True, gc=False):
    """Base of all rows: flat, in snake case, each column in every row; what is not known is null."""

    cluster: str


class Summary(Protocol):
    """Takes in the reports about one cluster one by one; knows at the end what is to say of all of them.

    ``row``: the type of its rows. ``summed``: the figures that add up over clusters.
    """

    row: type[FleetRow]
    summed: tuple[str, ...]

    def add(self, report: Any) -> Iterable[FleetRow]:
        """Return the rows of one report."""
        ...

    def figures(self) -> dict[str, int | str]:
        """Counts and names by column, in their order."""
        ...

    def rank(self) -> tuple[int, ...]:
        """Return the larger, the worse."""
        ...

    def negative(self) -> bool:
        """Return whether it is what ``--exit-code`` tells."""
        ...


#: Takes rows.
Write = Callable[[Iterable[FleetRow]], None]


def int64(number: int) -> int | None:
    """Return the number if a column of 64 bits holds it; else only the exact text beside it tells."""
    return number if -_INT64 <= number < _INT64 else None


def parse_cell_amount(name: str, amount: Quantity) -> tuple[int | None, str]:
    """Return an amount of a resource as a whole number, and the unit that it counts: bytes, millicores or objects.

    None where it is beyond 64 bits. ``name``: of a resource or of a quota's line, as ``requests.memory``.
    """
    resource = name.rpartition("/")[2].removeprefix("requests.").removeprefix("limits.")
    if resource == "cpu":
        return int64(amount.milli()), "millicores"
    if resource in {"memory", "ephemeral-storage", "storage"} or resource.startswith("hugepages-"):
        return int64(amount.value()), "bytes"
    return int64(amount.value()), "count"


@contextlib.contextmanager
def open_writer(file: str, part: str, form: str, row: type[FleetRow]) -> Iterator[Write]:
    """Take the rows of ``file``, which is there once all is done; on any error nothing is. Without a file: nowhere.

    Raises OSError.
    """
    if not file:
        yield lambda _rows: None
        return
    try:
        with _open_parquet(part, row) if form == "parquet" else _lines(part) as write:
            yield write
        Path(part).replace(file)
    except BaseException:
        Path(part).unlink(missing_ok=True)
        raise


@contextlib.contextmanager
def _lines(part: str) -> Iterator[Write]:
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
        with gzip.GzipFile("", "wb", 6, raw, 0) as packed:

            def write(rows: Iterable[FleetRow]) -> None:
                packed.write(_ENCODER.encode_lines(list(rows)))

            yield write
        raw.flush()
        os.fsync(raw.fileno())


@contextlib.contextmanager
def _open_parquet(part: str, row: type[FleetRow]) -> Iterator[Write]:
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    schema = arrow.schema([(name, _column(arrow, kind)) for name, kind in get_type_hints(row).items()])
    fleet_rows: list[FleetRow] = []
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "wb") as raw:
        with parquet.ParquetWriter(raw, schema) as writer:

            def flush() -> None:
                columns = {name: [getattr(fleet_row, name) for fleet_row in fleet_rows] for name in schema.names}
                for name, values in columns.items():
                    if values and isinstance(values[0], dict):
                        columns[name] = [list(value.items()) for value in values]
                writer.write_table(arrow.table(columns, schema=schema))
                fleet_rows.clear()

            def write(rows: Iterable[FleetRow]) -> None:
                for fleet_row in rows:
                    fleet_rows.append(fleet_row)
                    if len(fleet_rows) >= _GROUP:
                        flush()

            yield write
            flush()
        raw.flush()
        os.fsync(raw.fileno())


def _column(arrow: Any, kind: Any) -> Any:
    """Return the type of a column, out of that of the field."""
    if isinstance(kind, UnionType):
        kind = next(get_arg for get_arg in get_args(kind) if get_arg is not type(None))
    if get_origin(kind) is dict:
        return arrow.map_(arrow.string(), arrow.string())
    return {str: arrow.string(), int: arrow.int64(), bool: arrow.bool_()}[kind]


def parquet_available() -> None:
    """Raises UsageError where pyarrow is not installed."""
    if util.find_spec("pyarrow") is None:
        raise UsageError("-o parquet needs pyarrow", hint="pip install 'kubectl-kres[fleet]'")

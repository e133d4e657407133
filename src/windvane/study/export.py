"""A study's journal as a file: CSV, JSON lines or Parquet.

It is written in batches, so that a journal of any length needs little memory, and appears whole or not at
all, readable by its owner only, as the database is. CSV and Parquet have one row per record and one column
per parameter; JSON lines have all that a record holds. Floats are written so that they are read back
bit for bit.

Units, where there are any, are beside the names in CSV, `force [N]`; in JSON lines each record has them under
"units", and in Parquet a column has its own in its metadata. An import refuses another unit than the study's.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

from windvane.checks import one_of
from windvane.codec import decode
from windvane.constraints import Constraint
from windvane.errors import InvalidType, StorageFailure, UnknownName, WindvaneError
from windvane.extras import require
from windvane.files import whole
from windvane.protocol.checks import format_of, space_of
from windvane.replay.layout import OUTCOME, PREFIX
from windvane.spaces import Arms, Candidates, Choice, Integer, Parameter, Space
from windvane.spaces.base import Domain
from windvane.spelling import coordinate_names
from windvane.storage import AMENDING, Record
from windvane.storage.records import dumps
from windvane.unit_labels import UNIT, labelled, units_of

if TYPE_CHECKING:
    from windvane.study.study import Study

EXTRA = "parquet"
BATCH = 2_000  # records in memory at a time; a row group of Parquet

BEFORE = ("seq", "kind", "at", "trial")
EVENT = ("mean", "std", "statistic", "threshold", "kept", "size")  # what the optimiser said of a tell
NOISE = ("noise_variance", "repeats", "values")  # as they were told, if they were
AFTER = ("y", "time", "step", *EVENT[:4], "reset", "reason", *EVENT[4:], "metadata", *NOISE)


def export(study: Study, path: str | Path, format: str | None = None) -> int:
    """Write the journal to a file, in the format of its ending unless one is given; returns the count."""
    if not isinstance(path, str | Path):
        raise InvalidType(f"path={path!r}: must be a path")
    file = Path(path)
    kind = format_of(file, format)
    write = _write_parquet if kind == "parquet" else _write_text
    try:
        if file.is_dir():
            raise StorageFailure(f"{file}: is a folder; must be a file")
        with whole(file, private=True) as draft, draft.open("wb") as out:
            return write(study, out, kind)
    except WindvaneError:
        raise
    except OSError as error:
        raise StorageFailure(f"{file}: {error.strerror or error}; choose another place") from error


def text(study: Study, format: str) -> Iterator[tuple[str, int]]:
    """The journal as "csv" or "jsonl", piece by piece, each with the number of its records."""
    one_of("format", format, ("csv", "jsonl"))
    table = _columns_of(study)
    if format == "jsonl":
        more = {"units": table.units} if table.units else {}
        for batch in _batches(study):
            yield "".join(f"{dumps({**record.as_dict(), **more})}\n" for record in batch), len(batch)
        return
    yield _csv([[labelled(name, table.units.get(name, "")) for name in table.names]]), 0
    for batch in _batches(study):
        yield _csv([_cell(value) for value in table.row(record)] for record in batch), len(batch)


class Columns:
    """The columns of a table of records: of the point, a column a parameter.

    >>> from windvane.spaces import Real
    >>> Columns(Space(gain=Real(0, 1), step=Real(0, 1))).names[:7]
    ['seq', 'kind', 'at', 'trial', 'gain', 'x.step', 'y']
    """

    def __init__(
        self,
        space: Domain,
        *,
        amended: bool = False,
        constraints: Mapping[str, Constraint] = MappingProxyType({}),
    ) -> None:
        """With `amended`, a column has the number of the record that a record is about."""
        self._outcomes = {OUTCOME + name: name for name in constraints}
        limits = {name: limit.unit for name, limit in constraints.items() if limit.unit}
        self.units = {_column(name): unit for name, unit in units_of(space).items()}
        self.units |= {OUTCOME + name: unit for name, unit in limits.items()}
        self._take: Callable[[Any], Sequence[Any]] = list
        self.parameters: dict[str, Parameter | None]
        names = coordinate_names(space)
        if isinstance(space, Space):
            self.parameters = {_column(name): parameter.values for name, parameter in space.parameters}
            self._take = lambda x: [x[name] for name in names]
        elif isinstance(space, Arms | Candidates):
            self.parameters = dict.fromkeys(names, Integer(0, space.size - 1))
            self._take = lambda x: [x]
        else:
            self.parameters = dict.fromkeys(names)
        self._after = (*AFTER, *self._outcomes, *(("record",) if amended else ()))
        self.names = [*BEFORE, *self.parameters, *self._after]

    def row(self, record: Record) -> list[Any]:
        """The cells of a record; what there is none of is None, an infinite threshold too."""
        event: Mapping[str, Any] = record.event or {}
        point = [None] * len(self.parameters) if record.x is None else self._take(record.x)
        own = {
            "metadata": dumps(dict(record.metadata)) if record.metadata else None,
            **{name: event.get(name) for name in EVENT},
            **_noise(event),
            "record": event.get("record"),
            **{column: record.outcomes.get(name) for column, name in self._outcomes.items()},
        }
        after = [own[name] if name in own else getattr(record, name) for name in self._after]
        return [*(getattr(record, name) for name in BEFORE), *point, *after]


def _columns_of(study: Study) -> Columns:
    """As the definition says: the journal is exported without the model, which may be damaged."""
    summary = study.summary()
    return Columns(space_of(summary.definition), amended=_amended(study), constraints=summary.constraints)


def _noise(event: Mapping[str, Any]) -> dict[str, Any]:
    """The noise variance that was told of one value, and the repeats."""
    values = event.get("values") or None
    repeats = None if values is None else len(values)
    listed = None if values is None else dumps(values)
    return {"noise_variance": event.get("told_variance"), "repeats": repeats, "values": listed}


def _column(name: str) -> str:
    """A name that begins with the prefix gets it once more, so that no two columns are called the same."""
    taken = name in (*BEFORE, *AFTER) or name.startswith((PREFIX, OUTCOME))
    return PREFIX + name if taken else name


def _amended(study: Study) -> bool:
    """Whether there are records that say that others count otherwise."""
    return bool(study.events(kinds=AMENDING, limit=1))


def _batches(study: Study) -> Iterator[list[Record]]:
    """The journal as it is now; what is written meanwhile is left out."""
    after, head = 0, study.summary().head
    while after < head:
        batch = study.events(after, min(BATCH, head - after))
        if not batch:
            raise UnknownName(f"study {study.name!r}: was deleted while it was read; nothing was exported")
        yield batch
        after = batch[-1].seq


# -- text --------------------------------------------------------------------------------------------------


def _write_text(study: Study, out: IO[bytes], format: str) -> int:
    count = 0
    for piece, records in text(study, format):
        out.write(piece.encode())
        count += records
    return count


def _csv(rows: Any) -> str:
    piece = io.StringIO()
    plain = csv.writer(piece, lineterminator="\n")
    quoted = csv.writer(piece, lineterminator="\n", quoting=csv.QUOTE_ALL)
    for row in rows:
        # a lone carriage return ends a line for those who read, but not for the csv module when it writes
        (quoted if any(isinstance(cell, str) and "\r" in cell for cell in row) else plain).writerow(row)
    return piece.getvalue()


def _cell(value: Any) -> Any:
    """Truth values as JSON writes them; the csv module writes floats so that nothing is lost."""
    return json.dumps(value) if isinstance(value, bool) else value


# -- Parquet -----------------------------------------------------------------------------------------------


def _write_parquet(study: Study, out: IO[bytes], _: str) -> int:
    arrow, parquet = require("pyarrow", EXTRA), require("pyarrow.parquet", EXTRA)
    table = _columns_of(study)
    count = 0
    types = _types(arrow, table)
    for earlier in _earlier(study):  # an option that is no longer one is in the journal still
        before = _types(arrow, earlier)
        types |= {name: arrow.string() for name in table.parameters if types[name] != before[name]}
    schema = arrow.schema([_field(arrow, name, types[name], table.units.get(name)) for name in table.names])
    texts = [name for name in table.parameters if types[name] == arrow.string()]
    with parquet.ParquetWriter(out, schema, compression="zstd") as writer:
        for batch in _batches(study):
            columns = dict(zip(table.names, zip(*map(table.row, batch), strict=True), strict=True))
            for name in texts:
                columns[name] = tuple(None if each is None else str(_cell(each)) for each in columns[name])
            writer.write_table(arrow.table(columns, schema=schema))
            count += len(batch)
    return count


def _earlier(study: Study) -> list[Columns]:
    """The columns of the spaces that the study had before."""
    found = study.events(kinds=["redefined"])
    return [Columns(decode(record.event["was"])) for record in found if record.event is not None]


def _field(arrow: Any, name: str, kind: Any, unit: str | None) -> Any:
    return arrow.field(name, kind, metadata={UNIT: unit} if unit else None)


def _types(arrow: Any, table: Columns) -> dict[str, Any]:
    whole_numbers = ("seq", "trial", "step", "kept", "size", "record", "repeats")
    found = dict.fromkeys(table.names, arrow.float64())
    found |= dict.fromkeys(whole_numbers, arrow.int64())
    found |= dict.fromkeys(("kind", "reason", "metadata", "values"), arrow.string())
    found["reset"] = arrow.bool_()
    for name, parameter in table.parameters.items():
        if isinstance(parameter, Integer):
            fits = parameter.lo >= -(2**63) and parameter.hi < 2**63
            found[name] = arrow.int64() if fits else arrow.string()
        elif isinstance(parameter, Choice):
            found[name] = _type(arrow, parameter.options)
    return found


def _type(arrow: Any, options: Sequence[Any]) -> Any:
    """The type of a column of options; where they are of several kinds, text."""
    kinds = {type(option) for option in options}
    if kinds == {bool}:
        return arrow.bool_()
    if kinds == {float}:
        return arrow.float64()
    if kinds == {int} and all(-(2**63) <= option < 2**63 for option in options):
        return arrow.int64()
    return arrow.string()

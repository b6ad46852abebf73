"""Several files as one table."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import replace

from pnulearn._tables.errors import TableError
from pnulearn._tables.table import Table


def stack(tables: Sequence[Table]) -> Table:
    """Rows of one table below those of another; columns may come in any order and must be the same."""
    import pyarrow as pa

    first = tables[0]
    for other in tables[1:]:
        odd = sorted(set(first.names) ^ set(other.names))
        if odd:
            has, lacks = (first, other) if odd[0] in first.names else (other, first)
            raise TableError(f"{has.source} has a column {odd[0]!r}, {lacks.source} has none. Give all files the same.")
    try:
        cells = pa.concat_tables([table.cells.select(first.names) for table in tables], promote_options="permissive")
    except (pa.ArrowInvalid, pa.ArrowTypeError) as error:
        raise TableError(f"{first.source} and the other files do not fit together: {error}.") from None
    more = f" and {len(tables) - 1} more"
    return Table(
        cells,
        first.source + more,
        replace(first.reading, decimal_comma=any(table.reading.decimal_comma for table in tables)),
        hashlib.sha256("".join(table.fingerprint for table in tables).encode()).hexdigest()[:16],
        [remark for table in tables for remark in table.remarks],
    )

"""What it takes to judge scores: a few columns of all rows, all columns of a few rows, and a model's scores.

So memory grows with the rows by these columns only, however many there are and however large the files.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np

from pnulearn._arrays import AnyArray
from pnulearn._moments import thin
from pnulearn._problem.labels import Labels
from pnulearn._tables.batches import Batches
from pnulearn._tables.columns import Cells
from pnulearn._tables.table import Table
from pnulearn.tables.drawing import Drawing, Drawn
from pnulearn.tables.label_column import LabelCounter
from pnulearn.tables.model import TableModel


@dataclass(frozen=True, eq=False)
class Gathered:
    """`table` has the needed columns of all rows, `drawn` all columns of some, if any; `scores` are a model's.

    `remarks` are those of reading and predicting.
    """

    table: Table
    drawn: Drawn | None
    scores: AnyArray | None = None
    remarks: list[str] = field(default_factory=list)

    def sample(self, labels: Labels) -> tuple[Drawn, Labels]:
        """Rows with all columns, at most 10,000 unlabelled ones and 2,000 of each class, and their labels."""
        assert self.drawn is not None
        codes = labels.codes[self.drawn.excerpt.numbers]
        rows = np.sort(thin(self.drawn.keys, codes))
        return self.drawn.take(rows), Labels(labels.classes, codes[rows])


def gather(
    batches: Batches,
    label: str,
    columns: Sequence[str],
    model: TableModel | None = None,
    advance: Callable[[float], None] = lambda share: None,
    *,
    draw: bool = True,
) -> Gathered:
    """Read files once, keeping the label and these columns, and the model's scores if there is one.

    Rows with all their columns are drawn unless nobody will ask for them.
    """
    import pyarrow as pa

    needed = list(dict.fromkeys([label, *columns]))
    counter, drawing, reading = LabelCounter(label), Drawing(seed=0), Cells()
    kept, scores, remarks = [], [], dict[str, None]()
    for table, share in batches:
        for name in needed:
            table.refuse_absent(name)
        remarks |= dict.fromkeys(table.remarks)
        reading = Cells(table.reading.missing, table.reading.decimal_comma or reading.decimal_comma)
        groups = counter.add(table)
        if draw:
            drawing.add(table, table.source, groups)
        kept.append(pa.Table.from_batches([table.cells.select(needed)]))
        if model is not None:
            predictions = model.predict(table)
            scores.append(predictions.scores)
            remarks |= dict.fromkeys(predictions.remarks)
        advance(share)
    fingerprint = batches.fingerprint()
    drawn = drawing.result(batches.source, fingerprint) if draw else None
    cells = pa.concat_tables(kept, promote_options="permissive")
    whole = Table(cells, batches.source, reading, fingerprint)
    return Gathered(whole, drawn, np.concatenate(scores) if scores else None, list(remarks))

"""Names for the arrays that public signatures speak of."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.intp]
AnyArray = NDArray[Any]  # labels, scores of any precision

"""Damaged model files and tables, drawn at random from whole ones; every case follows from a seed."""

from __future__ import annotations

import gzip
import io
import json
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

STORED = Path(__file__).parent / "stored"
JUNK: list[Any] = [
    *(None, True, -1, 0, 10**30, 1e308, float("nan"), float("inf"), "", "x" * 1000, [], {}, [[]], {"array": "header"}),
    *({"array": "nowhere"}, {"dataclass": "ColumnPlan", "fields": {}}, {"dataclass": "os.system", "fields": {}}),
    *({"tuple": 3}, {"dict": []}, {"list": [{"list": [{}]}]}),
]
DTYPES = ["<f8", "<i8", "|b1", "<U3", "<f2", "|O", "<M8[ns]", "<c16", "|V8", ">f8"]
SHAPES = [(), (0,), (1,), (2, 2), (10**12,), (10**6, 10**6), (0, 10**12)]


def flip_bytes(rng: np.random.Generator, raw: bytes) -> bytes:
    spoilt = bytearray(raw)
    for place in rng.integers(len(raw), size=rng.integers(1, 20)):
        spoilt[place] = rng.integers(256)
    return bytes(spoilt)


def truncate(rng: np.random.Generator, raw: bytes) -> bytes:
    return raw[: rng.integers(len(raw))]


def splice(rng: np.random.Generator, raw: bytes) -> bytes:
    """A piece is left out, repeated, set to zero or put elsewhere."""
    first, last, place = sorted(int(i) for i in rng.integers(len(raw), size=3))
    piece = raw[first:last]
    choices = [raw[:first] + raw[last:], raw[:last] + piece + raw[last:], raw[:first] + bytes(len(piece)) + raw[last:]]
    return [*choices, raw[:first] + raw[last:place] + piece + raw[place:]][rng.integers(4)]


def unpack_model(raw: bytes) -> tuple[dict[str, Any], dict[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(raw)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    header = np.load(io.BytesIO(members.pop("header.npy")))
    return json.loads(header.tobytes()), members


def pack_model(header: Any, members: dict[str, bytes], packing: int = zipfile.ZIP_DEFLATED) -> bytes:
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    np.save(raw := io.BytesIO(), np.frombuffer(text, dtype=np.uint8))
    with zipfile.ZipFile(file := io.BytesIO(), "w", packing) as archive:
        for name, content in {**members, "header.npy": raw.getvalue()}.items():
            archive.writestr(name, content)
    return file.getvalue()


def _places(value: Any) -> Iterator[tuple[Any, Any]]:
    """Every container in a JSON value with every key in it."""
    if isinstance(value, dict | list):
        for key in list(value) if isinstance(value, dict) else range(len(value)):
            yield value, key
            yield from _places(value[key])


def spoil_header(rng: np.random.Generator, raw: bytes) -> bytes:
    """One to three values of the JSON header are deleted, replaced by junk or by one another."""
    header, members = unpack_model(raw)
    for _ in range(rng.integers(1, 4)):
        places = list(_places(header))
        if not places:
            break
        container, key = places[rng.integers(len(places))]
        other, other_key = places[rng.integers(len(places))]
        change = rng.integers(4)
        if change == 0:
            container.pop(key)
        elif change == 1:
            container[key] = json.loads(json.dumps(other[other_key]))
        else:
            container[key] = json.loads(json.dumps(JUNK[rng.integers(len(JUNK))]))
    return pack_model(header, members)


def spoil_member(rng: np.random.Generator, raw: bytes) -> bytes:
    """An array with other values, another type or shape, a damaged head, or none at all."""
    header, members = unpack_model(raw)
    name = sorted(members)[rng.integers(len(members))]
    change = rng.integers(6)
    if change == 0:
        members.pop(name)
    elif change == 1:
        members[name] = flip_bytes(rng, members[name][:128]) + members[name][128:]
    elif change == 2:
        members[name] = truncate(rng, members[name])
    elif change == 3:
        descr, shape = DTYPES[rng.integers(len(DTYPES))], SHAPES[rng.integers(len(SHAPES))]
        head = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
        members[name] = members[name][:8] + len(head).to_bytes(2, "little") + head.encode() + members[name][128:]
    elif change == 4:
        array = np.load(io.BytesIO(members[name]))
        if array.dtype.kind == "f" and array.size:
            array.flat[rng.integers(array.size)] = [np.nan, np.inf, -np.inf, 1e308, -1e308][rng.integers(5)]
        np.save(file := io.BytesIO(), array)
        members[name] = file.getvalue()
    else:
        array = np.load(io.BytesIO(members[name]))
        np.save(file := io.BytesIO(), np.resize(array, SHAPES[rng.integers(4)]))
        members[name] = file.getvalue()
    return pack_model(header, members)


def plant_bomb(rng: np.random.Generator, raw: bytes) -> bytes:
    """Much more than the file's size: in an array, in the header, unused, or packed by other means."""
    header, members = unpack_model(raw)
    name = sorted(members)[rng.integers(len(members))]
    change = rng.integers(5)
    if change == 0:
        np.save(file := io.BytesIO(), np.zeros(int(rng.integers(1, 3)) * 10**7))
        return pack_model(header, members | {name: file.getvalue()})
    if change == 1:
        text = b"[" * 10**5 if rng.integers(2) else b"[" + b"[]," * 10**7 + b"[]]"
        return pack_model(text, members)
    if change == 2:
        return pack_model(header, members | {"unused.npy": bytes(10**8)})
    if change == 3:
        packing = zipfile.ZIP_BZIP2 if rng.integers(2) else zipfile.ZIP_LZMA
        return pack_model(header, members | {name: members[name] + bytes(3 * 10**7)}, packing)
    return pack_model(header, members | {f"member{i}.npy": b"" for i in range(20_000)})


MODEL_DAMAGE: dict[str, tuple[Callable[[np.random.Generator, bytes], bytes], int]] = {
    "flipped bytes": (flip_bytes, 30),
    "truncated": (truncate, 10),
    "spliced": (splice, 10),
    "header changed": (spoil_header, 30),
    "array changed": (spoil_member, 19),
    "bomb": (plant_bomb, 1),
}


def damaged_models(seed: int) -> tuple[str, str, bytes]:
    """What was damaged, how, and the file."""
    rng = np.random.default_rng([seed, 0])
    stored = sorted(STORED.glob("*.pnu"))
    path = stored[rng.integers(len(stored))]
    shares = np.array([share for _, share in MODEL_DAMAGE.values()])
    way = list(MODEL_DAMAGE)[rng.choice(len(shares), p=shares / shares.sum())]
    return path.stem, way, MODEL_DAMAGE[way][0](rng, path.read_bytes())


def _whole_table() -> Any:
    import pyarrow as pa

    rng = np.random.default_rng(0)
    words = rng.choice(["Kyōto", "Nara", None, 'say "hi", twice'], 60)
    flags = [bool(i % 3) for i in range(60)]
    numbers = [None if i % 7 == 0 else float(i) for i in range(60)]
    return pa.table({"x": rng.normal(size=60), "n": numbers, "city": words.tolist(), "flag": flags})


def whole_tables() -> dict[str, bytes]:
    """The same table in every format that is read."""
    import pyarrow.csv as arrow_csv
    import pyarrow.parquet as pq
    from pyarrow import feather

    table = _whole_table()
    csv, parquet, feathers = io.BytesIO(), io.BytesIO(), io.BytesIO()
    arrow_csv.write_csv(table, csv)
    pq.write_table(table, parquet)
    feather.write_feather(table, feathers)
    records = [json.dumps(row) for row in table.to_pylist()]
    return {
        "csv": csv.getvalue(),
        "csv.gz": gzip.compress(csv.getvalue(), mtime=0),
        "parquet": parquet.getvalue(),
        "feather": feathers.getvalue(),
        "jsonl": "\n".join(records).encode(),
        "json": ("[" + ",".join(records) + "]").encode(),
    }


def plant_table_bomb(rng: np.random.Generator, ending: str) -> bytes:
    import pyarrow as pa
    import pyarrow.parquet as pq

    if ending == "csv.gz":
        return gzip.compress(b"a,b\n" + b"1,2\n" * 10**8 if rng.integers(20) == 0 else bytes(10**8), mtime=0)
    if ending == "parquet":
        column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(10**7, np.int8)), pa.array(["x"]))
        pq.write_table(pa.table({f"c{i}": column for i in range(8)}), file := io.BytesIO())
        return file.getvalue()
    return {"csv": b'a,b\n"', "feather": b"ARROW1\0\0", "jsonl": b'{"a":', "json": b'[{"a":'}[ending] + b"[" * 10**5


def damaged_tables(seed: int, whole: dict[str, bytes]) -> tuple[str, str, bytes]:
    rng = np.random.default_rng([seed, 1])
    ending = list(whole)[rng.integers(len(whole))]
    ways = {"flipped bytes": flip_bytes, "truncated": truncate, "spliced": splice}
    way = [*ways, "bomb"][rng.choice(4, p=[0.5, 0.24, 0.25, 0.01])]
    return ending, way, plant_table_bomb(rng, ending) if way == "bomb" else ways[way](rng, whole[ending])

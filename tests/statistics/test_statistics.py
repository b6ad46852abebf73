"""Statistics are what they say, add and subtract, travel, and refuse strangers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from tests.problems import mixture

from pnulearn._files.refusals import ModelFileError
from pnulearn._kernels.gaussian import GaussianBasis
from pnulearn._kernels.registry import KERNELS, choose_basis
from pnulearn._solvers.moments import Moments
from pnulearn.streaming import Design, PNUStatistics


def design_for(X, kernel="rbf", **changes) -> Design:
    settings = {"columns": None, "classes": np.array([0, 1]), "n_folds": 3, "seed": 4, "dtype": "float64"} | changes
    anyone, keys = np.ones(50, dtype=bool), np.arange(50)
    basis = choose_basis(kernel, X[:50], anyone, keys, centers=X[:7] + 0.1, bandwidth=[0.7, 2.0])
    return Design(basis=basis, **settings)


@pytest.mark.parametrize(("dtype", "rtol"), [("float64", 1e-12), ("float32", 2e-6)])
@pytest.mark.parametrize("kernel", KERNELS)
def test_sums_are_the_moments_of_every_fold_and_group(kernel, dtype, rtol):
    """20,000 rows make several blocks; each cell must hold what plain formulas give."""
    X, y, _ = mixture(20_000, offset=50.0)
    design = design_for(X, kernel, dtype=dtype)
    statistics = PNUStatistics.of(design, X, y, name="here")
    folds = design.folds("here", 0, len(X))
    prepared = design.basis.prepare(X)
    for group, members in enumerate([y == 0, y == 1, np.isnan(y)]):
        for bandwidth in range(len(design.basis.bandwidths)):
            rows = design.basis.features(prepared, bandwidth)
            for fold in range(3):
                wanted = Moments.of(rows[members & (folds == fold)])
                found = statistics.moments(group, bandwidth, fold)
                assert found.weight == wanted.weight
                scale = max(1.0, np.abs(wanted.outer).max())
                assert_allclose(found.outer, wanted.outer, rtol=rtol, atol=rtol * scale)
                assert_allclose(found.total, wanted.total, rtol=rtol, atol=rtol * scale)


def test_an_offset_costs_float32_no_digits():
    """Unit variance at an offset of 1e8: features agree with those of the same rows around zero."""
    X, y, _ = mixture(3000)
    X = np.round(X, 3)
    near = PNUStatistics.of(design_for(X, dtype="float32"), X, y)
    far = PNUStatistics.of(design_for(X + 2.0**27, dtype="float32"), X + 2.0**27, y)
    assert_allclose(far.moments(2).gram, near.moments(2).gram, atol=1e-5)


def test_parts_add_up_to_the_whole_and_can_be_forgotten():
    X, y, _ = mixture(5000)
    design = design_for(X)
    whole = PNUStatistics.of(design, X, y, name="day")
    first = PNUStatistics.of(design, X[:1700], y[:1700], name="day")
    second = PNUStatistics.of(design, X[1700:], y[1700:], name="day", start=1700)
    assert_allclose((first + second).sums, whole.sums, rtol=1e-12, atol=1e-9)
    assert_allclose((whole - second).sums, first.sums, rtol=1e-9, atol=1e-9)
    assert_array_equal((whole - whole).sums, 0)
    assert whole.n_rows == 5000
    assert_array_equal(whole.counts, [np.sum(y == 0), np.sum(y == 1), np.isnan(y).sum()])


def test_rows_that_were_never_added_cannot_be_forgotten():
    X, y, _ = mixture(300)
    design = design_for(X)
    with pytest.raises(ValueError, match="below zero"):
        PNUStatistics.of(design, X[:10], y[:10]) - PNUStatistics.of(design, X, y)


def test_folds_depend_on_the_place_in_the_file_only():
    design = design_for(mixture(10)[0])
    assert_array_equal(design.folds("f", 0, 100)[40:], design.folds("f", 40, 60))
    assert (design.folds("f", 0, 100) != design.folds("g", 0, 100)).any()
    assert_allclose(np.bincount(design.folds("f", 0, 30_000)) / 30_000, 1 / 3, atol=0.01)


def test_statistics_survive_files_and_wires(tmp_path):
    X, y, _ = mixture(500)
    names = np.array(["ham", "späm"])
    labels = np.array([None if np.isnan(v) else names[int(v)] for v in y], dtype=object)
    statistics = PNUStatistics.of(design_for(X, columns=("a", "b", "ü"), classes=names), X, labels)
    statistics.save(tmp_path / "day.stats")
    for copy in (PNUStatistics.load(tmp_path / "day.stats"), PNUStatistics.from_bytes(statistics.to_bytes())):
        assert_array_equal(copy.sums, statistics.sums)
        assert copy.fingerprint == statistics.fingerprint
        assert_array_equal((copy + statistics).counts, 2 * statistics.counts)


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"columns": ("a", "b", "d")}, "columns"),
        ({"classes": np.array([0, 2])}, "classes"),
        ({"dtype": "float32"}, "dtype"),
        ({"n_folds": 4}, "n_folds"),
        ({"seed": 5}, "seed"),
        ({"kernel": "linear"}, "basis"),
    ],
)
def test_foreign_statistics_are_refused_with_the_difference(change, word):
    X = mixture(50)[0]
    own = PNUStatistics.zero(design_for(X, columns=("a", "b", "c")))
    kernel = change.pop("kernel", "rbf")
    foreign = PNUStatistics.zero(design_for(X, kernel, **{"columns": ("a", "b", "c"), **change}))
    for combine in (own.__add__, own.__iadd__, own.__sub__):
        with pytest.raises(ValueError, match=word):
            combine(foreign)


def test_other_centres_are_foreign_too():
    X = mixture(50)[0]
    with pytest.raises(ValueError, match="basis functions"):
        PNUStatistics.zero(design_for(X)) + PNUStatistics.zero(design_for(X + 1))


def test_a_damaged_file_is_refused_and_a_failed_save_leaves_the_old_one(tmp_path, monkeypatch):
    X, y, _ = mixture(100)
    statistics = PNUStatistics.of(design_for(X), X, y)
    path = tmp_path / "s"
    statistics.save(path)
    whole = path.read_bytes()

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("numpy.savez", full)
    with pytest.raises(OSError, match="No space"):
        (statistics + statistics).save(path)
    assert path.read_bytes() == whole
    assert [p.name for p in tmp_path.iterdir()] == ["s"]
    path.write_bytes(whole[: len(whole) // 2])
    with pytest.raises(ModelFileError, match="not a complete"):
        PNUStatistics.load(path)


def test_trouble_in_a_row_is_named():
    X, y, _ = mixture(9000)
    design = design_for(X, columns=("a", "b", "c"), dtype="float32")
    X[8500, 1] = np.nan
    with pytest.raises(ValueError, match=r"Row 8500, column 'b' of X holds a missing value.*impute"):
        PNUStatistics.of(design, X, y)
    X[8500, 1] = 1e300
    with pytest.raises(ValueError, match=r"Row 8500, column 'b' of X holds a number that is infinite.*float64"):
        PNUStatistics.of(design, X, y)
    with pytest.raises(ValueError, match="2 columns and 3 are expected"):
        PNUStatistics.of(design, X[:5, :2], y[:5])
    with pytest.raises(ValueError, match="not among the classes"):
        PNUStatistics.of(design, X[:2], [0, 7])


def test_statistics_that_do_not_fit_are_refused_before_they_are_made():
    design = Design(None, np.array([0, 1]), GaussianBasis(np.zeros((200_000, 1)), np.ones(6)))
    with pytest.raises(MemoryError, match=r"200000 basis functions.* GiB.*centers=200, or fix the bandwidth"):
        PNUStatistics.zero(design)


def test_nothing_is_left_of_a_group_whose_rows_were_all_taken_away():
    """(a + b) − b is not a in floating point; where a has no row of a group, no crumb of b may stay."""
    X, y, _ = mixture(300, offset=50.0)
    design = design_for(X)
    unlabeled = np.isnan(y)
    first, second = (PNUStatistics.of(design, X[rows], y[rows], name="b") for rows in (unlabeled, ~unlabeled))
    crumbs = PNUStatistics(design, first.sums + second.sums)
    crumbs.sums[..., :2, :-1] += 1e-9  # rounding that a sum in another order leaves
    left = crumbs - second
    assert_array_equal(left.sums[..., :2, :], 0)
    assert_array_equal(left.counts, [0, 0, unlabeled.sum()])

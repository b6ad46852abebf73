"""Files of networks: the same answers, no code, and nothing that does not go together."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pnulearn import PNUClassifier, load, save
from pnulearn._files.archive import read_archive, write_archive
from pnulearn._files.refusals import ModelFileError

torch = pytest.importorskip("torch", reason="PyTorch is the extra 'torch'")

from pnulearn._estimators.saving import LEARNT_TYPES  # noqa: E402
from pnulearn.torch import PNUNetClassifier  # noqa: E402
from pnulearn.torch._saving import KIND  # noqa: E402

pytestmark = pytest.mark.thorough
rng = np.random.default_rng(0)
TRUTH = np.concatenate([np.arange(20) % 2, rng.random(80) < 0.3]).astype(int)
X = rng.normal(size=(100, 3)) + 2 * TRUTH[:, None]
Y = np.where(np.arange(100) < 20, TRUTH, np.nan)
SMALL = PNUNetClassifier(network=(5, 4), prior=(0.2, 0.4), max_epochs=2, cv=2, random_state=0)


class Net(torch.nn.Module):
    """With a buffer of whole numbers, as batch normalisation has, and weights in bfloat16."""

    def __init__(self, n_columns):
        super().__init__()
        self.norm = torch.nn.BatchNorm1d(n_columns)
        self.last = torch.nn.Linear(n_columns, 1, dtype=torch.bfloat16)

    def forward(self, rows):
        return self.last(self.norm(rows).bfloat16()).float()


@pytest.fixture(scope="module")
def fitted():
    torch.set_num_threads(1)
    return clone(SMALL).fit(X, Y)


def test_a_file_answers_the_same(fitted, tmp_path):
    for write in (fitted.save, lambda path: save(fitted, path)):
        write(tmp_path / "net.pnu")
        for again in (load(tmp_path / "net.pnu"), PNUNetClassifier.load(tmp_path / "net.pnu")):
            assert_array_equal(again.decision_function(X), fitted.decision_function(X))
            assert_array_equal(again.predict_proba(X), fitted.predict_proba(X))
            assert again.risk_ == fitted.risk_
            assert again.prior_estimate_ == fitted.prior_estimate_
            assert again.get_params() == fitted.get_params()
            assert_array_equal(clone(again).fit(X, Y).decision_function(X), fitted.decision_function(X))


def test_names_of_columns_and_labels_are_kept(tmp_path):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(X, columns=["a", "b", "c"])
    y = np.where(np.isnan(Y), None, np.where(TRUTH == 1, "spam", "ham"))
    model = clone(SMALL).fit(frame, y)
    model.save(tmp_path / "net.pnu")
    again = load(tmp_path / "net.pnu")
    assert_array_equal(again.predict(frame), model.predict(frame))
    with pytest.raises(ValueError, match="feature names should match"):
        again.predict(frame[["b", "a", "c"]])


def test_a_pipeline_holds_a_network(tmp_path):
    model = make_pipeline(StandardScaler(), clone(SMALL)).fit(X, Y)
    save(model, tmp_path / "pipe.pnu")
    assert_array_equal(load(tmp_path / "pipe.pnu").predict_proba(X), model.predict_proba(X))


def test_an_own_network_is_handed_over_again(tmp_path):
    path = tmp_path / "net.pnu"
    model = clone(SMALL).set_params(network=Net).fit(X, Y)
    model.save(path)
    with pytest.raises(ModelFileError, match=r"PNUNetClassifier.load\(path, network="):
        load(path)
    for network in (Net, Net(3)):
        again = PNUNetClassifier.load(path, network=network)
        assert_array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(ModelFileError, match="damaged"):
        PNUNetClassifier.load(path, network=Net(4))


def test_what_is_no_network_is_refused(fitted, tmp_path):
    other = PNUClassifier(kernel="linear", prior=0.3, mix=0.5, alpha=0.1, random_state=0).fit(X, Y)
    other.save(tmp_path / "other.pnu")
    with pytest.raises(ModelFileError, match="contains a PNUClassifier, not a PNUNetClassifier"):
        PNUNetClassifier.load(tmp_path / "other.pnu")
    (tmp_path / "notes.txt").write_text("do not lose me")
    with pytest.raises(FileExistsError, match="something else"):
        fitted.save(tmp_path / "notes.txt")
    with pytest.raises(Exception, match="not fitted"):
        clone(SMALL).save(tmp_path / "new.pnu")


@pytest.mark.parametrize(
    "damage, message",
    [
        (lambda c: c["parameters"].update(network=[5, 40_000_000_000]), "size mismatch"),
        (lambda c: c["parameters"].update(network=["5", 4]), "whole number"),
        (lambda c: c["weights"][0].pop("0.bias"), "Missing key"),
        (lambda c: c["weights"][0].update({"0.bias": np.full(5, np.nan, np.float32)}), "not finite"),
        (lambda c: c["weights"][0].update({"0.bias": "text"}), "not an array of numbers"),
        (lambda c: c["weights"].clear(), "contains no network"),
        (lambda c: c["learnt"].update(classes_=np.array([1, 1])), "classes_ are not two"),
        (lambda c: c["learnt"].update(prior_=2.0), "prior_ is not between 0 and 1"),
        (lambda c: c["learnt"].update(n_features_in_=-1), "n_features_in_"),
        (lambda c: c["learnt"].update(calibration_=np.zeros(3)), "calibration_"),
        (lambda c: c["learnt"].pop("risk_"), "risk_"),
        (lambda c: c.pop("weights"), "weights"),
    ],
)
def test_damaged_files_are_refused(fitted, tmp_path, damage, message):
    fitted.save(tmp_path / "net.pnu")
    _, content = read_archive(tmp_path / "net.pnu", LEARNT_TYPES)
    damage(content)
    write_archive(tmp_path / "bad.pnu", KIND, content)
    with pytest.raises(ModelFileError, match=message):
        load(tmp_path / "bad.pnu")

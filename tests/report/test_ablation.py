"""Ablations: the full model compared with simpler models on the same held-out rows."""

import numpy as np
import pytest

from pnulearn import PNUClassifier
from pnulearn.metrics import compare_scores
from pnulearn.metrics._comparison import shared_mix
from pnulearn.metrics._estimate import Estimate
from pnulearn.report._ablation import Ablation
from pnulearn.report._page import say_ablations


def test_the_supervised_model_never_saw_the_unlabelled_rows(hostile, findings):
    """Fitted anew from the labelled rows alone, it differs from the model by what the report says."""
    codes, classifier = hostile.codes, hostile.model.classifier
    labeled = np.flatnonzero(codes >= 0)
    model = PNUClassifier("pn", prior=classifier.prior_, cv=3, random_state=0, pos_label=classifier.classes_[1])
    model.fit(hostile.X[labeled], classifier.classes_[codes[labeled]])
    others = model.decision_function(hostile.X)
    others[labeled] = model.validation_scores_
    groups = [codes == code for code in (1, 0, -1)]
    belief = classifier.prior_estimate_
    mix = shared_mix(float(belief.mean), *(int(group.sum()) for group in groups))
    ours = classifier.validation_scores_
    expected = compare_scores([others[g] for g in groups], [ours[g] for g in groups], belief, mix)
    ablation = next(ablation for ablation in findings.ablations if ablation.name == "labels and prior")
    assert ablation.rise.value == pytest.approx(expected.difference)
    assert ablation.rise.stderr == pytest.approx(expected.stderr, rel=0.1)


def test_all_ablations_are_there_in_order(findings):
    assert [ablation.name for ablation in findings.ablations] == [
        "labels alone",
        "labels and prior",
        "without averaging",
    ]


def test_the_words_are_no_stronger_than_the_evidence():
    def says(low, value, high):
        return say_ablations([Ablation("labels and prior", "", Estimate(value, 0.0, low, high))])

    assert "2.0 points more often than this model, which may be chance" in says(-0.01, 0.02, 0.05)
    assert "5.0 points more often (+1.0 to +9.0): this part of the method helps" in says(0.01, 0.05, 0.09)
    assert "less often (-9.0 to -1.0): here the unlabelled rows do harm, so pass risk='pn'" in says(-0.09, -0.05, -0.01)

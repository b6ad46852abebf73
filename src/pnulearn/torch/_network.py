"""PNUNetClassifier: neural networks as a scikit-learn classifier."""

from __future__ import annotations

import warnings
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from pnulearn._arrays import AnyArray
from pnulearn._estimators.base import PartiallyLabeledClassifier, read_held_out
from pnulearn._files.archive import write_archive
from pnulearn._files.outputs import MODEL, Output, check_outputs
from pnulearn._learning.calibration import fit_slope, probabilities, score_calibration
from pnulearn._learning.result import doubt_prior, estimate_model_risk
from pnulearn._learning.settings import feasible_risk
from pnulearn._parameters import parameters
from pnulearn._problem.inputs import read_random_state
from pnulearn._problem.labels import Labels
from pnulearn._problem.samples import Samples, Sampling, read_sampling
from pnulearn.losses import Loss, as_loss
from pnulearn.priors._estimate import PriorEstimate
from pnulearn.priors._resolve import resolve_prior
from pnulearn.torch._modules import score_rows
from pnulearn.torch._saving import KIND, contents, load_model
from pnulearn.torch._training import Trained, choose_mix, hold_out, make_recipe, refuse_impossible, train_networks

# Results after training: risk, calibration, and whether held-out scores contradict the prior.


def conclude(trained: Trained, rows: Samples, held_out: Samples, prior: PriorEstimate, loss: Any) -> dict[str, Any]:
    """Attributes of the fitted estimator. `held_out` are the rows that were used for validation."""

    def final_scores(X: Any) -> AnyArray:
        return np.mean([score_rows(net, X) for net in trained.networks], axis=0)[None]

    learnt: dict[str, Any] = {
        "networks_": trained.networks,
        "n_epochs_": trained.n_epochs,
        "training_risks_": trained.training_risks,
        "risk_": None,
        "prior_doubt_": None,
    }
    if trained.watch is None:
        shown = final_scores(rows.X)
        if isinstance(loss, str | Loss):
            found = score_calibration(as_loss(loss), shown, rows, prior.shares, held_out=False)
            return learnt | {"calibration_": found}
        return learnt | {"calibration_": _slope(shown, rows, prior)}
    scores = trained.watch.cross_validated_scores()
    learnt |= {"validation_scores_": scores, "validation_risks_": np.array(trained.watch.risks)}
    learnt["risk_"] = estimate_model_risk(held_out, scores[None], final_scores, prior)
    learnt["prior_doubt_"] = doubt_prior(held_out, scores, float(prior)) if prior.is_known else None
    # Networks are overconfident, so scores are calibrated even for losses with a link.
    return learnt | {"calibration_": _slope(scores[None], held_out, prior)}


def _slope(scores: AnyArray, rows: Samples, prior: PriorEstimate) -> AnyArray:
    return np.array([[fit_slope(scores, rows, prior.shares), 0.0]])


@parameters
class PNUNetClassifier(PartiallyLabeledClassifier):
    """Neural networks that minimise a PNU risk on positive, negative and unlabelled rows.

    Rows are split into `cv` folds, and one network is trained without each fold. After every epoch the PNU risk of all
    held-out rows is computed. Training stops early when this risk has exceeded its minimum by more than a standard
    error for `patience` epochs. The prediction is the mean score of the networks of the best epoch. Columns should have
    similar scales: use `StandardScaler` first.

    Parameters
    ----------
    network : sequence of int, torch.nn.Module or function
        Sizes of hidden layers with ReLU activations; or a module with one output, which is copied and trained from its
        current weights; or a function from the number of columns to a module.
    risk : str
        "pnu", "punu", "pn", "pu" or "nu". If the positive, negative or unlabelled rows are missing, a risk without them
        is used.
    loss : str, Loss or function
        A loss of `pnulearn.losses`, or a function of a tensor of margins.
    prior : object
        θ, the share of positives in the population, in any form that `PNUClassifier` accepts.
    mix : float, optional
        η in [−1, 1] for "pnu", γ in [0, 1] for "punu". None uses γ = 0.5, and the η of least variance for infinite U,
        computed from the prior and the numbers of labels.
    nonnegative : bool or "abs"
        Whether the part of the risk that is estimated from U is kept non-negative, as in `PNULoss`.
    tolerance : float
        β of the non-negative rule.
    step_back : float
        γ of the non-negative rule.
    optimizer : str or function
        "adam", "adamw" or "sgd" (momentum 0.9), or a function of the parameters that returns a torch optimiser, such as
        `functools.partial(torch.optim.RMSprop, lr=1e-3)`.
    learning_rate : float
        Learning rate of a named optimiser.
    weight_decay : float
        Weight decay of a named optimiser.
    batch_size : int or three ints
        Rows per batch, divided evenly among P, N and U as far as they have rows; or the numbers for P, N and U.
    max_epochs : int
        Largest number of epochs. An epoch uses all rows, unlabelled ones included, and has at least ten steps.
    patience : int
        Number of consecutive epochs with a higher risk after which training stops.
    cv : int, splitter, pairs of row numbers or None
        Cross-validation. None trains one network on all rows for `max_epochs`, and `risk_` is None.
    sampling : str
        "random" if the labelled rows were drawn at random from the population (U in a batch is then drawn from all
        rows), else "by_class".
    unlabeled : object, optional
        The value in y that marks unlabelled rows; missing values always do.
    pos_label : object, optional
        The positive class, by default the greater label.
    device : str
        PyTorch device for training and prediction: "cpu", "cuda", "mps".
    random_state : int, RandomState or None
        Seed of weights, batches and folds.
    verbose : int
        1 reports every epoch on stderr.

    Attributes
    ----------
    classes_
        (negative, positive).
    networks_
        The trained modules.
    prior_, prior_interval_, prior_estimate_
        The class prior that was used, its 90 % interval, and its distribution.
    prior_doubt_
        A message if held-out scores contradict the given prior, or None.
    mix_, risk_used_
        The mix and the name of the risk that were used.
    n_epochs_
        The epoch whose networks were kept.
    training_risks_, validation_risks_
        Risk of the batches and of the held-out rows after every epoch (the latter with the sigmoid loss).
    risk_
        Estimated error in the population with its interval, from held-out rows; None if no rows were held out. The
        epoch used to score a row is chosen without its own fold.
    validation_scores_
        Held-out scores, as used for `risk_`; NaN for rows that were not held out.
    calibration_
        Slope and shift (0) from scores to log-odds, from held-out rows; None if scores are 2 P − 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> truth = np.concatenate([np.arange(40) % 2, rng.random(400) < 0.3])
    >>> X = rng.normal(size=(440, 2)) + 2 * truth[:, None]
    >>> y = np.where(np.arange(440) < 40, truth, np.nan)
    >>> model = PNUNetClassifier(network=(20,), prior=0.3, learning_rate=0.01, cv=3, random_state=0).fit(X, y)
    >>> bool(np.mean(model.predict(X[40:]) == truth[40:]) > 0.85)
    True
    """

    network: Any = (100,)
    risk: str = "pnu"
    loss: Any = "sigmoid"
    prior: Any = None
    mix: Any = None
    nonnegative: Any = True
    tolerance: float = 0.0
    step_back: float = 1.0
    optimizer: Any = "adam"
    learning_rate: float = 1e-3
    weight_decay: float = 5e-3
    batch_size: Any = 128
    max_epochs: int = 100
    patience: int = 10
    cv: Any = 5
    sampling: Sampling = "by_class"
    unlabeled: Any = None
    pos_label: Any = None
    device: Any = "cpu"
    random_state: Any = None
    verbose: int = 0

    def fit(
        self, X: Any, y: ArrayLike | Labels, *, X_val: Any = None, y_val: ArrayLike | None = None
    ) -> PNUNetClassifier:
        """Train on rows X with labels y, any of which may be missing.

        If a validation set X_val, y_val is given (it may have unlabelled rows, too), one network is trained on all rows
        of X, and early stopping uses the validation set.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features. Images are rows of pixels; such a network starts with `torch.nn.Unflatten(1, (1, 28, 28))`.
        y : array (rows,)
            Labels; missing values and `unlabeled` mark unlabelled rows.
        X_val : like X, optional
            Validation set, used instead of cross-validation.
        y_val : like y, optional
            Labels of the validation set, any of which may be missing.
        """
        refuse_impossible(self)
        reader = type(self)(**self.get_params(deep=False))  # so that a fit that fails leaves this one unchanged
        samples = reader._read_problem(X, y)
        held_out = read_held_out(reader, X_val, y_val, read_sampling(self.sampling))
        seed = int(read_random_state(self.random_state).randint(2**31))
        kind = feasible_risk(self.risk, self.mix, samples, reader.classes_)
        prior = self._resolve_prior(samples, reader.classes_, seed)
        mix = choose_mix(kind, self.mix, float(prior), samples)
        splits, watch = hold_out(self, samples, held_out, prior, reader.classes_, seed)
        validation = samples if held_out is None else held_out
        recipe = make_recipe(self, kind, float(prior), mix, seed)
        trained = train_networks(recipe, samples, splits, watch, validation)
        learnt = {"prior_": prior.value, "prior_interval_": prior.interval, "prior_estimate_": prior}
        learnt |= {"mix_": mix, "risk_used_": kind} | conclude(trained, samples, validation, prior, self.loss)
        columns = {name: value for name, value in vars(reader).items() if name.endswith("_")}
        kept = {name: value for name, value in vars(self).items() if not name.endswith("_")}
        self.__dict__ = kept | columns | learnt  # in one step, so that an error leaves no partial state
        if learnt["prior_doubt_"]:
            warnings.warn(learnt["prior_doubt_"], UserWarning, stacklevel=2)
        return self

    def _resolve_prior(self, samples: Samples, classes: AnyArray, seed: int) -> PriorEstimate:
        return resolve_prior(
            self.prior,
            samples.X,
            samples.codes,
            classes=classes,
            random_state=seed,
            random_counts=samples.random_counts,
        )

    def _read_problem(self, X: Any, y: ArrayLike | Labels, sample_weight: ArrayLike | None = None) -> Samples:
        samples = replace(super()._read_problem(X, y, sample_weight), sampling=read_sampling(self.sampling))
        if samples.n_classes > 2:
            raise ValueError(
                f"Only binary classification is supported by PNUNetClassifier; y has {samples.n_classes} classes: "
                f"{self.classes_.tolist()}. Merge classes (one against the rest), or use PNUClassifier."
            )
        return samples

    def _scores(self, X: Any) -> AnyArray:
        scores: AnyArray = np.mean([score_rows(net, X) for net in self.networks_], axis=0)
        return scores

    def predict_proba(self, X: Any) -> AnyArray:
        """Class probabilities under the population's class prior, columns as in `classes_`.

        For every loss, the most probable class is the one that `predict` returns.

        Parameters
        ----------
        X : array, sparse matrix or data frame (rows, columns)
            Features.
        """
        return probabilities(self.decision_function(X), self.calibration_)

    def save(self, path: Any, *, overwrite: bool = False) -> None:
        """Write the fitted model to a file that `pnulearn.load` reads without executing code.

        If `network` is a module or a function, it is not saved and has to be passed again:
        `PNUNetClassifier.load(path, network=...)`.

        Parameters
        ----------
        path : str or Path
            The file. An existing model file is replaced.
        overwrite : bool
            Replace any other existing file, too.
        """
        check_outputs(Output(path, MODEL), overwrite=overwrite)
        write_archive(path, KIND, contents(self))

    @classmethod
    def load(cls, path: Any, network: Any = None) -> PNUNetClassifier:
        """Read a model that was written by `save`.

        Parameters
        ----------
        path : str or Path
            The file.
        network : torch.nn.Module or function, optional
            The parameter `network` of the model, unless it was sizes of layers.
        """
        return load_model(cls, path, network)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "networks_")

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

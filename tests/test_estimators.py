"""The scikit-learn transformer: scikit-learn's own checks and tests, unbiasedness, float64 whatever x64 is."""

import pickle
from functools import partial

import jax
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.tests.test_kernel_approximation as theirs
from sklearn.datasets import load_digits
from sklearn.linear_model import RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator
from test_matrix import COUPLINGS

from companion import evidence
from companion.evidence import Verdict
from rfcore import couplings, estimators, kernels
from rfcore.estimators import RandomFeatures

X = np.random.default_rng(0).normal(size=(12, 4)) / 2
CHECKS = [
    pytest.param(estimator, check, x64, id=f"{check.func.__name__}-{features}-x64 {'on' if x64 else 'off'}")
    for features in estimators.FEATURES
    for x64 in (True, False)
    for estimator, check in estimator_checks_generator(RandomFeatures(features=features))
]


@pytest.mark.parametrize(("estimator", "check", "x64"), CHECKS)
def test_estimator_checks_of_scikit_learn(estimator, check, x64):
    with jax.enable_x64(x64):
        check(estimator)


class Sampler(RandomFeatures):
    """By the names that scikit-learn's tests of RBFSampler use."""

    def __init__(self, gamma=1.0, n_components=100, random_state=None):
        super().__init__(n_components, gamma=gamma, features="trigonometric", random_state=random_state)

    @property
    def _gamma(self):
        return self.gamma_


OF_RBF_SAMPLER = [
    (theirs.test_rbf_sampler, {}),
    (theirs.test_rbf_sampler_gamma_scale, {}),
    (theirs.test_rbf_sampler_dtype_equivalence, {}),
    *((theirs.test_rbf_sampler_fitted_attributes_dtype, {"global_dtype": dtype}) for dtype in (np.float32, np.float64)),
    *((theirs.test_input_validation, {"csr_container": container}) for container in (sp.csr_array, sp.csr_matrix)),
    (theirs.test_get_feature_names_out, {"Estimator": Sampler}),
]


@pytest.mark.parametrize(("test", "arguments"), OF_RBF_SAMPLER, ids=[test.__name__ for test, _ in OF_RBF_SAMPLER])
@pytest.mark.parametrize("x64", [True, False])
def test_scikit_learns_tests_of_its_sampler(monkeypatch, test, arguments, x64):
    monkeypatch.setattr(theirs, "RBFSampler", Sampler)
    with jax.enable_x64(x64):
        test(**arguments)


@pytest.mark.parametrize("features", estimators.FEATURES)
def test_products_estimate_the_kernel_without_bias(features):
    for n_components in (16, 5):  # of odd ones the last column is of another kind
        make = partial(RandomFeatures, n_components, gamma=0.3, features=features)
        phi = np.stack([make(random_state=seed).fit_transform(X / 3) for seed in range(600)])
        with jax.enable_x64(False):
            assert np.array_equal(make(random_state=0).fit_transform(X / 3), phi[0])
        assert phi.dtype == np.float64
        assert phi.shape[2] == n_components
        found = evidence.unbiased(phi @ phi.transpose(0, 2, 1), rbf_kernel(X / 3, gamma=0.3), smallest_bias=0.15)
        assert found.verdict is Verdict.REPRODUCED, found.detail


@pytest.mark.parametrize("coupling", estimators.OF_MATERN)
def test_matern_kernels(coupling):
    # Many components and few fits: it is the fits that take the time, and all frequencies together that tell a bias.
    make = partial(RandomFeatures, 64, kernel="matern", nu=0.5, lengthscale=2.0, coupling=coupling)
    phi = np.stack([make(random_state=seed).fit_transform(X) for seed in range(150)])
    found = evidence.unbiased(phi @ phi.transpose(0, 2, 1), kernels.matern(X / 2, X / 2, 0.5), smallest_bias=0.15)
    assert found.verdict is Verdict.REPRODUCED, found.detail


def test_every_coupling_has_its_name_here():
    assert set(estimators.COUPLINGS) == set(COUPLINGS)
    for coupling in (*estimators.COUPLINGS, lambda key, m, d: jax.random.normal(key, (m, d))):
        assert RandomFeatures(6, coupling=coupling, random_state=0).fit_transform(X).shape == (12, 6)


def test_a_lengthscale_is_a_gamma():
    one, other = (RandomFeatures(8, random_state=0, **scale).fit_transform(X) for scale in ({"lengthscale": 0.5}, {"gamma": 2.0}))
    assert np.array_equal(one, other)


@pytest.mark.parametrize("features", estimators.FEATURES)
@pytest.mark.parametrize("n_components", [1, 7, 8])
def test_sparse_points_have_the_features_of_dense_ones(features, n_components):
    for dtype, rounding in ((np.float64, 1e-13), (np.float32, 1e-5)):
        x = np.where(X > 0, X, 0).astype(dtype)
        fitted = RandomFeatures(n_components, features=features, gamma=0.3, random_state=0).fit(x)
        sparse, dense = fitted.transform(sp.csr_array(x)), fitted.transform(x)
        assert sparse.dtype == dense.dtype == dtype
        assert np.allclose(sparse, dense, rtol=0, atol=rounding)


def test_text_of_many_columns_is_quick():
    """Few frequencies of many dimensions: neither d^2 numbers nor dense points, of 40 GB each."""
    x = sp.random_array((50_000, 100_000), density=1e-6, rng=np.random.default_rng(0), format="csr")
    assert RandomFeatures(16, random_state=0).fit_transform(x).shape == (50_000, 16)


@pytest.mark.parametrize("features", estimators.FEATURES)
def test_the_coupling_may_be_chosen(features):
    kind, n = ("positive", 16) if features == "positive" else ("fourier", 8 if features == "fourier" else 16)
    own = couplings.choose(4, n, kind).draw
    chosen, named = (RandomFeatures(16, features=features, coupling=c, random_state=0).fit_transform(X) for c in ("choose", own))
    assert np.array_equal(chosen, named)


def test_pickles_and_float32():
    fitted = RandomFeatures(8, random_state=0).fit(X)
    assert np.array_equal(pickle.loads(pickle.dumps(fitted)).transform(X), fitted.transform(X))
    single = RandomFeatures(8, random_state=0).fit_transform(X.astype(np.float32))
    assert single.dtype == np.float32
    assert np.allclose(single, fitted.transform(X), rtol=0, atol=1e-5)  # angles of some turns, rounded once or twice


def test_data_frames_in_and_out():
    """With their index, columns by name and in any order of types; scikit-learn's checks have more, where pandas is installed."""
    frame = pd.DataFrame(X, columns=list("abcd"), index=range(100, 112))
    frame["d"] = frame["d"].astype(np.float32)  # what is float32 in part is float64 in all
    plain = RandomFeatures(6, random_state=0).fit(frame.to_numpy())
    fitted = RandomFeatures(6, random_state=0).set_output(transform="pandas").fit(frame)
    out = fitted.transform(frame)
    assert isinstance(out, pd.DataFrame)
    assert list(out.columns) == list(fitted.get_feature_names_out()) == [f"randomfeatures{i}" for i in range(6)]
    assert out.index.equals(frame.index)
    assert list(fitted.feature_names_in_) == list("abcd")
    assert (out.dtypes == np.float64).all()
    assert np.array_equal(out.to_numpy(), plain.transform(frame.to_numpy()))
    with pytest.raises(ValueError, match="feature names"):
        fitted.transform(frame[list("bacd")])
    small = RandomFeatures(6, random_state=0).set_output(transform="pandas").fit_transform(frame.astype(np.float32))
    assert (small.dtypes == np.float32).all()
    pipeline = make_pipeline(RandomFeatures(6, random_state=0), RidgeClassifier()).set_output(transform="pandas")
    assert list(pipeline.fit(frame, np.arange(12) % 2)[-1].feature_names_in_) == list(out.columns)


def test_a_pipeline_on_digits_beats_the_linear_model():
    x, y = load_digits(return_X_y=True)
    linear = RidgeClassifier().fit(x[::2], y[::2]).score(x[1::2], y[1::2])
    kernel = make_pipeline(RandomFeatures(512, gamma="scale", random_state=0), RidgeClassifier()).fit(x[::2], y[::2])
    assert kernel.score(x[1::2], y[1::2]) > linear + 0.02


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"n_components": 0}, "n_components = 0; give"),
        ({"kernel": "laplace"}, "kernel = 'laplace'; choose one of"),
        ({"kernel": "matern", "features": "positive"}, "features = 'positive' with kernel = 'matern'"),
        ({"kernel": "matern", "coupling": "sobol"}, "coupling = 'sobol'; choose one of"),
        ({"kernel": "matern", "nu": 0.0}, "nu = 0.0; give"),
        ({"features": "cosine"}, "features = 'cosine'; choose one of"),
        ({"coupling": "antithetic"}, "coupling = 'antithetic'; choose one of"),
        ({"gamma": -1.0}, "gamma = -1.0; give"),
        ({"gamma": "auto"}, "gamma = 'auto'; choose one of"),
        ({"lengthscale": 0.0}, "lengthscale = 0.0; give"),
        ({"lengthscale": 1.0, "gamma": 1.0}, "gamma = 1.0 and lengthscale = 1.0; give one"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomFeatures(**parameters).fit(X)


def test_the_scale_of_sparse_points_is_that_of_dense_ones():
    shifted = np.abs(X) + 1.0
    dense, sparse = (RandomFeatures(8, gamma="scale", random_state=0).fit(x).gamma_ for x in (shifted, sp.csr_array(shifted)))
    assert sparse == pytest.approx(dense, rel=1e-12)
    assert dense == pytest.approx(1 / (X.shape[1] * shifted.var()), rel=1e-12)

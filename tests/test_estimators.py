"""The scikit-learn transformer: scikit-learn's own checks and tests, unbiasedness, float64 whatever x64 is."""

import os
import pickle
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import partial

import jax
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import sklearn.tests.test_kernel_approximation as theirs
from rounding import EPS, rounding
from sklearn.base import clone
from sklearn.datasets import load_digits
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import estimator_checks_generator
from test_matrix import COUPLINGS

from companion import evidence
from companion.evidence import Verdict
from rfcore import couplings, estimators, kernels
from rfcore.estimators import RandomFeatures
from rfcore.features import frequencies

X = np.random.default_rng(0).normal(size=(12, 4)) / 2
# Parameters of every wrong type, which `make types` refuses.
WRONG = {"check_do_not_raise_errors_in_init_or_set_params"} if os.environ.get("RFCORE_CHECK_TYPES") == "1" else set()
CHECKS = [
    pytest.param(estimator, check, x64, id=f"{check.func.__name__}-{features}-x64 {'on' if x64 else 'off'}")
    for features in estimators.FEATURES
    for x64 in (True, False)
    for estimator, check in estimator_checks_generator(RandomFeatures(features=features, gamma=1e-6 if features == "positive" else None))
    if check.func.__name__ not in WRONG
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


@pytest.mark.parametrize("coupling", estimators.PRODUCTS)
def test_matern_kernels(coupling):
    # Many components and few fits: it is the fits that take the time, and all frequencies together that tell a bias.
    make = partial(RandomFeatures, 64, kernel="matern", nu=0.5, lengthscale=2.0, coupling=coupling)
    phi = np.stack([make(random_state=seed).fit_transform(X) for seed in range(150)])
    found = evidence.unbiased(phi @ phi.transpose(0, 2, 1), kernels.matern(X / 2, X / 2, 0.5), smallest_bias=0.15)
    assert found.verdict is Verdict.REPRODUCED, found.detail


def test_every_coupling_has_its_name_here():
    assert set(couplings.COUPLINGS) == set(COUPLINGS)
    for coupling in (*couplings.COUPLINGS, lambda key, m, d: jax.random.normal(key, (m, d))):
        assert RandomFeatures(6, coupling=coupling, random_state=0).fit_transform(X).shape == (12, 6)


@dataclass
class Doubled:
    """Frequencies of a user, which are known by products with them alone."""

    omega: jax.Array
    log_weights: None = None

    @property
    def m(self):
        return len(self.omega)

    @property
    def d(self):
        return self.omega.shape[1]

    def project(self, x):
        return x @ (2 * self.omega.T)


def test_frequencies_of_a_user_are_those_that_they_multiply_with():
    one = RandomFeatures(6, coupling=lambda key, m, d: Doubled(couplings.orthogonal(key, m, d)), random_state=0)
    other = RandomFeatures(6, coupling=lambda key, m, d: 2 * couplings.orthogonal(key, m, d), random_state=0)
    assert np.allclose(one.fit_transform(X), other.fit_transform(X), rtol=0, atol=rounding(100))


def test_a_lengthscale_is_a_gamma():
    one, other = (RandomFeatures(8, random_state=0, **scale).fit_transform(X) for scale in ({"lengthscale": 0.5}, {"gamma": 2.0}))
    assert np.array_equal(one, other)


def test_text_of_many_columns_is_quick():
    """Few frequencies of many dimensions: neither d^2 numbers nor dense points, of 40 GB each."""
    x = sp.random_array((50_000, 100_000), density=1e-6, rng=np.random.default_rng(0), format="csr")
    assert RandomFeatures(16, random_state=0).fit_transform(x).shape == (50_000, 16)


@pytest.mark.parametrize("features", estimators.FEATURES)
def test_the_coupling_may_be_chosen(features):
    kind, n = ("positive", 16) if features == "positive" else ("fourier", 8 if features == "fourier" else 16)
    own = couplings.choose(m=n, d=4, features=kind).coupling
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
        ({"gamma": "auto"}, "gamma = 'auto'; give 'scale' or a number above 0"),
        ({"lengthscale": 0.0}, "lengthscale = 0.0; give"),
        ({"lengthscale": 1.0, "gamma": 1.0}, "gamma = 1.0 and lengthscale = 1.0; give one"),
        ({"coupling": "typo"}, "coupling = 'typo'; choose one of 'iid', .* 'choose'"),
        ({"coupling": lambda key, m, d: np.ones((m + 1, d))}, "coupling gives 51 frequencies; give 50, not weighted"),
        ({"coupling": lambda key, m, d: frequencies.weighted(np.ones((m, d)), np.ones(m))}, "50 frequencies with log weights; give 50"),
        ({"lengthscale": 1e-300}, "lengthscale = 1e-300, .* outside the range of float64; scale X"),
        ({"lengthscale": 1e300}, "lengthscale = 1e[+]300, .* outside the range of float64; scale X"),
        ({"gamma": 1e308}, "gamma = 1e[+]308, .* outside the range of float64; scale X"),
        ({"gamma": 1e-310}, "gamma = 1e-310, .* outside the range of float64; scale X"),
    ],
)
def test_parameters_that_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        RandomFeatures(**parameters).fit(X)


NORMAL = np.random.default_rng(0).normal(size=(500, 3))
SCALED = {
    "dense": np.asarray,
    "sparse": sp.csr_array,
    "sparse matrix": sp.csc_matrix,
    "twice": lambda x: sp.csr_array((np.repeat(x.ravel() / 2, 2), np.repeat(np.tile(range(3), len(x)), 2), range(0, 6 * len(x) + 1, 6))),
}


@pytest.mark.parametrize("container", SCALED)
@pytest.mark.parametrize(
    ("x", "dtype"),
    [
        (np.where(NORMAL > 0, NORMAL, 0), np.float64),
        (np.where(NORMAL > 0, NORMAL, 0), np.float32),
        (1e3 + NORMAL, np.float32),
        (1e6 + NORMAL, np.float32),
        (1e8 + NORMAL, np.float64),
        (1e-150 * NORMAL, np.float64),
        (1e150 * NORMAL, np.float64),
    ],
)
def test_the_scale_is_that_of_the_variance(x, dtype, container):
    x = x.astype(dtype)
    exact = [Fraction(float(entry)) for entry in x.ravel()]
    mean = sum(exact) / len(exact)
    variance = sum((entry - mean) ** 2 for entry in exact) / len(exact)
    fitted = RandomFeatures(8, gamma="scale", random_state=0).fit(SCALED[container](x))
    # Of the mean n roundings may be wrong in one direction, as many of the sum of squares.
    relative = x.size * EPS + (x.size * EPS * abs(float(mean))) ** 2 / float(variance)
    assert abs(Fraction(fitted.gamma_) * 3 * variance - 1) < 4 * relative


@pytest.mark.parametrize("container", ["dense", "sparse"])
@pytest.mark.parametrize("value", [0.0, 0.1, -1e6 / 3, 1e300, 1e-300])
def test_what_does_not_vary_has_a_gamma_of_one(value, container):
    for dtype in (np.float64, np.float32):
        x = SCALED[container](np.full((100, 3), value, dtype)) if abs(value) < 1e30 or dtype == np.float64 else SCALED[container](np.ones((5, 2)))
        assert RandomFeatures(4, gamma="scale").fit(x).gamma_ == 1


@pytest.mark.parametrize("points", [1e-200 * X, 1e200 * X])
def test_points_whose_own_scale_has_no_gamma_are_refused(points):
    with pytest.raises(ValueError, match=r"gamma = 'scale', .* outside the range of float64; scale X"):
        RandomFeatures(4, gamma="scale").fit(points)


@pytest.mark.parametrize("features", estimators.FEATURES)
@pytest.mark.parametrize(("parameters", "x"), [({"gamma": 1e80}, X), ({"lengthscale": 1e60}, X), ({"gamma": 0.5}, 1e38 * X)])
def test_products_outside_the_range_of_float32_are_refused(parameters, x, features):
    estimator = RandomFeatures(40, features=features, random_state=0, **parameters)
    for container in (np.asarray, sp.csr_array):
        with pytest.raises(ValueError, match="outside the range of float32; scale X, or give float64"):
            estimator.fit(container(x.astype(np.float32)))
    if features == "fourier":
        fitted = clone(estimator).fit(1e-60 * X)
        with pytest.raises(ValueError, match="outside the range of float32"):
            fitted.transform(x.astype(np.float32))


def test_what_was_fitted_stays_when_parameters_change():
    others = {"n_components": 5, "features": "positive", "kernel": "matern", "nu": 0.5, "gamma": 3.0, "coupling": "iid", "random_state": 1}
    for features in estimators.FEATURES:
        for n_components in (7, np.int64(8)):
            fitted = RandomFeatures(n_components, features=features, gamma=0.3, random_state=0).fit(X)
            phi, names = fitted.transform(X), fitted.get_feature_names_out()
            for name, value in (others | {"features": "trigonometric" if features == "fourier" else "fourier"}).items():
                fitted.set_params(**{name: value})
                assert np.array_equal(fitted.transform(X), phi)
                assert np.array_equal(fitted.get_feature_names_out(), names)
                assert len(names) == phi.shape[1] == n_components


@pytest.mark.parametrize("features", estimators.FEATURES)
@pytest.mark.parametrize("container", [sp.csr_matrix, sp.csr_array, sp.coo_array, sp.csc_matrix, sp.csc_array, SCALED["twice"]])
def test_sparse_points_of_any_kind_have_the_features_of_dense_ones(features, container):
    x = np.where(NORMAL > 0, NORMAL, 0)[:20]
    for n_components in (1, 7, 8):
        fitted = RandomFeatures(n_components, features=features, gamma=0.1, random_state=0).fit(x)
        for dtype in (np.float64, np.float32):
            sparse, dense = fitted.transform(container(x.astype(dtype))), fitted.transform(x.astype(dtype))
            assert type(sparse) is np.ndarray
            assert sparse.dtype == dense.dtype == dtype
            assert np.allclose(sparse, dense, rtol=0, atol=100 * np.finfo(dtype).eps)


def test_positive_features_of_text_are_for_pipelines():
    pipeline = make_pipeline(TfidfVectorizer(), RandomFeatures(50, features="positive", gamma="scale", random_state=0), Ridge())
    assert np.isfinite(pipeline.fit(["one two", "two three", "one four", "five"], range(4)).predict(["one five"])).all()


@pytest.mark.parametrize("features", estimators.FEATURES)
def test_rows_come_in_blocks_and_padded(monkeypatch, features):
    """No row depends on its neighbours, up to rounding, and few shapes are compiled for any number of rows."""
    fitted = RandomFeatures(9, features=features, gamma=0.1, random_state=0).fit(NORMAL)
    alone = np.concatenate([fitted.transform(x[None]) for x in NORMAL[:41]])
    shapes, name = set(), "positive" if features == "positive" else "trigonometric"
    own = getattr(estimators.maps, name)
    monkeypatch.setattr(estimators.maps, name, lambda x, *others: shapes.add(x.shape) or own(x, *others))
    for n in range(1, 42):
        assert np.allclose(fitted.transform(NORMAL[:n]), alone[:n], rtol=0, atol=rounding(100))
    assert shapes == {(16, 3), (32, 3), (64, 3)}
    monkeypatch.setattr(estimators, "ROWS", 16)
    for container in (np.asarray, sp.csr_array):
        assert np.allclose(fitted.transform(container(NORMAL[:41])), alone, rtol=0, atol=rounding(100))


def test_positive_features_far_from_the_origin_warn():
    x = np.random.default_rng(0).normal(size=(200, 30))
    estimator = RandomFeatures(100, features="positive", gamma=0.5, random_state=0)
    with pytest.warns(UserWarning, match="most points of X are 5.* lengthscales from 0 .* centre X") as said:
        phi = estimator.fit_transform(x)
    typical = float(re.search(r"= 1 by (.*);", str(said[0].message))[1])
    assert np.median(np.sum(phi**2, axis=1)) < typical < 1e-10
    estimator.set_params(gamma="scale").fit(x)  # which does not, nor do Fourier features
    RandomFeatures(100, gamma=0.5).fit(x)


@pytest.mark.parametrize("dtype", ["datetime64[ns]", "timedelta64[s]"])
def test_times_are_refused(dtype):
    times = np.arange(12).astype(dtype)
    for x in (times[:, None], pd.DataFrame({"a": X[:, 0], "b": times}), pd.DataFrame({"b": times})):
        with pytest.raises(ValueError, match=r"X has dtype (datetime|timedelta)64\[n?s\]; give times as numbers"):
            RandomFeatures(4).fit(x)
    fitted = RandomFeatures(4).fit(X[:, :1])
    with pytest.raises(ValueError, match="give times as numbers"):
        fitted.transform(times[:, None])


@pytest.mark.parametrize("coupling", couplings.fast.COUPLINGS)
def test_fast_frequencies_of_wide_tables_take_no_square_matrix(coupling):
    for m, d in ((5, 40), (16, 17), (3, 1), (7, 7), (70, 40)):
        frequencies = couplings.fast.draw(jax.random.key(0), m, d, coupling)
        assert np.allclose(frequencies.matrix, frequencies.project(np.eye(d)).T, rtol=0, atol=rounding(100, frequencies.norms))
    program = jax.make_jaxpr(lambda key: getattr(couplings, f"{coupling}_fast")(key, 4, 256))(jax.random.key(0))
    assert "[256,256]" not in str(program)


def test_a_dask_array_stays_one():
    lazy = pytest.importorskip("dask.array")
    x = np.random.default_rng(0).normal(size=(50, 6)).astype(np.float32)
    of_blocks, of_all = (RandomFeatures(9, gamma=0.1, random_state=0).fit(X) for X in (lazy.from_array(x, chunks=(20, 4)), x))
    phi = of_blocks.transform(lazy.from_array(x, chunks=(20, 4)))
    assert isinstance(phi, lazy.Array) and (phi.shape, phi.dtype, phi.chunks[0]) == ((50, 9), np.float32, (20, 20, 10))
    assert np.allclose(phi.compute(), of_all.transform(x), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match="gamma = 'scale' with a Dask array; give a number"):
        RandomFeatures(9, gamma="scale").fit(phi)

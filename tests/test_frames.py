"""Tight frames: normal rows, second moments of the identity, norms that are kept, and the errors that theory gives them."""

import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from scipy import stats

from companion.papers.couplings import frame_errors
from rfcore import copulas, couplings, features, kernels, theory
from rfcore.couplings import Product, directions
from rfcore.theory import frames

FRAMES = {
    "tight": couplings.tight,
    "balanced": couplings.tight_balanced,
    "antithetic": couplings.tight_antithetic,
    "tightened Sobol'": couplings.tighten(couplings.sobol),
}


def draws(coupling, m, d, n, seed=0):
    """(n, m, d); one after another, since batches of QR can hold every thread of XLA's pool."""
    draw = jax.jit(lambda keys: jax.lax.map(lambda key: coupling(key, m, d), keys))
    return np.asarray(draw(jax.random.split(jax.random.key(seed), n)), dtype=float)


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("m", [2, 3, 7])
def test_each_row_is_normal(name, m):
    omega = draws(FRAMES[name], m, 3, 1500)
    for row in {0, m - 1}:
        assert stats.kstest(omega[:, row, 0], "norm").pvalue > 1e-3
        assert stats.kstest(np.linalg.norm(omega[:, row], axis=1), stats.chi(3).cdf).pvalue > 1e-3
        along = omega[:, row] / np.linalg.norm(omega[:, row], axis=1, keepdims=True)
        assert stats.kstest(along[:, 2], stats.uniform(-1, 2).cdf).pvalue > 1e-3  # Archimedes: a coordinate on the sphere is uniform


@pytest.mark.parametrize(("m", "d"), [(64, 8), (100, 24), (96, 64)])
def test_second_moments_are_those_of_a_tight_frame(m, d):
    for name in ("tight", "balanced"):
        omega = draws(FRAMES[name], m, d, 1)[0]
        c = np.sum(omega**2) / d
        assert np.abs(omega.T @ omega / c - np.eye(d)).max() < (0.005 if m > 3 * d else 0.08)
        if name == "balanced":
            assert np.linalg.norm(omega.sum(axis=0)) < 0.05 * np.sqrt(m * d)  # of independent rows: sqrt(m d)


def test_norms_are_kept():
    coupling = Product(directions.independent, copulas.comonotone)
    for m in (1, 3, 4, 9):
        lengths = np.linalg.norm(draws(couplings.tighten(coupling), m, 4, 3), axis=2)
        blocks = [lengths[:, i : i + 4] for i in range(0, m, 4)]
        assert all(np.allclose(block, block[:, :1], rtol=1e-5) for block in blocks)


def test_heavy_tails_are_not_to_be_tightened():
    """Frequencies of exp(-|x - y|), at distance 1: squared errors over those of independent ones."""
    norms_in_strata = Product(directions.orthogonal, copulas.stratified, "sorted", couplings.norms.Student(0.5))
    mse, one = {}, (1 + np.exp(-2.0)) / 2 - np.exp(-2.0)
    for name, coupling in (("strata", norms_in_strata), ("frame", couplings.tighten(norms_in_strata))):
        omega = draws(coupling, 64, 16, 200)
        mse[name] = 64 * np.mean((np.cos(omega).mean(axis=1) - np.exp(-1.0)) ** 2) / one  # along all axes
    assert mse["strata"] < 0.7 and mse["frame"] > 1.2


def test_few_rows_are_orthogonal_or_a_simplex():
    for m in (2, 5, 8):
        for balanced, cosine in ((False, 0.0), (True, -1 / (m - 1))):
            omega = draws(couplings.tighten(couplings.iid, balanced), m, 8, 1)[0]
            unit = omega / np.linalg.norm(omega, axis=1, keepdims=True)
            assert np.allclose(unit @ unit.T, np.eye(m) + cosine * (1 - np.eye(m)), atol=1e-5)
    for name in FRAMES:
        assert FRAMES[name](jax.random.key(0), 0, 3).shape == (0, 3) and FRAMES[name](jax.random.key(0), 1, 1).shape == (1, 1)


@pytest.mark.parametrize("name", FRAMES)
def test_estimates_are_unbiased(name):
    x, y = jnp.array([[0.4, -0.3, 0.2]]), jnp.array([[0.1, 0.5, 0.3]])
    for m in (3, 5):
        omega = draws(FRAMES[name], m, 3, 4000, seed=1)
        for feature in (features.fourier, features.positive):
            found = np.array(jax.lax.map(lambda w, feature=feature: (feature(x, w) @ feature(y, w).T)[0, 0], jnp.asarray(omega)))
            assert abs(found.mean() - kernels.gaussian(x, y)[0, 0]) < 4 * found.std() / np.sqrt(len(found))


def test_the_error_given_lengths_is_the_mean_over_rotations():
    omega = np.random.default_rng(0).normal(size=(5, 3))
    along = np.random.default_rng(1).normal(size=(3, 400_000))
    along /= np.linalg.norm(along, axis=0)
    for kind, (_, feature) in frame_errors.FRAMES.items():
        sign = -1 if kind == "tight" else 1
        function = {"fourier": np.cos, "positive": np.exp, "cosh": np.cosh}[feature]
        for z, found in zip((0.5, 1.0), frame_errors.mse_given_lengths(omega, (0.5, 1.0), feature), strict=True):
            errors = (function(z * omega @ along).mean(axis=0) - np.exp(sign * z**2 / 2)) ** 2
            one = theory.one_frequency_mse(z, feature) * (1 if kind == "tight" else np.exp(z**2)) / 5
            assert abs(errors.mean() / one - found) < 5 * errors.std() / one / np.sqrt(errors.size)


def test_with_many_blocks_a_frame_has_the_error_of_shells():
    shells = couplings.compose("orthogonal", "stratified", across="blocks")
    for d in (8, 32):
        for kind, feature in (("tight", "fourier"), ("cosh", "cosh")):
            for z in (1.0, 0.7):
                found = theory.mse_ratio(shells, feature, z, m=4096 * d, d=d)
                assert abs(frames.limit(z, kind, 4096, d) / found - 1) < 0.02  # 4,096 norms of shells leave something of their variance


@pytest.mark.parametrize("z", [1e-6, 0.02, 0.3])
def test_close_points_keep_the_digits_of_the_limit(z):
    with_strata = theory.stratified_norms.between_strata, theory.stratified_norms.variance_of_means
    left = (with_strata[1](z, 8, -1) - with_strata[0](z, 8, -1, 4096)) / theory.one_frequency_mse(z, "fourier")
    assert np.isclose(frames.limit(z, "tight", 4096, 8), left + 7 / 10 * z**4 / 12, rtol=0.2 * z, atol=1e-12)
    assert np.isclose(frames.limit(z, "balanced", 64, 8), z**4 / 6, rtol=z, atol=1e-30)


def test_the_table_is_what_its_program_draws():
    """At sizes that nobody picked."""
    rng, table = np.random.default_rng(67), json.loads(frames.TABLE.read_text(encoding="utf-8"))
    for kind, rows in table.items():
        for row in rng.choice(rows, 2, replace=False):
            place = rng.integers(min(8, len(row["m"])))
            again = frame_errors.drawn(kind, row["m"][place], row["d"], 300 if row["d"] < 64 else 20, jax.random.key(1))
            limits = [frames.limit(z, kind, row["m"][place], row["d"]) for z in frames.DISTANCES[kind]]
            se = again.std(axis=0) / again.mean(axis=0) / np.sqrt(len(again)) / 2
            assert np.all(abs(np.log(np.sqrt(again.mean(axis=0) / limits) / row["over_limit"][place])) < 4 * se + 0.06), (kind, row["d"], place)


@pytest.mark.parametrize(("m", "d"), [(300, 256), (1024, 784)])
def test_a_promise_between_and_beyond_the_dimensions_of_the_table_is_kept(m, d):
    """With dimensions up to 128 alone that of 784 was 17 per cent too high."""
    found = frame_errors.drawn("tight", m, d, 3, jax.random.key(0)).mean(axis=0)
    promised = [frames.frames_ratio(z, "tight", m, d) for z in frames.DISTANCES["tight"]]
    assert np.allclose(np.log(promised / found) / 2, 0, atol=0.05)


def test_no_promise_is_below_the_limit_at_close_points():
    """Noise in the table once made a squared error negative."""
    for kind in frames.DISTANCES:
        for m, d in [(128, 8), (200, 16), (1024, 16), (512, 8), (40, 3), (600, 100)]:
            assert all(frames.frames_ratio(z, kind, m, d) >= frames.limit(z, kind, m, d) > 0 for z in (1e-4, 0.03, 0.2))


def test_errors_out_of_range_are_refused():
    for arguments in [(0.0, "tight", 8, 4), (0.5, "balanced", 4, 4), (0.5, "balanced", 4, 1)]:
        with pytest.raises(ValueError, match="give"):
            frames.frames_ratio(*arguments)
    for coupling, feature, z in ((couplings.tight, "fourier", 3.5), (couplings.tight_antithetic, "positive", 1.5)):
        with pytest.raises(ValueError, match="distance"):
            theory.mse_ratio(coupling, feature, z, m=40, d=4)
    for coupling, feature in ((couplings.tight, "positive"), (couplings.tight_balanced, "fourier"), (couplings.tighten(couplings.iid), "fourier")):
        with pytest.raises(ValueError, match="no closed form"):
            theory.mse_ratio(coupling, feature, 1.0, m=40, d=4)

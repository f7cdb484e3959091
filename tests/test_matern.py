"""Student's t frequencies: marginal laws, and the Matérn kernel that they estimate."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import rounding
from scipy import stats
from sklearn.gaussian_process.kernels import Matern

from companion import evidence
from companion.evidence import Verdict
from rfcore import copulas, couplings, features, kernels
from rfcore.couplings import norms
from rfcore.estimators import PRODUCTS, RandomFeatures


@pytest.mark.parametrize("law", sorted({repr(one): name for name, one in copulas.COPULAS.items()}.values()))
@pytest.mark.parametrize(("d", "nu"), [(1, 0.5), (3, 1.5)])
def test_lengths_have_the_law_of_student_whatever_their_coupling(law, d, nu):
    draw = jax.jit(jax.vmap(lambda key: couplings.compose("orthogonal", law, radial=norms.Student(nu)).lengths(key, 2 * d, d)))
    lengths = np.asarray(draw(jax.random.split(jax.random.key(0), 4000)))
    for column in lengths.T:
        assert stats.kstest(column**2 / d, stats.f(d, 2 * nu).cdf).pvalue > 1e-5  # of 56: one false alarm in 1,800


@pytest.mark.parametrize("law", ["independent", "reversal", "stratified"])
@pytest.mark.parametrize("over", ["block", "all", "blocks"])
@pytest.mark.parametrize("nu", [0.5, 2.5])
def test_fourier_features_estimate_the_kernel_without_bias(nu, law, over):
    x = np.random.default_rng(0).normal(size=(6, 3)) / 2
    directions = "simplex" if law == "reversal" else "orthogonal"
    coupling = couplings.compose(directions, law, over, norms.Student(nu))

    @jax.jit
    def estimates(keys):
        phi = jax.vmap(lambda key: features.fourier(x, coupling(key, 6, 3)))(keys)
        return phi @ phi.transpose(0, 2, 1)

    found = np.asarray(estimates(jax.random.split(jax.random.key(1), 12_000)))
    decision = evidence.unbiased(found, kernels.matern(x, x, nu), smallest_bias=0.03)
    assert decision.verdict is Verdict.REPRODUCED, decision.detail


def test_the_transformer_has_the_directions_and_the_norms_of_its_coupling():
    """In blocks of d = 4: levels of norms, u and 1 - u for "pnc", equal for "pm"; cosines of directions."""
    cosines, levels = {}, {}
    for name in PRODUCTS:
        fitted = RandomFeatures(4000, "matern", nu=1.5, coupling=name, random_state=0).fit(np.eye(4))
        blocks = fitted.random_weights_.T.reshape(500, 4, 4)
        lengths = np.linalg.norm(blocks, axis=2)
        cosines[name] = (blocks @ blocks.mT / lengths[:, :, None] / lengths[:, None])[:, *np.triu_indices(4, 1)]
        levels[name] = stats.f(4, 3).cdf(lengths**2 / 4)
        assert stats.kstest(levels[name][:, 1], "uniform").pvalue > 1e-4
    # Two quantiles, good to 1e-13, and a distribution function; QR of 4 rows.
    assert np.allclose(levels["orthogonal_pnc"][:, ::2] + levels["orthogonal_pnc"][:, 1::2], 1, rtol=0, atol=1e-12)
    assert np.allclose(levels["orthogonal_pm"], levels["orthogonal_pm"][:, :1], rtol=0, atol=1e-12)
    for name in ("iid", "orthogonal", "simplex"):
        assert np.abs(np.corrcoef(levels[name].T)[np.triu_indices(4, 1)]).max() < 4.5 / np.sqrt(500)
    for name, cosine in {"orthogonal": 0, "simplex": -1 / 3, "orthogonal_pnc": 0, "orthogonal_pm": 0}.items():
        assert np.allclose(cosines[name], cosine, rtol=0, atol=rounding(100))
    assert np.std(cosines["iid"]) > 0.4


@pytest.mark.parametrize("nu", [0.5, 0.7, 1.5, 2.5, 4.0])
def test_kernel_is_that_of_scikit_learn(nu):
    X, Y = (np.random.default_rng(seed).normal(size=(5, 3)) for seed in (0, 1))
    Y[0] = X[0]
    with jax.enable_x64(True):
        assert np.allclose(kernels.matern(X, Y, nu), Matern(nu=nu)(X, Y), rtol=1e-10, atol=0)  # Bessel's function of two kinds


def test_kernel_has_gradients_and_the_gaussian_limit():
    with jax.enable_x64(True):
        X = np.random.default_rng(0).normal(size=(4, 3))
        gradient = jax.grad(lambda x: kernels.matern(x, X, 2.5).sum())(jnp.asarray(X))
        assert np.all(np.isfinite(gradient))
        assert np.allclose(kernels.matern(X, X, 100.0), kernels.gaussian(X, X), atol=0.01)  # 1 / nu to first order
        close = 1e-3 * X  # where Bessel's function overflows
        assert np.allclose(kernels.matern(close, close, 100.0), kernels.gaussian(close, close), rtol=0, atol=1e-6)
    with pytest.raises(ValueError, match=r"nu = 0.7 with points that are traced; give nu = 0.5, 1.5 or 2.5"):
        jax.jit(lambda x: kernels.matern(x, x, 0.7))(X)

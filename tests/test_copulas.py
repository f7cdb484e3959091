"""Copulas: uniform entries, the dependence that each law promises, the same draws in NumPy and JAX; norms."""

import pickle
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import EPS, rounding
from scipy import integrate, special, stats
from scipy.stats import qmc

from rfcore import copulas, couplings
from rfcore.copulas import nets, strata
from rfcore.couplings import Product, directions, norms

M, K, N = 4, 2, 20_000
CORRELATION = np.array(
    [[1.0, -0.6, 0.1, 0.1], [-0.6, 1.0, 0.1, 0.1], [0.1, 0.1, 1.0, -0.8], [0.1, 0.1, -0.8, 1.0]]
)
LAWS = dict(copulas.COPULAS) | {
    "gaussian": copulas.gaussian(CORRELATION),
    "gaussian_of_factor": copulas.gaussian_of_factor(np.array([[1.0, 2.0], [-3.0, 0.5], [0.1, 0.0], [1.0, -2.0]])),
    "permutation": copulas.permutation([2, 0, 1]),
    "groups": copulas.permutation([[2, 0, 1], [1, 2, 0]]),
}
X64 = jax.config.jax_enable_x64
# Two quantiles, good to 1e-13 or 6e-6, times x density (below 1), and as much for norms and SciPy's distribution function.
LEVEL = 4 * (1e-13 if X64 else 6e-6)
TOO_HIGH = jnp.array([0.5, 1.0])
compiled = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def coupled(copula):
    """Orthogonal frequencies whose norms have a copula in each block: its name, or a correlation matrix."""
    return Product(directions.orthogonal, copulas.gaussian(copula) if np.ndim(copula) else copulas.named(copula))


@cache
def drawn(name, n=N):
    """A draw of n blocks in NumPy, and the uniforms that it was made of."""
    rng, used = np.random.default_rng(0), []

    def uniform(shape):
        used.append(rng.random(shape))
        return used[-1].copy()

    return copulas.draw(LAWS[name], uniform, (n, M, K)), used


def replayed(used):
    uniforms = iter(used)

    def uniform(shape):
        u = next(uniforms)
        assert u.shape == tuple(shape)
        return u.copy()

    return uniform


def z_of_mean(x, truth=0.0):
    return np.abs(x.mean(axis=0) - truth) / (x.std(axis=0) / np.sqrt(len(x)))


@pytest.mark.parametrize("name", LAWS)
def test_every_entry_is_uniform(name):
    for entry in drawn(name)[0].reshape(N, M * K).T:
        assert stats.kstest(entry, "uniform").pvalue > 1e-5  # of a hundred entries in all: one false alarm in 10^3


@pytest.mark.parametrize("name", LAWS)
def test_blocks_and_coordinates_are_independent(name):
    u = drawn(name)[0] - 0.5
    for f in (u, np.abs(u) - 0.25):
        blocks = (f[::2, :, None, :, None] * f[1::2, None, :, None, :]).reshape(N // 2, -1)
        coordinates = (f[:, :, None, 0] * f[:, None, :, 1]).reshape(N, -1)
        assert max(z_of_mean(blocks).max(), z_of_mean(coordinates).max()) < 4.8  # 1,700 products: one false alarm in 300


@pytest.mark.parametrize("name", LAWS)
def test_numpy_and_jax_make_the_same_draw_of_the_same_uniforms(name):
    law, used = LAWS[name], drawn(name, 50)[1]
    both = [[a.astype(dtype) for a in used] for dtype in (np.float32, np.float64)[: 1 + X64]]
    keys = jax.random.split(jax.random.key(0), 3)

    @compiled
    def in_jax(keys, *used):
        of_keys = jax.vmap(lambda key: law(copulas.uniforms(key), (5, M, 1)))(keys)
        return [of_keys, *(copulas.draw(law, replayed(uniforms), (50, M, K)) for uniforms in used)]

    of_keys, *ours = in_jax(keys, *both)
    assert np.all((of_keys > 0) & (of_keys < 1))
    assert len(np.unique(of_keys[:, 0, 0])) == 3
    for u, uniforms in zip(ours, both, strict=True):
        numpys = law(replayed(uniforms), (50, M, K))
        assert numpys.dtype == u.dtype == uniforms[0].dtype
        # Sums and products of 2 numbers below 1; a normal and its level lose up to 10 times their last place.
        assert np.allclose(u, numpys, rtol=0, atol=40 * np.finfo(u.dtype).eps)


@pytest.mark.parametrize("name", LAWS)
def test_laws_pickle_and_take_any_number_of_blocks_draws_and_coordinates(name):
    law, (u, used) = pickle.loads(pickle.dumps(LAWS[name])), drawn(name)
    assert np.array_equal(law(replayed(used), (N, M, K)), u)
    rng = np.random.default_rng(0)
    for shape in ((M, 0), (0, M, 3), (2, 3, M, 1)):
        assert law(rng.random, shape).shape == shape
    if not name.startswith("gaussian"):
        assert all(law(rng.random, (7, m, 2)).shape == (7, m, 2) for m in (0, 1, 2, 5))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("level", [0.0, "largest"])
def test_no_entry_is_1_whatever_the_uniforms(name, dtype, level):
    value = 1 - np.finfo(dtype).eps / 2 if level == "largest" else level
    u = LAWS[name](lambda shape: np.full(shape, value, dtype), (3, M, K))
    assert np.all((u >= 0) & (u < 1))


def test_uniforms_are_inside_and_symmetric_and_new_at_each_call():
    for x64, bits in ((False, 23), (True, 52)):
        with jax.enable_x64(x64):
            uniform = copulas.uniforms(jax.random.key(0))
            first, second = np.asarray(uniform((N,))), np.asarray(uniform((N,)))
        grid = first.astype(np.longdouble) * 2**bits - 0.5
        assert np.array_equal(grid, np.floor(grid))
        assert np.all((first > 0) & (first < 1) & (1 - (1 - first) == first))
        assert stats.kstest(first, "uniform").pvalue > 1e-4
        assert abs(np.corrcoef(first, second)[0, 1]) < 4.5 / np.sqrt(N)


def test_pairs_of_reversal_sum_to_one_and_the_last_of_an_odd_number_is_alone():
    u = copulas.antithetic(copulas.uniforms(jax.random.key(0)), (N, 3, 1))
    assert np.all(u[:, 0] + u[:, 1] == 1)
    assert abs(np.corrcoef(u[:, 0, 0], u[:, 2, 0])[0, 1]) < 4.5 / np.sqrt(N)
    u = drawn("reversal")[0]
    assert np.all(u[:, ::2] + u[:, 1::2] == 1)


def strata_of(u, m):
    return np.sort(np.floor(np.asarray(u) * m), axis=-2)


@pytest.mark.parametrize("name", ["stratified", "systematic", "sobol"])
def test_each_stratum_has_one_draw(name):
    law = LAWS[name]
    for m in (4, 64, 1024) + (() if name == "sobol" else (3, 1000)):
        u = law(np.random.default_rng(1).random, (30, m, 3))
        assert np.all(strata_of(u, m) == np.arange(m)[:, None])
        u = law(lambda shape: np.random.default_rng(2).random(shape, np.float32), (30, m, 3))
        assert np.all(strata_of(u.astype(float), m) == np.arange(m)[:, None])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_places_next_to_1_stay_in_their_stratum(dtype):
    for m in (2, 3, 7, 64, 256, 1000):
        u = copulas.stratified(lambda shape: np.full(shape, 1 - np.finfo(dtype).eps / 2, dtype), (1, m, 1))
        assert np.all(strata_of(u, m) == np.arange(m)[:, None])


def test_systematic_draws_are_evenly_spaced_and_comonotone_ones_equal():
    gaps = np.diff(np.sort(drawn("systematic")[0], axis=1), axis=1)
    assert np.allclose(gaps, 1 / M, rtol=0, atol=rounding(4))
    u = drawn("comonotone")[0]
    assert np.all(u == u[:, :1])


def test_stratified_draws_take_strata_in_every_order():
    u = copulas.stratified(np.random.default_rng(0).random, (N, 3, 1))
    counts = np.unique(np.floor(u[:, :, 0] * 3).astype(int) @ 3 ** np.arange(3), return_counts=True)[1]
    assert len(counts) == 6
    assert stats.chisquare(counts).pvalue > 1e-4


@pytest.mark.parametrize("m", strata.POLYNOMIALS)
def test_permutations_without_a_sort_have_every_pair_equally_often(m):
    """Over all a and b, which are as likely as each other: any two draws have any two different strata once."""
    a, b = np.meshgrid((np.arange(m - 1) + 0.5) / (m - 1), (np.arange(m) + 0.5) / m, indexing="ij")
    uniforms = iter([a, b])
    cells = strata._affine(lambda shape: next(uniforms), (m - 1, m, m)).reshape(-1, m).astype(int)
    assert np.array_equal(np.sort(cells, axis=1), np.broadcast_to(np.arange(m), cells.shape))
    for i, j in ((0, 1), (m - 1, m // 2 - 1), (1, m - 1))[: max(1, m // 2)]:
        assert len(np.unique(m * cells[:, i] + cells[:, j])) == m * (m - 1)


def test_permutations_without_a_sort_are_drawn_evenly():
    u = np.array(drawn("stratified")[0][:, :2, 0])
    counts = np.bincount(np.floor(u * M).astype(int) @ [M, 1], minlength=M**2).reshape(M, M)
    assert not np.diagonal(counts).any()
    assert stats.chisquare(counts[~np.eye(M, dtype=bool)]).pvalue > 1e-4


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_packed_keys_are_sorted_as_argsort_sorts_them(dtype):
    """Ties keep their order, as in JAX; no draw and a single draw included."""
    for m in (0, 1, 2, 3, 16, 1000):
        keys = np.random.default_rng(0).random((2, 3, m)).astype(dtype)
        keys[..., m // 2 :] = keys[..., : m - m // 2]
        keys[0, 0, :1] = 0
        keys[0, 1, -1:] = 1 - np.finfo(dtype).eps / 2
        found = strata._permutation(lambda shape, keys=keys: keys.copy(), keys.shape)
        assert np.array_equal(found, keys.argsort(axis=-1, kind="stable"))


def test_points_are_those_that_results_were_made_with():
    """Digits before the shift: SciPy 1.15.0, 1.16.3 and 1.17.1 agree; a SciPy or NumPy that scrambles otherwise changes every result."""
    assert nets._sobol_points(4, 2).tolist() == [[3438906, 6055833, 7590569, 1821706], [8087626, 901983, 4433811, 3476614]]
    assert nets._halton_points(4, 2).tolist() == [[5932631, 1738327, 8029783, 3835479], [3934925, 6731128, 1138722, 3002857]]
    # And what is scrambled is Sobol' and Halton: direction numbers of Joe and Kuo (2008), radical inverses in bases 2 and 3.
    sobol, halton = qmc.Sobol(3, scramble=False).random(4), qmc.Halton(2, scramble=False).random(4)
    assert sobol.tolist() == [[0, 0, 0], [0.5, 0.5, 0.5], [0.75, 0.25, 0.25], [0.25, 0.75, 0.75]]
    assert np.allclose(halton, [[0, 0], [1 / 2, 1 / 3], [1 / 4, 2 / 3], [3 / 4, 1 / 9]], rtol=rounding(4), atol=0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_sobol_is_a_net_in_two_coordinates(dtype):
    u = np.floor(copulas.sobol(lambda shape: np.random.default_rng(0).random(shape, dtype), (50, 64, 2)) * 8).astype(int)
    for block in u @ [8, 1]:
        assert np.array_equal(np.sort(block), np.arange(64))  # one of 64 points in each square of side 1/8


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_halton_covers_the_bases_of_its_coordinates(dtype):
    u = np.sort(copulas.halton(lambda shape: np.random.default_rng(0).random(shape, dtype), (50, 81, 2))[..., 1].astype(float), axis=1)
    # 81 points of base 3, one in each interval of 1/81, then moved around the circle and rounded to 23 digits.
    gaps = np.diff(np.concatenate([u, u[:, :1] + 1], axis=1), axis=1)
    assert np.all((gaps >= 0) & (gaps < 2 / 81 + 2**-22))


@pytest.mark.parametrize("name", ["gaussian", "gaussian_of_factor"])
def test_normal_scores_of_gaussian_copulas_have_their_correlation(name):
    scores = special.ndtri(drawn(name)[0][..., 0])
    factor = LAWS[name].factor
    truth = CORRELATION if name == "gaussian" else factor @ factor.T
    assert z_of_mean(scores[:, :, None] * scores[:, None, :], truth).max() < 4.5
    assert np.allclose(factor @ factor.T, truth, rtol=0, atol=rounding(40))


def test_singular_correlations():
    pairs = np.kron(np.eye(2), [[1.0, -1.0], [-1.0, 1.0]])
    u = copulas.gaussian(pairs)(np.random.default_rng(0).random, (1000, 4, 1))
    assert np.allclose(u[:, ::2] + u[:, 1::2], 1, rtol=0, atol=rounding(40))
    u = copulas.gaussian(np.ones((3, 3)))(np.random.default_rng(0).random, (1000, 3, 1))
    assert np.allclose(u, u[:, :1], rtol=0, atol=rounding(40))
    rows = np.random.default_rng(0).normal(size=(30, 5))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    factor = copulas.gaussian(rows @ rows.T).factor
    assert np.allclose(factor @ factor.T, rows @ rows.T, rtol=0, atol=rounding(400))
    assert np.array_equal(factor, np.tril(factor))


def test_permutation_matches_bins():
    sigma = np.array([2, 0, 1])
    u = drawn("permutation")[0]
    bins = np.floor(3 * u).astype(int)
    assert np.all(bins[:, 1::2] == sigma[bins[:, ::2]])
    places = 3 * u - bins
    assert z_of_mean((places[:, 0, 0] - 0.5) * (places[:, 1, 0] - 0.5)) < 4.5
    u = copulas.permutation([1, 0])(np.random.default_rng(0).random, (N, 5, 1))[..., 0]
    assert np.all((u[:, ::2][:, :2] < 0.5) != (u[:, 1::2] < 0.5))
    assert np.abs(np.corrcoef(u.T)[4, :4]).max() < 4.5 / np.sqrt(N)


def test_groups_match_bins():
    """Draws 0, 1, 2 are a group, and draw 3 the first of another."""
    bins = np.floor(3 * drawn("groups")[0]).astype(int)
    assert np.all(bins[:, 1] == np.array([2, 0, 1])[bins[:, 0]])
    assert np.all(bins[:, 2] == np.array([1, 2, 0])[bins[:, 0]])
    assert z_of_mean((bins[:, 3, 0] - 1.0) * (bins[:, 0, 0] - 1)) < 4.5


def test_names():
    for name in ("antithetic", "comonotone", "stratified", "systematic", "sobol", "halton"):
        assert copulas.named(name) is getattr(copulas, name)
    assert copulas.named("iid") is copulas.independent
    assert copulas.named(np.array([1, 0])) == copulas.permutation([1, 0])
    assert copulas.named(drawn) is drawn


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: copulas.draw(lambda uniform, shape: uniform(shape[1:]), np.random.random, (2, 3, 1)), "copula maps shape"),
        (lambda: copulas.draw(lambda uniform, shape: np.ones(shape), np.random.random, (2, 3, 1)), r"copula has values in \[1.0, 1.0\]; give"),
        (lambda: jax.jit(lambda: norms.chi(TOO_HIGH, 3))(), "u has values in"),
        (lambda: copulas.draw(lambda uniform, shape: np.full(shape, np.nan), np.random.random, (2, 1)), "copula has values"),
        (lambda: copulas.gaussian(np.eye(2))(np.random.random, (2, 3, 1)), "a block has 3 draws; give"),
        (lambda: copulas.sobol(np.random.random, (2**23 + 1, 1)), "give at most 8388608 draws"),
        (lambda: copulas.halton(np.random.random, (2, 21202)), "21201 coordinates"),
        (lambda: coupled(np.eye(3)).lengths(jax.random.key(0), 4, 2), "a block has 2 draws"),
        (lambda: copulas.named([0, 0]), "copula = "),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


# Norms and frequencies.

D = 3


@cache
def norms_of(name):
    coupling = coupled(name)
    draw = compiled(jax.vmap(lambda key: coupling.lengths(key, 2 * D - 1, D)))
    return np.asarray(draw(jax.random.split(jax.random.key(0), N)))


@pytest.mark.parametrize("name", copulas.COPULAS)
def test_coupled_norms_are_chi_in_blocks_of_their_own(name):
    lengths = norms_of(name)
    for length in lengths.T:
        assert stats.kstest(length, "chi", (D,)).pvalue > 1e-4
    for f in (lengths - lengths.mean(axis=0), lengths**2 - D):
        products = f[:, :D, None] * f[:, None, D:]
        assert z_of_mean(products.reshape(N, -1)).max() < 4.5


def test_pairs_of_norms():
    levels = stats.chi.cdf(norms_of("pnc"), D)
    assert np.allclose(levels[:, [0, 3]] + levels[:, [1, 4]], 1, rtol=0, atol=LEVEL)
    assert np.abs(np.corrcoef(levels.T)[2, [0, 1, 3, 4]]).max() < 4.5 / np.sqrt(N)
    levels = stats.chi.cdf(norms_of("positive_monotone"), D)
    assert np.all(levels[:, :3] == levels[:, :1])
    levels = stats.chi.cdf(norms_of("stratified"), D)
    assert np.all(strata_of(levels[:, :D, None], D)[..., 0] == np.arange(D))


def test_squares_of_two_coupled_norms_in_the_plane_have_the_covariance_of_the_closed_form():
    # E log(u) log(1 - u) = 2 - pi^2 / 6: squared norms over 2 are exponential with mean 1.
    w = np.asarray(compiled(jax.vmap(lambda key: coupled("pnc").lengths(key, 2, 2)))(jax.random.split(jax.random.key(1), N)))
    assert z_of_mean(np.prod(w**2 / 2 - 1, axis=1), 1 - np.pi**2 / 6) < 4.5


def test_pairwise_norm_coupling_lowers_the_error_of_positive_features_as_theory_says():
    """The error of a pair grows with E exp(v . (w_1 + w_2)), a function of w_1^2 + w_2^2 for orthogonal directions."""
    v = 1.5

    def conformity(radius):  # E exp(v radius t) over the first coordinate t of a unit vector in three dimensions
        return np.sinh(v * radius) / (v * radius)

    def at_level(u):
        return conformity(np.hypot(stats.chi.ppf(u, D), stats.chi.ppf(1 - u, D)))

    coupled, independent = integrate.quad(at_level, 0, 1, epsabs=1e-8)[0], np.exp(v**2)
    omega = np.asarray(compiled(jax.vmap(lambda key: couplings.orthogonal_pnc(key, 2, D)))(jax.random.split(jax.random.key(2), N)))
    estimates = conformity(np.linalg.norm(omega.sum(axis=1), axis=1))
    assert z_of_mean(estimates, coupled) < 4.5
    assert z_of_mean(estimates, independent) > 20
    assert coupled < 0.9 * independent


def test_the_gaussian_copula_of_opposites_is_pairwise_norm_coupling():
    opposites = np.array([[1.0, -1.0, 0.0], [-1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    omega = compiled(lambda key: couplings.orthogonal_copula(key, 6, D, opposites))(jax.random.key(0))
    levels = stats.chi.cdf(np.linalg.norm(omega, axis=1), D).reshape(2, D)
    assert np.allclose(levels[:, 0] + levels[:, 1], 1, rtol=0, atol=LEVEL)
    gram = np.asarray(omega @ omega.T)
    for block in (gram[:D, :D], gram[D:, D:]):
        assert np.allclose(block, np.diag(np.diag(block)), rtol=0, atol=rounding(100, block))
    of_copula = Product(directions.orthogonal, copulas.gaussian(opposites)).lengths
    drawn = jax.vmap(lambda key: of_copula(key, D, D))(jax.random.split(jax.random.key(0), N))
    assert stats.kstest(drawn[:, 1], "chi", (D,)).pvalue > 1e-4


def test_gradients_reach_the_correlation_through_the_norms():
    """Eq. 34: the loss of one draw is a smooth function of the factor, and of the correlation."""
    factor = np.array([[1.0, 0.0, 0.0], [-0.7, 0.8, 0.0], [0.2, -0.5, 0.9]])

    def loss(make, parameters):
        u = make(parameters)(copulas.uniforms(jax.random.key(0)), (20, D, 1))
        return jnp.mean(jnp.prod(norms.chi(u[..., 0], D), axis=1))

    unit = factor / np.linalg.norm(factor, axis=1, keepdims=True)
    change = np.array([[0.0, 0.3, -0.2], [0.3, 0.0, 0.5], [-0.2, 0.5, 0.0]])
    for make, at in ((copulas.gaussian_of_factor, factor), (copulas.gaussian, unit @ unit.T)):
        value_and_gradient = compiled(jax.value_and_grad(partial(loss, make)))
        gradient = value_and_gradient(at)[1]
        h = EPS ** (1 / 3)  # central differences of a loss of size 4: an error of h^2 and one of 4 eps / h, over a slope of .1
        difference = (value_and_gradient(at + h * change)[0] - value_and_gradient(at - h * change)[0]) / (2 * h)
        assert np.allclose(np.sum(gradient * change), difference, rtol=100 * h**2, atol=0)


def test_antithetic_frequencies():
    omega = np.arange(6.0).reshape(2, 3)
    assert np.array_equal(couplings.antithetic(omega), np.concatenate([omega, -omega]))


@pytest.mark.parametrize("x64", [False, True])
def test_low_discrepancy_frequencies_fill_strata_and_are_new_for_each_key(x64):
    """One row in each sixteenth of a coordinate; of Halton's second one in each ninth, moved around the circle."""
    with jax.enable_x64(x64):
        draw = compiled(jax.vmap(lambda key: (couplings.sobol(key, 16, 4), couplings.halton(key, 9, 2))))
        omega, halton = (np.asarray(drawn, float) for drawn in draw(jax.random.split(jax.random.key(0), 2)))
    assert np.all(strata_of(special.ndtr(omega), 16) == np.arange(16)[:, None])
    assert not np.any(np.isclose(*omega))
    u = np.sort(special.ndtr(halton[..., 1]), axis=1)
    # Two points are nearly on one side of their ninths, or a level is off by the rounding of its score.
    assert np.diff(u, append=u[:, :1] + 1, axis=1).max() < 2 / 9 + 1e-6
    with pytest.raises(ValueError, match="give at most 8388608 draws"):
        couplings.halton(jax.random.key(0), 10**7, 2)


def test_draws_by_name_from_a_key_are_those_of_the_record():
    key = jax.random.key(3)
    for name, copula in copulas.COPULAS.items():
        assert np.array_equal(copulas.draw(name, key, (8, 3)), copula(copulas.uniforms(key), (8, 3)))
    assert np.array_equal(copulas.draw([1, 2, 0], key, (3, 1)), copulas.permutation([1, 2, 0])(copulas.uniforms(key), (3, 1)))


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (("sobol", 0, (8, 3)), "key = 0; give one JAX key, such as jax.random.key"),
        (("sobol", jax.random.key(0), (8,)), r"shape = \(8,\); give \(m, k\), m points in k dimensions"),
        (("sobol", jax.random.key(0), (8, 2.5)), "shape = 2.5; give a whole number"),
        (("net", jax.random.key(0), (8, 3)), "copula = 'net'; choose one of 'independent'"),
    ],
)
def test_draws_that_are_refused(arguments, complaint):
    with pytest.raises(ValueError, match=complaint):
        copulas.draw(*arguments)

"""Marginal laws, geometry within blocks, and independence between blocks: the second block of five rows is cut."""

import itertools
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from rounding import rounding
from scipy import stats
from scipy.linalg import hadamard

from companion.papers.simplex import conformities
from rfcore import couplings
from rfcore.couplings import directions, fast, norms, weight_dependent

# All that the package exports but the fast ones, whose rows are not quite Gaussian.
COUPLINGS = [
    one for one in vars(couplings).values() if isinstance(one, couplings.Coupling) and not isinstance(one, couplings.Fast)
]
ONE_BLOCK = [couplings.halton, couplings.sobol, couplings.tight, couplings.tight_balanced, couplings.tight_antithetic]
FAST = [(couplings.orthogonal_fast, "orthogonal"), (couplings.simplex_fast, "simplex")]
N = 20_000


def cross_polytope(key, m, d):
    """Orthogonal directions and their opposites, in blocks of 2d: as a coupling whose blocks have not d rows."""
    key_frames, key_lengths = jax.random.split(key)
    n_blocks = -(-m // (2 * d))
    frames = directions.orthogonal(key_frames, n_blocks * d, d).reshape(n_blocks, d, d)
    corners = jnp.concatenate([frames, -frames], axis=1).reshape(-1, d)[:m]
    return norms.independent(key_lengths, m, d)[:, None] * corners


ROWS = {cross_polytope: 6} | dict.fromkeys(dict(FAST), 4)  # of a block in three dimensions, where it has not 3; fast ones are padded


@cache
def draws(coupling, m, d):
    many = jax.jit(jax.vmap(partial(coupling, m=m, d=d)))
    return np.asarray(many(jax.random.split(jax.random.key(0), N)))


# One draw, compiled as a whole: its steps one by one take several times as long to compile. In NumPy from there on.
draw = jax.jit(lambda seed, coupling, *sizes: coupling(jax.random.key(seed), *sizes), static_argnums=(1, 2, 3, 4))
conformity_of = jax.jit(conformities.log_conformity_of)
project = jax.jit(lambda x, frequencies: frequencies.project(x))


def drawn(*arguments):
    return np.asarray(draw(*arguments))


@pytest.mark.parametrize("coupling", COUPLINGS)
@pytest.mark.parametrize(("m", "d"), [(2, 1), (3, 2), (5, 3), (2, 4)])
def test_each_row_is_standard_normal(coupling, m, d):
    omega = draws(coupling, m, d)
    direction = np.arange(1, d + 1) / np.linalg.norm(np.arange(1, d + 1))
    for row in range(m):
        assert stats.kstest(omega[:, row] @ direction, "norm").pvalue > 1e-4
        assert stats.kstest(np.sum(omega[:, row] ** 2, axis=1), "chi2", (d,)).pvalue > 1e-4


@pytest.mark.parametrize("m", [3, 10])
def test_another_key_compiles_nothing(m, caplog):
    for name, coupling in couplings.COUPLINGS.items():
        coupling(jax.random.key(0), m, 4)
        keys = [jax.random.key(seed) for seed in (1, 2, 3)]
        caplog.clear()
        with jax.log_compiles():
            for key in keys:
                coupling(key, m, 4)
        assert not [record for record in caplog.records if "ompil" in record.getMessage()], name


@pytest.mark.parametrize("key", [0, np.random.default_rng(0), np.uint32(0), jax.random.split(jax.random.key(0), 2)], ids=type)
@pytest.mark.parametrize("coupling", [*COUPLINGS, *(fast for fast, _ in FAST)])
def test_what_is_no_single_key_is_refused_in_one_sentence(coupling, key):
    with pytest.raises(ValueError, match=r"(?s)^key = .*; give one JAX key, such as jax\.random\.key\(0\)$"):
        coupling(key, 8, 4)


@pytest.mark.parametrize("coupling", COUPLINGS)
def test_rows_have_the_first_odd_and_mixed_moments_of_a_gaussian(coupling):
    omega = draws(coupling, 5, 3)
    for row in (0, 1, 4):
        w = omega[:, row]
        for moment, truth in [(w, 0), (w**3, 0), (w[:, :, None] * w[:, None, :], np.eye(3)), (w[:, 0] ** 2 * w[:, 1] ** 2, 1)]:
            z = (moment.mean(axis=0) - truth) / (moment.std(axis=0) / np.sqrt(N))
            assert np.all(np.abs(z) < 4.5)


@pytest.mark.parametrize(("m", "d"), [(3, 1), (1, 2), (3, 5), (5, 5), (19, 7)])
def test_orthogonal_blocks(m, d):
    omega = drawn(m, couplings.orthogonal, m, d)
    assert omega.shape == (m, d)
    for start in range(0, m, d):
        block = omega[start : start + d]
        gram = block @ block.T
        assert np.allclose(gram, np.diag(np.diag(gram)), rtol=0, atol=rounding(100, gram))  # QR and sums of 7


@pytest.mark.parametrize(("m", "d"), [(1, 2), (3, 2), (3, 5), (5, 5), (19, 7)])
def test_simplex_blocks_subtend_the_widest_common_angle(m, d):
    unit = drawn(m, directions.simplex, m, d)
    assert unit.shape == (m, d)
    for start in range(0, m, d):
        block = unit[start : start + d]
        expected = np.where(np.eye(len(block)), 1.0, -1 / (d - 1))
        assert np.allclose(block @ block.T, expected, rtol=0, atol=rounding(100))  # QR and sums of 7


@pytest.mark.parametrize("d", [2, 3, 7])
def test_simplex_product_is_the_matrix_of_equation_9(d):
    rows = []
    for i in range(d - 1):
        ones = np.r_[np.ones(d - 1), 0.0]
        rows.append(np.sqrt(d / (d - 1)) * np.eye(d)[i] - (np.sqrt(d) + 1) / (d - 1) ** 1.5 * ones)
    S = np.array([*rows, ones / np.sqrt(d - 1)])
    assert np.allclose(directions.simplex_product(np.eye(d)), S, rtol=0, atol=rounding(20))  # sums of 7
    assert np.allclose(S @ S.T - np.eye(d), -(1 - np.eye(d)) / (d - 1), rtol=0, atol=rounding(40))


@pytest.mark.parametrize("coupling", [c for c in dict.fromkeys((*COUPLINGS, *ROWS)) if c not in ONE_BLOCK])
def test_blocks_are_independent_of_each_other(coupling):
    """Of three rows, or as many as are declared."""
    size = ROWS.get(coupling, 3)
    omega = draws(coupling, size + 2, 3)
    first, second = omega[:, :size].reshape(N, -1), omega[:, size:].reshape(N, -1)
    for f, g in [(first, second), (first**2, second**2)]:
        f, g = f - f.mean(axis=0), g - g.mean(axis=0)
        products = f[:, :, None] * g[:, None, :]
        z = products.mean(axis=0) / (products.std(axis=0) / np.sqrt(N))
        assert np.abs(z).max() < 4.5


@pytest.mark.parametrize("coupling", [couplings.orthogonal, couplings.simplex, couplings.simplex_plus])
def test_norms_are_independent(coupling):
    lengths = np.linalg.norm(draws(coupling, 5, 3), axis=2)
    correlation = np.corrcoef(lengths.T)[np.triu_indices(5, 1)]
    assert np.abs(correlation).max() < 4.5 / np.sqrt(N)


def test_haar_determinant_has_either_sign_and_columns_are_uniform():
    q = drawn(3, directions.haar, 3, N)
    assert abs(np.mean(np.linalg.det(q))) < 4.5 / np.sqrt(N)
    for i in range(3):
        for j in range(3):  # one coordinate of a uniform unit vector in three dimensions is uniform on [-1, 1]
            assert stats.kstest(q[:, i, j], "uniform", (-1, 2)).pvalue > 1e-4


@pytest.mark.parametrize("d", [1, 2, 5, 64])
def test_rotations_of_accelerators_are_those_of_processors(d):
    """In float32, and of a block that is nearly singular, too: orthogonal, and the same where rounding leaves it one factor."""
    blocks = np.random.default_rng(d).normal(size=(50, d, d)).astype(np.float32)
    found, expected = (np.asarray(jax.jit(f)(blocks)) for f in (directions._by_cholesky, directions._by_reflections))
    assert np.abs(found - expected).max() < 1e-3 and np.median(np.abs(found - expected)) < 1e-6
    if d > 1:
        U, sizes, V = np.linalg.svd(blocks)
        sizes[:, -1] = 1e-6
        found = np.asarray(jax.jit(directions._by_cholesky)(((U * sizes[:, None]) @ V).astype(np.float32)))
    assert np.abs(found @ found.mT - np.eye(d)).max() < 1e-5


def test_any_directions_compose_with_any_norms():
    """A function of directions and one of levels, of the user's own: here axes, all of the median norm."""

    def axes(key, m, d):
        return jnp.eye(m, d)

    def medians(uniform, shape):
        return jnp.full(shape, 0.5)

    omega = drawn(0, couplings.compose(axes, medians), 4, 4)
    assert np.allclose(omega, float(norms.chi(0.5, 4)) * np.eye(4))
    omega = drawn(0, couplings.compose("independent"), 4, 4)
    assert omega.shape == (4, 4)


def test_simplex_plus_keeps_the_rotation_and_the_norms_of_simplex_and_lowers_the_conformity():
    simplex, plus = (drawn(0, c, 12, 6) for c in (couplings.simplex, couplings.simplex_plus))
    assert np.allclose(np.linalg.norm(plus, axis=1), np.linalg.norm(simplex, axis=1), rtol=rounding(50), atol=0)
    for block in (slice(0, 6), slice(6, 12)):
        assert np.linalg.norm(plus[block].sum(axis=0)) < 1e-6 < np.linalg.norm(simplex[block].sum(axis=0))
        assert conformity_of(plus[block], 0.5) < conformity_of(simplex[block], 0.5)


def test_simplex_plus_in_the_plane_and_on_the_line():
    simplex, plus = (drawn(0, c, 4, 2) for c in (couplings.simplex, couplings.simplex_plus))
    assert np.allclose(simplex, plus, rtol=0, atol=rounding(100, simplex))
    assert drawn(0, couplings.simplex_plus, 5, 1).shape == (5, 1)
    assert drawn(0, couplings.simplex_plus, 5, 3).shape == (5, 3)


def test_balanced_vectors_point_away_from_the_sum_of_the_others():
    lengths = np.array([[1.0, 2.0, 2.5, 1.5], [9.0, 1.0, 2.0, 3.0]])
    vectors = np.asarray(weight_dependent.balance(lengths, sweeps=400))
    assert np.allclose(np.linalg.norm(vectors, axis=2), lengths, rtol=rounding(20), atol=0)  # set anew in every sweep
    rest = vectors.sum(axis=1, keepdims=True) - vectors
    cosine = np.sum(vectors * rest, axis=2) / lengths / np.linalg.norm(rest, axis=2)
    assert np.allclose(cosine, -1, atol=1e-6)
    assert np.allclose(np.linalg.norm(vectors.sum(axis=1), axis=1), [0, 3], atol=1e-6)  # 9 against 1 + 2 + 3


def test_no_sweep_lengthens_the_sum():
    lengths = np.sqrt(np.random.default_rng(0).chisquare(3, size=(100, 3)))
    sums = [np.linalg.norm(weight_dependent.balance(lengths, sweeps=s).sum(axis=1), axis=1) for s in range(4)]
    assert all(np.all(after <= before + rounding(50, lengths)) for before, after in itertools.pairwise(sums))
    assert np.mean(sums[3]) < 0.2 * np.mean(sums[0])


@pytest.mark.parametrize("p", [1, 2, 8, 128])
def test_walsh_hadamard_is_the_normalised_sylvester_matrix(p):
    assert np.allclose(fast.walsh_hadamard(np.eye(p)), hadamard(p) / np.sqrt(p), rtol=0, atol=rounding(10, 1 / np.sqrt(p)))


def test_walsh_hadamard_of_three_factors_is_its_own_inverse():
    transform, x = jax.jit(fast.walsh_hadamard), np.random.default_rng(0).normal(size=(2, 8192))
    assert np.allclose(transform(transform(x)), x, rtol=0, atol=rounding(400, x))  # 6 sums of 64
    row = transform(np.eye(2, 8192, 5000))[0]
    signs = (-1.0) ** np.array([(5000 & j).bit_count() for j in range(8192)])
    assert np.allclose(row, signs / np.sqrt(8192), rtol=0, atol=rounding(10, 1 / np.sqrt(8192)))


@pytest.mark.parametrize(("m", "d"), [(0, 3), (3, 1), (19, 5)])
@pytest.mark.parametrize(("coupling", "name"), FAST)
def test_fast_projections_are_products_with_the_matrix_of_the_same_key(coupling, name, m, d):
    x = np.random.default_rng(0).normal(size=(3, d))
    omega, frequencies = drawn(2, coupling, m, d), draw(2, fast.draw, m, d, name)
    assert omega.shape == (m, d)
    assert (frequencies.m, frequencies.d) == (m, d)
    assert np.allclose(project(x, frequencies), x @ omega.T, rtol=0, atol=rounding(200, x, omega))  # sums of 8


@pytest.mark.parametrize("name", fast.COUPLINGS)
def test_fast_projections_are_the_printed_product(name):
    frequencies, x = draw(4, fast.draw, 8, 4, name), np.random.default_rng(0).normal(size=(3, 4))
    simplex = directions.simplex_product(np.eye(4)) if name == "simplex" else np.eye(4)
    rows = []
    for signs, lengths in zip(np.asarray(frequencies.signs), np.asarray(frequencies.norms).reshape(2, 4), strict=True):
        rotation = np.eye(4)
        for diagonal in signs:
            rotation = rotation @ (hadamard(4) / 2) @ np.diag(diagonal)
        rows.append(np.diag(lengths) @ simplex @ rotation)
    assert np.allclose(project(x, frequencies), x @ np.concatenate(rows).T, rtol=0, atol=rounding(200, rows))


def test_fast_blocks_have_the_geometry_of_their_padded_dimension():
    for (coupling, _), cosine in zip(FAST, (0, -1 / 7), strict=True):
        omega = drawn(1, coupling, 24, 8)
        unit = omega / np.linalg.norm(omega, axis=1, keepdims=True)
        for start in (0, 8, 16):
            block = unit[start : start + 8]
            assert np.allclose(block @ block.T, cosine + (1 - cosine) * np.eye(8), rtol=0, atol=rounding(100))


@pytest.mark.parametrize(("d", "p"), [(1, 1), (2, 2), (3, 4), (1000, 1024)])
def test_fast_lengths_are_independent_and_those_of_the_padded_dimension(d, p):
    lengths = np.asarray(draw(0, fast.draw, N, d, "simplex").norms)
    assert stats.kstest(lengths, "chi", (p,)).pvalue > 1e-4
    assert abs(np.corrcoef(lengths[1:], lengths[:-1])[0, 1]) < 4.5 / np.sqrt(N)


def test_fast_projections_of_no_points_keep_float32_and_are_differentiable():
    frequencies = draw(0, fast.draw, 5, 3, "simplex")
    assert frequencies.project(np.zeros((0, 3))).shape == (0, 5)
    assert frequencies.project(np.ones((2, 3), np.float32)).dtype == jnp.float32
    gradient = jax.jit(jax.grad(lambda x: frequencies.project(x).sum()))(np.ones((2, 3)))
    omega = drawn(0, couplings.simplex_fast, 5, 3)
    assert np.allclose(gradient, np.broadcast_to(omega.sum(axis=0), (2, 3)), rtol=0, atol=rounding(100, omega))


@pytest.mark.parametrize(
    ("call", "complaint"),
    [
        (lambda: couplings.simplex_plus(jax.random.key(0), -1, 3), "m = -1"),
        (lambda: couplings.simplex_fast(jax.random.key(0), 3, 0), "d = 0"),
        (lambda: fast.walsh_hadamard(jnp.ones(6)), "power of two"),
        (lambda: fast.draw(jax.random.key(0), 4, 4, "simplex_plus"), "coupling = 'simplex_plus'; choose"),
        (lambda: fast.draw(jax.random.key(0), 4, 4, "orthogonal").project(np.ones((2, 5))), "x has shape"),
        (lambda: fast.draw(jax.random.key(0), 4, 4, "simplex").project(np.ones((2, 2))), "must have 4 coord"),
        (lambda: weight_dependent.balance(1.0), "lengths has shape \\(\\); give one length per vector"),
        (lambda: weight_dependent.balance([1.0, np.nan]), "lengths has 1 NaN"),
        (lambda: weight_dependent.balance([1.0, 2.0], sweeps=-1), "sweeps = -1"),
    ],
)
def test_bad_input(call, complaint):
    with pytest.raises(ValueError, match=complaint):
        call()


@pytest.mark.parametrize("coupling", [couplings.orthogonal, couplings.simplex])
def test_few_directions_have_the_law_of_the_first_of_many(coupling):
    """Two of four, where a thin factor is drawn, against the first two of a whole block: odd moments see its signs."""
    few, whole = draws(coupling, 2, 4), draws(coupling, 4, 4)[:, :2]
    for of in (lambda w: w[:, 0, 0] * w[:, 1, 1] ** 2, lambda w: w[:, 0, 0] * w[:, 1, 1], lambda w: w[:, 0, 3] + w[:, 1, 0]):
        assert stats.ks_2samp(of(few), of(whole)).pvalue > 1e-4


def test_few_directions_in_many_dimensions_cost_no_matrix_of_them():
    omega = drawn(0, couplings.simplex, 3, 300_000)  # d^2 numbers would be 360 GB
    unit = omega / np.linalg.norm(omega, axis=1, keepdims=True)
    assert np.allclose(unit @ unit.T, np.eye(3), rtol=0, atol=1e-4)

"""Every coupling x every feature map x kernel x dtype x {eager, jit, vmap}: shapes, dtypes, values, unbiasedness.

Couplings are found by their type, and maps by their signatures, in what the packages export, so that a new one is tested by being there.
"""

import inspect
import itertools
from functools import cache, partial

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion import gram_errors
from companion.papers.simplex import fast_bias
from rfcore import couplings, features, kernels

# Compiled fast rather than well: most of the time here is compilation, and these runs are short.
compiled = partial(jax.jit, compiler_options={"xla_backend_optimization_level": 0})


def exported(module, *arguments):
    """Public functions of a package with exactly these arguments, by name."""
    functions = {name: f for name, f in vars(module).items() if inspect.isfunction(f)}
    return {name: f for name, f in functions.items() if (*inspect.signature(f).parameters,) == arguments}


COUPLINGS = {name: one for name, one in vars(couplings).items() if isinstance(one, couplings.Coupling)} | exported(couplings, "key", "m", "d")
MAPS = exported(features, "x", "omega", "kernel")
WIDTHS = {"fourier": 2}  # features per frequency, of maps that have more than one
BIASED = ("positive", "log_positive")  # maps whose mean with fast couplings, which are biased, is known in closed form
KERNELS = {"gaussian": kernels.gaussian, "softmax": kernels.softmax}
DTYPES = ["float32", "float64"]
M, D, N = 5, 3, 2000  # two blocks, the second cut
X = np.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
Y = np.array([[0.1, 0.1, -0.3], [0.2, -0.4, 0.0], [0.1, 0.3, 0.2]])


POINTS = np.concatenate([X, Y])


@cache
def three_ways(function, *arguments):
    """A function of keys or of frequencies, as it is, and compiled: of one, and of many at a time."""

    def of_one(key_or_omega):
        return function(key_or_omega, *arguments)

    return of_one, compiled(lambda one, many: (of_one(one), jax.vmap(of_one)(many)))


@cache
def frequencies(name, dtype):
    """Frequencies of one key, eager and compiled, and of N keys, the same key the second of them."""
    with jax.enable_x64(dtype == "float64"):
        keys = jax.random.split(jax.random.key(7), N)
        eager, both = three_ways(COUPLINGS[name], M, D)
        return eager(keys[1]), *both(keys[1], keys)


@cache
def features_of_points(name, map_name, kernel, dtype):
    """Features of frequencies of one key, eager and compiled, and of N keys."""
    with jax.enable_x64(dtype == "float64"):
        eager, both = three_ways(of_points, map_name, kernel, dtype)
        one, *compiled_ones = frequencies(name, dtype)
        return eager(one), *both(*compiled_ones)


def of_points(omega, map_name, kernel, dtype):
    return MAPS[map_name](POINTS.astype(dtype), omega, kernel)


def agree(ways, dtype):
    one, jit, vmap = (np.asarray(a) for a in ways)
    # The three may round a normal differently in its last place, which a rotation from QR multiplies by the condition
    # number of a 3 x 3 Gaussian matrix: below 1000 but for one key in a thousand. Exponents are of the size of omega.
    tolerance = 1e4 * np.finfo(dtype).eps
    assert one.shape == jit.shape == vmap.shape[1:]
    assert one.dtype == jit.dtype == vmap.dtype == dtype
    assert np.all(np.isfinite(vmap))
    return all(np.allclose(one, other, rtol=tolerance, atol=tolerance) for other in (jit, vmap[1]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", COUPLINGS)
def test_couplings_agree_eager_compiled_and_under_vmap(name, dtype):
    assert frequencies(name, dtype)[0].shape == (M, D)
    assert agree(frequencies(name, dtype), dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("map_name", MAPS)
@pytest.mark.parametrize("name", COUPLINGS)
def test_features_agree_eager_compiled_and_under_vmap(name, map_name, kernel, dtype):
    ways = features_of_points(name, map_name, kernel, dtype)
    assert ways[0].shape == (len(POINTS), M * WIDTHS.get(map_name, 1))
    assert agree(ways, dtype)


def mean_of(name, map_name, kernel):
    """What the estimate of the kernel is on average; None where no closed form is at hand."""
    truth = np.asarray(KERNELS[kernel](X, Y))
    if not name.endswith("_fast"):
        return truth
    if map_name not in BIASED:
        return None
    return truth * [[fast_bias.fast_bias(x + y, name) for y in Y] for x in X]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("map_name", MAPS)
@pytest.mark.parametrize("name", COUPLINGS)
def test_estimates_have_the_kernel_as_their_mean(name, map_name, kernel, dtype):
    mean = mean_of(name, map_name, kernel)
    if mean is not None:
        assert_kernel_is_the_mean(features_of_points(name, map_name, kernel, dtype)[2], map_name, mean)


def assert_kernel_is_the_mean(phi, map_name, mean):
    phi = np.exp(phi) if map_name.startswith("log_") else np.asarray(phi)
    of_x, of_y = phi[:, : len(X)], phi[:, len(X) :]
    found, se = gram_errors.mean_and_se(of_x @ of_y.transpose(0, 2, 1))
    assert np.abs((found - mean) / se).max() < 4.5


@pytest.mark.parametrize("d", [1, 2])
@pytest.mark.parametrize("name", COUPLINGS)
def test_in_one_and_two_dimensions_and_without_points_or_frequencies(name, d):
    with jax.enable_x64(False):
        key, x = jax.random.key(0), np.ones((2, d), np.float32)
        assert jax.eval_shape(lambda key: COUPLINGS[name](key, 0, d), key).shape == (0, d)
        omega = compiled(lambda key: COUPLINGS[name](key, 3, d))(key)
        assert (omega.shape, omega.dtype) == ((3, d), jnp.float32)
        for map_name, feature in MAPS.items():
            phi, none = feature(x, omega), feature(x[:0], omega)
            assert (phi.dtype, len(phi), none.shape) == (jnp.float32, 2, (0, phi.shape[1]))
            assert np.all(np.isfinite(phi)), map_name


@pytest.mark.parametrize("name", COUPLINGS)
def test_same_key_same_draw_other_key_other_draw(name):
    omega, _, many = frequencies(name, "float64")
    assert np.array_equal(omega, COUPLINGS[name](jax.random.split(jax.random.key(7), N)[1], M, D))
    assert not np.any(np.isclose(many[0], many[1]))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["orthogonal", "simplex"])
def test_fast_frequencies_give_the_features_of_their_matrix(name, dtype):
    with jax.enable_x64(dtype == "float64"):
        keys, x = jax.random.split(jax.random.key(3), 2), X.astype(dtype)

        @compiled
        @jax.vmap
        def of_both(key):
            both = COUPLINGS[f"{name}_fast"](key, M, D), couplings.fast.draw(key, M, D, name)
            return [[feature(x, w, kernel) for w in both] for feature, kernel in itertools.product(MAPS.values(), KERNELS)]

        # Sums of 4 terms by 3 transforms and of 3 by one product, of size below 5, exponentiated.
        for of_matrix, of_frequencies in of_both(keys):
            assert of_frequencies.dtype == dtype
            assert np.allclose(of_frequencies, of_matrix, rtol=100 * np.finfo(dtype).eps, atol=100 * np.finfo(dtype).eps)


MEAN, FACTOR = np.array([0.3, -0.2, 0.1]), np.array([[1.1, 0.0, 0.0], [0.2, 0.9, 0.0], [-0.1, 0.3, 1.0]])
CASES = list(itertools.product(MAPS, KERNELS))


@cache
def features_of_weighted_frequencies(dtype):
    """For every map and kernel: features of frequencies of another law, of one key, eager and compiled, and of N keys."""
    with jax.enable_x64(dtype == "float64"):
        keys = jax.random.split(jax.random.key(7), N)

        def draw(key):
            omega = COUPLINGS["simplex"](key, M, D)
            return features.frequencies.weighted_gaussian(omega, MEAN.astype(dtype), FACTOR.astype(dtype))

        def of_all(omega):  # weighted frequencies go in and out of what is compiled
            return [of_points(omega, *case, dtype) for case in CASES]

        ways = of_all(draw(keys[1])), compiled(of_all)(compiled(draw)(keys[1])), compiled(jax.vmap(of_all))(compiled(jax.vmap(draw))(keys))
        return dict(zip(CASES, zip(*ways, strict=True), strict=True))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("case", CASES, ids="-".join)
def test_weighted_frequencies_have_the_kernel_as_their_mean(case, dtype):
    ways = features_of_weighted_frequencies(dtype)[case]
    assert agree(ways, dtype)
    assert_kernel_is_the_mean(ways[2], case[0], np.asarray(KERNELS[case[1]](X, Y)))


def test_the_matrix_is_not_empty():
    assert {"iid", "orthogonal", "simplex", "simplex_plus", "orthogonal_fast", "simplex_fast"} <= set(COUPLINGS)
    assert {"fourier", "positive", "log_positive"} <= set(MAPS)

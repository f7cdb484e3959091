"""Couplings and their parts are records: they print themselves, pickle, compare, and cross `jit` as pytrees."""

import pickle

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rfcore import choose, copulas, couplings, features, kernels
from rfcore.couplings import directions, norms

MADE = [
    *couplings.COUPLINGS.values(),
    *copulas.COPULAS.values(),
    *couplings.products.DIRECTIONS.values(),
    norms.chi,
    norms.Student(1.5),
    copulas.permutation([1, 0, 2]),
    copulas.gaussian(np.eye(3)),
    couplings.compose("simplex", "stratified", across="blocks"),
    couplings.compose("orthogonal", "sobol", "all", norms.Student(0.5)),
    couplings.compose("orthogonal", copulas.gaussian(np.eye(3))),
    choose(m=12, d=3, features="attention"),
]


@pytest.mark.parametrize("record", MADE, ids=repr)
def test_a_record_prints_itself_and_comes_back_from_pickle_and_from_jit(record):
    again = pickle.loads(pickle.dumps(record))
    assert again == record and type(again) is type(record)
    assert repr(record).startswith(type(record).__name__ + "(") and " at 0x" not in repr(record)
    assert jax.tree.structure(jax.jit(lambda one: one)(eqx.filter(record, eqx.is_array))) == jax.tree.structure(eqx.filter(record, eqx.is_array))


def test_records_of_other_parts_differ():
    known = list({repr(record): record for record in MADE}.values())
    assert sum(one == other for one in known for other in known) == len(known)


def test_equal_records_are_one_key_of_a_dictionary():
    assert {couplings.compose("simplex"): 1}[couplings.simplex] == 1
    assert couplings.compose("orthogonal", "pnc") == couplings.orthogonal_pnc


def test_a_coupling_is_an_argument_of_a_compiled_function():
    @eqx.filter_jit
    def kernel(coupling, x):
        phi = features.positive(x, coupling(jax.random.key(0), 8, 3))
        return phi @ phi.T

    x = 0.1 * np.ones((2, 3))
    for coupling in (couplings.orthogonal, couplings.Product(directions.orthogonal, copulas.gaussian(np.eye(3)))):
        phi = features.positive(x, coupling(jax.random.key(0), 8, 3))
        assert np.allclose(kernel(coupling, x), phi @ phi.T, rtol=1e-5)


def test_a_gaussian_copula_is_learned_through_the_coupling_that_holds_it():
    """Gradient by the factor of the correlation, against finite differences along one entry."""

    def loss(coupling, x):
        phi = features.fourier(x, coupling(jax.random.key(1), 4, 4))
        return jnp.sum((phi @ phi.T - kernels.gaussian(x, x)) ** 2)

    def coupling(entry):
        factor = jnp.eye(4).at[1, 0].set(entry)
        return couplings.Product(directions.orthogonal, copulas.gaussian_of_factor(factor))

    with jax.enable_x64(True):
        x = np.random.default_rng(0).normal(size=(3, 4))
        gradient = eqx.filter_grad(loss)(coupling(0.3), x)
        assert isinstance(gradient, couplings.Product)
        slope = jax.grad(lambda entry: loss(coupling(entry), x))(0.3)
        step = (loss(coupling(0.3 + 1e-5), x) - loss(coupling(0.3 - 1e-5), x)) / 2e-5
        assert np.all(np.isfinite(gradient.norms.factor)) and np.isclose(slope, step, rtol=1e-6)

"""Choosing a coupling: what it promises is what draws of it do, the table is what its program draws, and the rule is in bounds."""

import json
import pickle

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from rfcore import couplings, features, kernels
from rfcore.papers.couplings import choices
from rfcore.theory import choosing

TABLE = json.loads(choosing.TABLE.read_text(encoding="utf-8"))


def measured(choice, d, m, distance, kind, n_draws=400):
    """RMSE over that of independent frequencies, by draws, at pairs in random directions; and its standard error."""
    rng = np.random.default_rng(0)

    def errors(draw, key, u):
        if kind == "fourier":
            phi = features.fourier(jnp.concatenate([u, 0 * u[:1]]), draw(key, m, d))
            return phi[:-1] @ phi[-1] - np.exp(-(distance**2) / 2)
        phi = features.positive(u / 2, draw(key, m, d), kernel="softmax")  # x = y, so that |x + y| is the distance
        return (phi**2).sum(axis=1) - np.exp(distance**2 / 4)

    squares = []
    for draw in (choice.draw, couplings.iid):
        u = rng.normal(size=(n_draws, 16, d))
        u *= distance / np.linalg.norm(u, axis=-1, keepdims=True)
        run = jax.jit(lambda keys, u, draw=draw: jax.lax.map(lambda x: jnp.mean(errors(draw, *x) ** 2), (keys, u)))
        squares.append(np.asarray(run(jax.random.split(jax.random.key(7), n_draws), u)))
    means = [x.mean() for x in squares]
    relative = np.sqrt(sum(x.var(ddof=1) / len(x) / mean**2 for x, mean in zip(squares, means, strict=True)))
    return np.sqrt(means[0] / means[1]), relative / 2


@pytest.mark.parametrize(
    ("kind", "d", "m", "distance", "name"),
    [
        ("fourier", 8, 16, 0.5, "strata over all"),
        ("fourier", 4, 32, 1.0, "shells"),
        ("fourier", 2, 64, 1.0, "Sobol'"),
        ("fourier", 8, 6, 1.0, "PNC"),
        ("positive", 8, 8, 0.5, "simplex"),
        ("positive", 8, 64, 0.5, "simplex shells"),
        ("positive", 4, 256, 1.0, "Sobol'"),
    ],
)
def test_the_error_promised_is_the_error_drawn(kind, d, m, distance, name):
    choice = couplings.choose(d, m, kind, None if kind == "fourier" else distance)
    assert choice.name == name
    found, se = measured(choice, d, m, distance, kind)
    # Four standard errors, and of Sobol' points a tenth for the table's own.
    assert abs(np.log(found / choice.rmse_over_iid[distance])) < 4 * se + 0.1 * (name == "Sobol'")


@pytest.mark.parametrize("features", choosing.TRIED)
@pytest.mark.parametrize(("d", "m"), [(1, 1), (1, 8), (2, 3), (3, 500), (16, 10), (64, 256), (200, 5000), (2048, 4096)])
def test_every_width_has_a_choice(d, m, features):
    choice = couplings.choose(d, m, features)
    # Not drawn, which would compile some thirty steps for each width: test_what_is_chosen_can_be_pickled draws of all.
    assert jax.eval_shape(lambda key: choice.draw(key, m, d), jax.random.key(0)).shape == (m, d)
    assert choice.name in choice.why
    assert set(choice.rmse_over_iid) == set(choosing.DISTANCES)
    assert 0 < choice.rmse_over_iid[1.0] < 1.1


@pytest.mark.parametrize("features", choosing.TRIED)
def test_what_is_chosen_can_be_pickled(features):
    for draw in choosing.TRIED[features].values():
        again = pickle.loads(pickle.dumps(draw))
        assert np.array_equal(again(jax.random.key(0), 9, 3), draw(jax.random.key(0), 9, 3))


def test_a_given_distance_has_the_least_error_there():
    for kind, tried in choosing.TRIED.items():
        for distance in (0.3, 1.0, 2.0):
            name = couplings.choose(16, 128, kind, distance).name
            errors = [choosing.rmse_over_iid(other, 16, 128, kind, distance) for other in tried]
            assert choosing.rmse_over_iid(name, 16, 128, kind, distance) == np.nanmin(errors)


def test_marginals_of_what_is_drawn_are_normal():
    """Of what only choosing has: turned Sobol' points and cut cross-polytopes."""
    for draw in (choosing.FOURIER["Sobol'"], choosing.ATTENTION["cross-polytopes"]):
        many = jax.jit(jax.vmap(lambda key, draw=draw: draw(key, 9, 3)))(jax.random.split(jax.random.key(1), 400))
        omega = np.asarray(many).reshape(-1, 3)
        assert np.allclose(omega.mean(axis=0), 0, atol=0.1)
        assert np.allclose(omega.T @ omega / len(omega), np.eye(3), atol=0.12)
    assert np.allclose(kernels.gaussian(omega[:1], omega[:1]), 1)


def test_the_table_is_what_its_program_draws():
    again = choices.sobol_mse_ratios(np.random.default_rng(5), 4, 300)
    i = TABLE["dimensions"].index(4)
    se = again.std(axis=0, ddof=1) / np.sqrt(len(again)) / again.mean(axis=0)
    found = np.sqrt(again.mean(axis=0)) / np.array(TABLE["sobol, fourier"][i])
    assert np.all(np.abs(np.log(found)) < 4 * se + 0.02)
    again = choices.attention_errors(jax.random.key(5), 4, 8, 1000)
    stored = np.array([TABLE["attention"][name][1] for name in choosing.ATTENTION])[..., TABLE["blocks"].index(2)]
    found = np.sqrt(again[..., :-1].mean(axis=0) / again[..., -1:].mean(axis=0)).T
    assert np.allclose(found, stored, rtol=0.2)


def test_bad_input():
    for arguments, complaint in [((0, 3), "d = 0"), ((3, 3, "cosine"), "features = 'cosine'"), ((3, 3, "attention", 2.5), "distance = 2.5")]:
        with pytest.raises(ValueError, match=complaint):
            couplings.choose(*arguments)

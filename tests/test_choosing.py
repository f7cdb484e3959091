"""Choosing a coupling: what it promises is what draws of it do, the table is what its program draws, and the rule is in bounds."""

import json
import pickle

import jax
import numpy as np
import pytest

from companion.papers.couplings import choices
from rfcore import choosing, copulas, couplings, kernels, theory
from rfcore.couplings import directions

TABLED = ("Sobol'", "tight frame", "balanced frame", "antithetic frame")
TABLE = json.loads(choosing.TABLE.read_text(encoding="utf-8"))


def measured(choice, d, m, distance, kind, n_draws=400):
    """RMSE over that of independent frequencies, by draws, at pairs in random directions; and its standard error."""
    if kind == "attention":
        errors = choices.attention_errors(jax.random.key(7), d, m, 2 * n_draws)[:, choosing.DISTANCES.index(distance)]
        ours, theirs = errors[:, list(choosing.ATTENTION).index(choice.name)], errors[:, -1]
        ratio = ours.mean() / theirs.mean()
        return np.sqrt(ratio), np.std(ours - ratio * theirs) / theirs.mean() / ratio / np.sqrt(len(ours)) / 2
    of_one, sign = {"fourier": (np.cos, -1), "positive": (np.exp, 1)}[kind]
    along = np.random.default_rng(0).normal(size=(n_draws, d, 16))
    along *= distance / np.linalg.norm(along, axis=1, keepdims=True)
    draw = jax.jit(lambda keys: jax.lax.map(lambda key: choice.coupling(key, m, d), keys))
    omega = np.asarray(draw(jax.random.split(jax.random.key(7), n_draws)), dtype=float)
    errors = np.mean((of_one(omega @ along).mean(axis=1) - np.exp(sign * distance**2 / 2)) ** 2, axis=1)
    one = theory.one_frequency_mse(distance, kind) * (np.exp(distance**2) if kind == "positive" else 1)
    return np.sqrt(errors.mean() * m / one), errors.std() / errors.mean() / np.sqrt(n_draws) / 2


@pytest.mark.parametrize(
    ("kind", "d", "m", "distance", "name"),
    [
        ("fourier", 8, 16, 0.5, "tight frame"),
        ("fourier", 24, 40, 2.0, "tight frame"),
        ("fourier", 5, 13, 1.0, "tight frame"),
        ("fourier", 1, 7, 1.0, "tight frame"),
        ("fourier", 2, 64, 0.5, "Sobol'"),
        ("fourier", 3, 77, 2.0, "tight frame"),
        ("fourier", 3, 128, 2.0, "Sobol'"),
        ("fourier", 8, 6, 1.0, "tight frame"),
        ("positive", 16, 12, 0.5, "antithetic frame"),
        ("positive", 16, 17, 0.5, "balanced frame"),
        ("positive", 40, 150, 0.5, "antithetic frame"),
        ("positive", 9, 42, 0.5, "antithetic frame"),
        ("positive", 9, 41, 0.5, "balanced frame"),
        ("positive", 2, 1024, 1.0, "Sobol'"),
        ("positive", 1, 8, 0.5, "antithetic frame"),
        ("attention", 12, 17, 0.5, "cross-polytopes"),
    ],
)
def test_the_error_promised_is_the_error_drawn(kind, d, m, distance, name):
    """At whole blocks and at cut ones: a cut block once brought back up to five times the error that was promised."""
    choice = choosing.choose(m=m, d=d, features=kind, distance=distance if kind == "positive" else None)
    assert choice.name == name
    found, se = measured(choice, d, m, distance, kind)
    # Four standard errors, and a tenth for the table's own.
    assert abs(np.log(found / choice.rmse_over_iid[distance])) < 4 * se + 0.1 * (name in TABLED or kind == "attention")
    assert se < 0.06


def test_cut_blocks_have_the_errors_of_draws():
    """All that is tried, at sizes that chance picks, none a multiple of d."""
    rng = np.random.default_rng(49)
    for kind in ("fourier", "positive"):
        for name, coupling in choosing.CANDIDATES[kind].items():
            d, rest = int(rng.integers(4, 12)), rng.random()
            m = int(d * (rng.integers(1, 4) + rest)) + 1
            found, se = measured(choosing.Choice(coupling, name, {}, ""), d, m, 0.5, kind)
            promised = choosing.rmse_over_iid(name, kind, 0.5, m=m, d=d)
            assert abs(np.log(found / promised)) < 4 * se + 0.1 * (name in TABLED), (name, d, m)
    errors = choices.attention_errors(jax.random.key(8), 10, 46, 800).mean(axis=0)
    promised = [[choosing.rmse_over_iid(name, "attention", z, m=46, d=10) for name in choosing.ATTENTION] for z in choosing.DISTANCES]
    assert np.allclose(np.sqrt(errors[:, :-1] / errors[:, -1:]), promised, rtol=0.12)


@pytest.mark.parametrize("features", choosing.CANDIDATES)
@pytest.mark.parametrize(("d", "m"), [(1, 1), (1, 8), (2, 3), (3, 500), (16, 10), (64, 256), (200, 5000), (2048, 4096)])
def test_every_width_has_a_choice(d, m, features):
    choice = choosing.choose(m=m, d=d, features=features)
    # Not drawn, which would compile some thirty steps for each width: test_what_is_chosen_can_be_pickled draws of all.
    assert jax.eval_shape(lambda key: choice.coupling(key, m, d), jax.random.key(0)).shape == (m, d)
    assert choice.name in choice.why
    assert set(choice.rmse_over_iid) == set(choosing.DISTANCES)
    assert 0 < choice.rmse_over_iid[1.0] < 1.1


@pytest.mark.parametrize("features", choosing.CANDIDATES)
def test_what_is_chosen_can_be_pickled(features):
    for draw in choosing.CANDIDATES[features].values():
        again = pickle.loads(pickle.dumps(draw))
        assert again == draw and hash(again) == hash(draw) and eval(repr(draw), vars(couplings) | vars(directions) | vars(copulas)) == draw
        assert np.array_equal(again(jax.random.key(0), 9, 3), draw(jax.random.key(0), 9, 3))


def test_a_given_distance_has_the_least_error_there():
    for kind, tried in choosing.CANDIDATES.items():
        for distance in (0.3, 1.0) if kind == "positive" else (0.3, 1.0, 2.0):
            name = choosing.choose(m=128, d=16, features=kind, distance=distance).name
            errors = [choosing.rmse_over_iid(other, kind, distance, m=128, d=16) for other in tried]
            assert choosing.rmse_over_iid(name, kind, distance, m=128, d=16) == np.nanmin(errors)


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
    se = again.std(axis=0, ddof=1) / np.sqrt(len(again)) / again.mean(axis=0)
    found = np.sqrt(again.mean(axis=0)) / np.array(TABLE["sobol, fourier"][4 - 1])
    assert np.all(np.abs(np.log(found)) < 4 * se + 0.02)
    again = choices.attention_errors(jax.random.key(5), 4, 8, 1000)
    stored = np.array([TABLE["attention"][name][TABLE["dimensions"].index(4)] for name in choosing.ATTENTION])[..., TABLE["blocks"].index(2)]
    found = np.sqrt(again[..., :-1].mean(axis=0) / again[..., -1:].mean(axis=0)).T
    assert np.allclose(found, stored, rtol=0.2)


@pytest.mark.parametrize(("kind", "d", "distance", "rmse"), [("fourier", 12, 1.0, 0.01), ("fourier", 64, 0.5, 0.001), ("positive", 7, 0.7, 0.02)])
def test_so_many_frequencies_have_the_error_asked_and_one_fewer_have_not(kind, d, distance, rmse):
    m = choosing.n_frequencies(rmse, d=d, distance=distance, features=kind)
    one = theory.one_frequency_mse(distance, kind)

    def promised(m):
        choice = choosing.choose(m=m, d=d, features=kind, distance=distance)
        return np.sqrt(one / m) * choosing.rmse_over_iid(choice.name, kind, distance, m=m, d=d)

    assert promised(m) <= rmse < promised(m - 1)
    found, se = measured(choosing.choose(m=m, d=d, features=kind, distance=distance), d, m, distance, kind)
    assert abs(np.log(found * np.sqrt(one / m) / rmse)) < 4 * se + 0.1


def test_any_error_is_had_in_one_dimension_by_few():
    assert choosing.n_frequencies(10.0, d=1, distance=1.0) == 1
    assert choosing.n_frequencies(1e-3, d=1, distance=1.0) < theory.one_frequency_mse(1.0, "fourier") / 1e-6 / 100


def test_bad_input():
    for given, complaint in [
        ({"d": 0}, "d = 0"),
        ({"features": "cosine"}, "features = 'cosine'"),
        ({"features": "attention", "distance": 2.5}, "distance = 2.5"),
    ]:
        with pytest.raises(ValueError, match=complaint):
            choosing.choose(**{"m": 3, "d": 3} | given)
    for given, complaint in [({"rmse": 0.0}, "rmse = 0"), ({"distance": 4.0}, "distance = 4"), ({"features": "attention"}, "features = 'attention'"),
                             ({"rmse": 1e-12}, "rmse = 1e-12")]:  # fmt: skip
        with pytest.raises(ValueError, match=complaint):
            choosing.n_frequencies(**{"rmse": 0.1, "d": 30, "distance": 2.0} | given)
    with pytest.raises(TypeError):
        choosing.choose(256, 64)  # which of them is m?

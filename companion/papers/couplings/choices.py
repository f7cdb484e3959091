"""Errors that :func:`rfcore.choosing.choose` has no closed form for, drawn: its table is made here.

``python -m companion.papers.couplings.choices`` writes it anew in half an hour; ``PJRT_NPROC=8`` before it,
since batches of QR can hold every thread of XLA's pool. Distances are those of
``rfcore.choosing.DISTANCES``.
"""

import json

import jax
import jax.numpy as jnp
import numpy as np
from scipy import special
from tqdm import tqdm

from rfcore import attention, choosing, copulas, couplings, features, theory

WIDTHS = 2 ** np.arange(1, 13)
SOBOL_DIMENSIONS = range(1, 33)  # each, since the quality of a net jumps from one to the next
DIMENSIONS = (1, 2, 4, 8, 16, 32, 64, 128)  # of attention
BLOCKS = (1, 2, 4, 8, 16)
N_KEYS = 16
LARGEST = 0.1  # relative standard error of a mean squared error that is kept: a twentieth of its root
N_DRAWS = {"fourier": 1200, "positive": 9600}  # up to d = 7, fewer above


def sobol_mse_ratios(rng, d, n_draws, features="fourier", n_directions=8):
    """Mean squared errors of turned Sobol' points over those of independent frequencies, draw by draw.

    Args:
        rng: NumPy Generator.
        d, n_draws: dimension; number of shifts of the points.
        features: "fourier" or "positive".
        n_directions: over how many directions of x - y, or of x + y, each draw is averaged.

    Returns:
        Array, (n_draws, distances, widths).
    """
    of_one, sign = {"fourier": (np.cos, -1), "positive": (np.exp, 1)}[features]
    errors = []
    for _ in range(n_draws):
        omega = special.ndtri(copulas.sobol(rng.random, (int(WIDTHS[-1]), d)))
        along = rng.standard_normal((d, n_directions))
        p = omega @ (along / np.linalg.norm(along, axis=0))
        parts = [of_one(z * p) - np.exp(sign * z**2 / 2) for z in choosing.DISTANCES]
        sums = np.cumsum(parts, axis=1)[:, WIDTHS - 1] / WIDTHS[:, None]
        errors.append(np.mean(sums**2, axis=2))
    # In units of the features: a positive one's part of x - y is a factor.
    one = [theory.one_frequency_mse(z, features) * (np.exp(z**2) if sign > 0 else 1) for z in choosing.DISTANCES]
    return np.array(errors) * WIDTHS / np.array(one)[:, None]


def attention_errors(key, d, m, n_draws):
    """Squared errors of weights of attention, (n_draws, lengths, couplings to choose from and iid).

    Queries and keys are normal, of the lengths that stand for distances, 16 keys to a row.
    """
    draw = [*choosing.ATTENTION.values(), couplings.iid]
    one_hot = jnp.eye(N_KEYS)

    def errors(key):
        of_points, of_omega = jax.random.split(key)
        q, k = jax.random.normal(of_points, (2, N_KEYS, d)) / np.sqrt(d)

        def error(length, omega):
            phi_q, phi_k = (features.positive(length * x, omega, kernel="softmax") for x in (q, k))
            away = attention.linear(phi_q, phi_k, one_hot) - attention.softmax(length * q, length * k, one_hot)
            return jnp.mean(away**2)

        return jnp.array([[error(length, one(of_omega, m, d)) for one in draw] for length in choosing.DISTANCES])

    keys = jax.random.split(key, n_draws)
    return np.asarray(jax.jit(lambda keys: jax.lax.map(errors, keys, batch_size=50))(keys))


def _kept(ratios, features):
    """Mean over draws as RMSE, three digits of it; None where its standard error is too large."""
    mean, se = ratios.mean(axis=0), ratios.std(axis=0, ddof=1) / np.sqrt(len(ratios))
    if features == "positive":  # far points' squares have a variance of e^(6 v^2): no number of draws tells their mean
        se[-1] = np.inf
    return [[float(f"{np.sqrt(x):.3g}") if s < LARGEST * x else None for x, s in zip(*row, strict=True)] for row in zip(mean, se, strict=True)]


def _write():
    table = {"dimensions": DIMENSIONS, "widths": WIDTHS.tolist(), "blocks": BLOCKS}
    for kind, n in N_DRAWS.items():
        table[f"sobol, {kind}"] = [
            _kept(sobol_mse_ratios(np.random.default_rng(d), d, n // max(1, d // 4), kind), kind)
            for d in tqdm(SOBOL_DIMENSIONS)
        ]
    table["attention"] = {name: [] for name in choosing.ATTENTION}
    for d in tqdm(DIMENSIONS):
        errors = [attention_errors(jax.random.key(d * n), d, d * n, max(400, 16_000 // d)).mean(axis=0) for n in BLOCKS]
        ratios = np.sqrt([error[:, :-1] / error[:, -1:] for error in errors])  # blocks, lengths, couplings
        for name, of_name in zip(table["attention"], np.moveaxis(ratios, -1, 0), strict=True):
            table["attention"][name].append(np.round(of_name.T, 3).tolist())
    choosing.TABLE.write_text(json.dumps(table) + "\n", encoding="utf-8")


if __name__ == "__main__":
    _write()

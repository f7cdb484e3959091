"""README, first example: greatest error of a Gram matrix by positive features of simplex frequencies.

The corners of the simplex are rows of a basis of the vectors that sum to 0, not the book's formula for them; points and
rotation are drawn anew, since the README prints the outcome of one draw.
"""

import numpy as np
from scipy.linalg import null_space
from scipy.spatial.distance import cdist
from scipy.stats import special_ortho_group


def corners(d):
    """Unit vectors in d dimensions, d of them, with inner product -1 / (d - 1) of any two.

    Rows of an orthonormal basis of the vectors that sum to 0 are e_i less the mean in d - 1 coordinates.
    """
    rows = null_space(np.ones((1, d)))
    return np.pad(rows / np.linalg.norm(rows, axis=1, keepdims=True), ((0, 0), (0, 1)))


def simplex(rng, d):
    """Frequencies towards the corners of a simplex in uniform position, lengths independent: each row N(0, I_d)."""
    lengths = np.sqrt(rng.chisquare(d, size=d))
    return lengths[:, None] * corners(d) @ special_ortho_group.rvs(d, random_state=rng)


def greatest_error(rng, d=64, n=64):
    """Of exp(-|x - y|^2 / 2) = E exp(omega'x - |x|^2) exp(omega'y - |y|^2), from d frequencies."""
    x = 0.05 * rng.normal(size=(n, d))
    phi = np.exp(x @ simplex(rng, d).T - np.sum(x**2, axis=1)[:, None]) / np.sqrt(d)
    return abs(phi @ phi.T - np.exp(-cdist(x, x, "sqeuclidean") / 2)).max()


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng = np.random.default_rng(0)
    found = [greatest_error(rng) for _ in range(1000)]
    error = np.mean(found), np.std(found, ddof=1)
    return [("greatest error of simplex features", "README.md", r"gaussian\(x, x\)\)\.max\(\)\) +# (0\.\d+)", *error)]

"""Tight frames: errors at sizes of the page, and what couplings leave of the average of each Hermite polynomial.

The couplings known before have exact errors here (quadrature over their lengths), and so have all couplings over
directions: a mean over a uniform u is a polynomial in lengths and inner products. Only frames are drawn.
"""

import numpy as np
from scipy.linalg import eigh
from scipy.stats import chi2

PAGE = "notebooks/beyond/06_tight_frames.ipynb"
FINE = (np.arange(200_000) + 0.5) / 200_000  # midpoints, for means over a uniform number


# Couplings: frequencies from random numbers.


def rotation(rng, d):
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.sign(np.diag(r))


def orthogonal_rows(rng, m, d):
    """Unit vectors at right angles in blocks of d, of which the last may be cut."""
    return np.concatenate([rotation(rng, d) for _ in range(-(-m // d))])[:m]


def length(u, d):
    return np.sqrt(chi2.ppf(u, d))


def scaled(omega, lengths):
    return omega * (lengths / np.linalg.norm(omega, axis=1))[:, None]


def tight(rng, m, d, centred=False):
    """One length in each of m strata; four times the nearest tight frame, then the nearest rows of these lengths."""
    lengths = length((np.arange(m) + rng.random(m)) / m, d)
    omega = scaled(orthogonal_rows(rng, m, d), lengths)
    for _ in range(4):
        omega = omega - centred * omega.mean(axis=0)
        values, vectors = eigh(omega.T @ omega)
        omega = scaled(omega @ (vectors / np.sqrt(values)) @ vectors.T, lengths)
    return omega @ rotation(rng, d)


def with_opposites(rng, m, d):
    half = tight(rng, m // 2, d)
    return np.concatenate([half, -half])


def orthogonal(rng, m, d):
    return scaled(orthogonal_rows(rng, m, d), length(rng.random(m), d))


def coupled_norms(rng, m, d):
    """PNC: lengths of neighbours in a block are at u and 1 - u of their law."""
    u = rng.random((m // 2, 1))
    return scaled(orthogonal_rows(rng, m, d), length(np.hstack([u, 1 - u]).ravel(), d))


def shells(rng, m, d):
    """One length for all of a block, blocks in different strata."""
    blocks = m // d
    u = (rng.permutation(blocks) + rng.random(blocks)) / blocks
    return scaled(orthogonal_rows(rng, m, d), length(u, d).repeat(d))


def simplex(rng, m, d):
    """Blocks that point to the corners of a simplex: the orthonormal basis of a block less its mean."""
    blocks = orthogonal_rows(rng, m, d).reshape(-1, d, d)
    return scaled((blocks - blocks.mean(axis=1, keepdims=True)).reshape(m, d), length(rng.random(m), d))


# Degrees. For a uniform u the means of (a'u)^p (b'u)^q follow from those of normal vectors (Isserlis).


def of_degrees(omega):
    """m E_u [mean of He_k(omega_i'u)]^2 / k! for k = 1, 2, 4."""
    (m, d), g = omega.shape, omega @ omega.T
    a = np.diag(g)
    ab, g2, at = np.outer(a, a), g**2, np.cumprod(d + 2.0 * np.arange(4))  # d, d (d + 2), ...
    second, fourth = a.mean() / at[0], 3 * np.mean(a**2) / at[1]
    of_22 = np.mean(ab + 2 * g2) / at[1]
    of_42 = np.mean(3 * ab * a + 12 * a * g2) / at[2]
    of_44 = np.mean(9 * ab**2 + 72 * ab * g2 + 24 * g2**2) / at[3]
    squares = (
        g.mean() / at[0],
        of_22 - 2 * second + 1,
        of_44 + 36 * of_22 + 9 - 12 * of_42 + 6 * fourth - 36 * second,
    )
    return m * np.array(squares) / (1, 2, 24)


def degrees(draw, n_draws=2000, m=48, d=16):
    """Per cent, and standard errors."""
    rng = np.random.default_rng(0)
    found = 100 * np.array([of_degrees(draw(rng, m, d)) for _ in range(n_draws)])
    return found.mean(axis=0), found.std(axis=0, ddof=1) / np.sqrt(n_draws)


# Errors of the couplings known before. E cos(z a'u) cos(z b'u) over uniform directions is j(|a|) j(|b|) if they are
# independent and j(root of |a|^2 + |b|^2) if a and b are at right angles, with j(r) = 0F1(; d/2; -z^2 r^2 / 4).


def mean_cosine(squares, d):
    """0F1(; d/2; -squares / 4), by its series."""
    total, term, k = np.ones_like(squares), np.ones_like(squares), 0
    while abs(term).max() > 1e-15:
        term = term * -squares / 4 / ((k + 1) * (d / 2 + k))
        total, k = total + term, k + 1
    return total


def of_one(z):
    """Variance of cos(z t), t normal."""
    return (1 - np.exp(-(z**2))) ** 2 / 2


def other_strata(mean, within):
    """Mean of a function of two numbers in different strata: of all pairs of strata, less those of one with itself."""
    n = len(within)
    return (n**2 * mean - within.sum()) / (n * (n - 1))


def known_before(m, d, z):
    """Least RMSE over that of independent frequencies: PNC, lengths in strata over all, shells."""
    sizes = np.diff([*range(0, m, d), m])
    in_block, k2 = np.sum(sizes * (sizes - 1)), np.exp(-(z**2))
    across = m * (m - 1) - in_block

    def j(squares):
        return mean_cosine(z**2 * squares, d)

    squares = chi2.ppf(FINE, d)
    of_any = j(chi2.ppf(FINE, 2 * d)).mean()  # at right angles, independent lengths: |a|^2 + |b|^2 is chi^2 too
    coupled = 2 * np.sum(sizes // 2)
    pnc = coupled * (j(squares + squares[::-1]).mean() - k2) + (in_block - coupled) * (of_any - k2)

    inside = np.clip(20_000 // m, 12, 200)  # points of each stratum: the last has a long tail
    few = chi2.ppf((np.arange(m)[:, None] + (np.arange(inside) + 0.5) / inside) / m, d)
    same = j(few[:, :, None] + few[:, None]).mean(axis=(1, 2))
    strata = in_block * (other_strata(of_any, same) - k2) + across * (other_strata(k2, j(few).mean(axis=1) ** 2) - k2)

    n = len(sizes)
    parts = np.array([part.mean() for part in np.array_split(j(squares), n)])
    shell = in_block * (j(2 * squares).mean() - k2) + across * (other_strata(k2, parts**2) - k2)
    return np.sqrt(1 + min(pnc, strata, shell) / (m * of_one(z)))


def frame_error(m, d, z, n_frames, n_directions=1000):
    """RMSE over that of independent frequencies, and its standard error, which counts directions as independent."""
    rng, squares = np.random.default_rng(0), []
    for _ in range(n_frames):
        along = rng.normal(size=(d, n_directions))
        t = tight(rng, m, d) @ (along / np.linalg.norm(along, axis=0))
        squares.append((np.cos(z * t).mean(axis=0) - np.exp(-(z**2) / 2)) ** 2 * m / of_one(z))
    root = np.sqrt(np.mean(squares))
    return root, np.std(squares) / np.sqrt(np.size(squares)) / (2 * root)


def numbers():
    """(what, place, pattern, own, error) of each."""
    rows, gains = [], {}
    # Size, frames, and the relative error of the page's own number, which it prints in the next column.
    for d, m, n_frames, books in (
        (11, 100, 60, 0.0026), (21, 54, 60, 0.0019), (23, 183, 60, 0.0012), (129, 559, 20, 0.0017),
        (759, 6000, 3, 0.0085),
    ):  # fmt: skip
        before, (now, se) = known_before(m, d, 0.5), frame_error(m, d, 0.5, n_frames)
        se = np.hypot(se, books * now)
        gains[d] = now / before, se / before
        rows += [
            (f"{d}, {m}: error before", PAGE, rf" {d}, {m} +(0\.\d+) ", before, 0.0),
            (f"{d}, {m}: error of a frame", PAGE, rf" {d}, {m} +0\.\d+ +(0\.\d+) ", now, se),
        ]
    rows += [
        ("least gain", PAGE, r"frames have 0\.\d+ to (0\.\d+) times", *gains[759]),
        ("greatest gain", PAGE, r"frames have (0\.\d+) to 0\.\d+ times", *gains[21]),
    ]
    number, columns = r"([\d.]+)", r"(?: ± [\d.]+)? +"
    for name, draw, books in (
        ("orthogonal", orthogonal, (0.50, 0.11, 1.7)),
        ("orthogonal, PNC norms", coupled_norms, (0.50, 0.068, 1.3)),
        ("shells", shells, (0.51, 0.37, 1.3)),
        ("simplex", simplex, (0.017, 0.14, 1.3)),
        ("tight frame", tight, (0.50, 0.0019, 1.2)),
        ("frame that sums to 0", lambda *size: tight(*size, centred=True), (0.000091, 0.0019, 1.5)),
        ("frame and its opposites", with_opposites, (0.0, 0.041, 3.5)),
    ):
        mean, se = degrees(draw)
        for i, degree in enumerate((1, 2, 4)):
            skipped = rf"[\d.]+{columns}" * (degree - 1)
            what, error = f"{name}: degree {degree}, %", np.hypot(se[i], books[i])
            rows.append((what, PAGE, rf" {name} +{skipped}{number} ", mean[i], error))
    return rows

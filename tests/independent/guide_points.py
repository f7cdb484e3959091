"""The guide: a table of 100,000 rows, how many frequencies an error takes, what chosen frequencies are worth.

Ridge regressions and Nystroem's columns by normal equations. The density with random features needs no rows: columns
are uniform, so that the mean of cos(omega'x + b) over rows is a product of sines, and that of a kernel a product of
error functions. Errors of the kernel are averaged over all directions in closed form.
"""

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.linalg.blas import dsyrk
from scipy.spatial.distance import cdist, pdist
from scipy.special import erf, ndtri
from scipy.stats import chi2, qmc
from sklearn.datasets import make_friedman1
from sklearn.ensemble import HistGradientBoostingRegressor

N, PAGE = 100_000, "notebooks/start/02_which_features.ipynb"
SIDE = np.sqrt(3)  # a standardised uniform column lies between -SIDE and SIDE


# Frequencies: a tight frame is what the guide chooses, except in four dimensions, where it takes Sobol' points.


def rotation(rng, d):
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.sign(np.diag(r))


def tight_frame(rng, m, d, rounds=4):
    """Omega' Omega = c I, nearly, with one length in each of m strata; directions start at right angles in blocks of d.

    In turns: the nearest tight frame, Omega (Omega' Omega)^(-1/2), and the nearest rows with the lengths. Four times,
    as in the book's library, which matters where m is not much above d: after eight a frame of 1,024 in 784 dimensions
    is worth 190 times the frequencies at half a lengthscale, not 140, and 0.01 in 64 dimensions takes 160.
    """
    lengths = np.sqrt(chi2.ppf((np.arange(m) + rng.random(m)) / m, d))
    omega = lengths[:, None] * np.concatenate([rotation(rng, d) for _ in range(-(-m // d))])[:m]
    for _ in range(rounds):
        values, vectors = eigh(omega.T @ omega)
        omega = omega @ (vectors / np.sqrt(values)) @ vectors.T
        omega *= (lengths / np.linalg.norm(omega, axis=1))[:, None]
    return omega


def scrambled(rng, m, d):
    """Sobol' points as whole numbers of 32 bits: one scramble, to be shifted."""
    return (qmc.Sobol(d, rng=rng).random(m) * 2**32).astype(np.uint64)


def shifted(rng, points):
    """Normal numbers from points with a digital shift (an exclusive or with the same random bits in each row)."""
    bits = points ^ rng.integers(0, 2**32, points.shape[1], dtype=np.uint64)
    return ndtri((bits + 0.5) / 2**32)


# How many, and worth what. For a uniform direction u, E cos(v'u) = 0F1(; d/2; -|v|^2 / 4), and the product of two
# cosines is the mean of those of sum and difference.


def mean_cosine(squares, d):
    """0F1(; d/2; -squares / 4) by its series (SciPy's overflows in 784 dimensions)."""
    total, term, j = np.ones_like(squares), np.ones_like(squares), 0
    while abs(term).max() > 1e-15:
        term = term * -squares / 4 / ((j + 1) * (d / 2 + j))
        total, j = total + term, j + 1
    return total


def mean_square_error(omega, z):
    """Of the Gaussian kernel at distance z, over all directions."""
    d, squares, gram = omega.shape[1], z**2 * np.sum(omega**2, axis=1), z**2 * omega @ omega.T
    of_both = squares[:, None] + squares
    pairs = sum(mean_cosine(of_both + sign * 2 * gram, d).mean() for sign in (-1, 1)) / 2
    k = np.exp(-(z**2) / 2)
    return pairs - 2 * k * mean_cosine(squares, d).mean() + k**2


def of_one(z):
    """That of a single frequency: the variance of cos(z t), t normal."""
    return (1 - np.exp(-(z**2))) ** 2 / 2


def worth(frames, z):
    """How many times as many independent frequencies have the error, and its standard error."""
    left = [len(omega) * mean_square_error(omega, z) / of_one(z) for omega in frames]
    value = 1 / np.mean(left)
    return value, value**2 * np.std(left, ddof=1) / np.sqrt(len(left))


def worth_of_frames(m, d, n_draws):
    """At half a lengthscale and at two."""
    rng = np.random.default_rng(0)
    frames = [tight_frame(rng, m, d) for _ in range(n_draws)]
    return [worth(frames, z) for z in (0.5, 2.0)]


def worth_of_sobol(m, d, n_scrambles=40, n_shifts=20):
    """The same, mean and deviation over scrambles: the library has one, of which all its draws are shifts."""
    rng = np.random.default_rng(0)
    scrambles = [scrambled(rng, m, d) for _ in range(n_scrambles)]
    draws = [[shifted(rng, points) for _ in range(n_shifts)] for points in scrambles]
    found = np.array([[worth(of_one_scramble, z)[0] for z in (0.5, 2.0)] for of_one_scramble in draws])
    return list(zip(found.mean(axis=0), found.std(axis=0, ddof=1), strict=True))


def needed(error=0.01, d=64, z=1.0, near=160, n_draws=80):
    """Frequencies in a frame whose RMSE is `error`: m times the mean square hardly depends on m near the answer.

    The book prints the least whole number that is not below, from a half under to a half over what is returned.
    """
    rng = np.random.default_rng(0)
    found = [near * mean_square_error(tight_frame(rng, near, d), z) / error**2 for _ in range(n_draws)]
    return np.mean(found) + 0.5, np.std(found, ddof=1) / np.sqrt(n_draws)


# The table.


def friedman():
    """Standardised rows to learn from and new ones, targets, and the true values of the new ones."""
    x, y = make_friedman1(110_000, noise=1.0, random_state=0)
    _, truth = make_friedman1(110_000, noise=0.0, random_state=0)
    # The guide takes the lengthscale from 500 rows that are standardised on their own.
    lengthscale = np.median(pdist((x[:500] - x[:500].mean(axis=0)) / x[:500].std(axis=0)))
    x = (x - x[:N].mean(axis=0)) / x[:N].std(axis=0)
    return x / lengthscale, y[:N], truth[N:], lengthscale


def ridge_error(columns, x, y, truth, alpha=0.01, size=10_000):
    """RMSE at new rows; normal equations are summed over parts of the table."""
    mean, gram, right, centre = 0.0, 0.0, 0.0, y.mean()
    for start in range(0, N, size):
        phi = columns(x[start : start + size])
        mean, gram = mean + phi.sum(axis=0), gram + dsyrk(1.0, phi.T)  # its upper half: phi'phi is symmetric
        right = right + phi.T @ (y[start : start + size] - centre)
    mean /= N
    gram += alpha * np.eye(len(mean)) - N * np.outer(mean, mean)
    weights = cho_solve(cho_factor(gram), right)
    return np.sqrt(np.mean(((columns(x[N:]) - mean) @ weights + centre - truth) ** 2)), mean


def sampler(rng, n, d):
    """Independent frequencies with one cosine of random phase each."""
    omega, phase = rng.normal(size=(n, d)), rng.uniform(0, 2 * np.pi, n)
    return lambda x: np.sqrt(2 / n) * np.cos(x @ omega.T + phase)


def pairs(rng, n, d):
    """Sine and cosine of the n / 2 frequencies of a frame."""
    omega = tight_frame(rng, n // 2, d)

    def columns(x):
        angles = x @ omega.T
        return np.sqrt(2 / n) * np.hstack([np.cos(angles), np.sin(angles)])

    return columns


def nystroem(rng, n, x):
    """Kernels with n rows, times the root of the inverse of theirs: columns whose products are k_x K^-1 k_y."""
    marks = x[rng.choice(N, n, replace=False)]
    values, vectors = eigh(np.exp(-cdist(marks, marks, "sqeuclidean") / 2))
    root = vectors / np.sqrt(np.maximum(values, 1e-12))
    return lambda x: np.exp(-cdist(x, marks, "sqeuclidean") / 2) @ root


def off(estimate, density):
    """Per cent."""
    return 100 * np.sqrt(np.mean((estimate / density - 1) ** 2))


def smooth_density(x, lengthscale):
    """Mean kernel of a point and a standardised uniform one, over the lengthscale."""
    side = SIDE / lengthscale
    parts = erf((side - x) / np.sqrt(2)) + erf((side + x) / np.sqrt(2))
    return np.prod(np.sqrt(np.pi / 2) / (2 * side) * parts, axis=1)


def density_off(draw, x, lengthscale, n_draws=100):
    """Mean and deviation of a draw; E exp(i omega'x) is a product of sin(s) / s."""
    rng, exact, found = np.random.default_rng(0), smooth_density(x, lengthscale), []
    for _ in range(n_draws):
        omega, phase = draw(rng)
        mean = np.prod(np.sinc(omega * SIDE / lengthscale / np.pi), axis=1)  # real: the law is even
        angles = x @ omega.T
        estimate = np.cos(angles) @ mean if phase is None else 2 * (np.cos(angles + phase) @ (np.cos(phase) * mean))
        found.append(off(estimate / len(omega), exact))
    return np.mean(found), np.std(found, ddof=1)


def kernel_density(x, asked):
    """Mean kernel with all known rows."""
    return sum(np.exp(-cdist(asked, x[i : i + 10_000], "sqeuclidean") / 2).sum(axis=1) for i in range(0, N, 10_000)) / N


def over_draws(columns, n_draws, x, y, truth, density, asked):
    """(error, density off) over draws of columns: means and deviations."""
    rng, found = np.random.default_rng(0), []
    for _ in range(n_draws):
        one = columns(rng)
        error, mean = ridge_error(one, x, y, truth)
        found.append((error, off(one(asked) @ mean, density)))
    return np.mean(found, axis=0), np.std(found, axis=0, ddof=1)


def numbers():
    """(what, place, pattern, own, error) of each."""
    x, y, truth, lengthscale = friedman()
    asked, d = x[N : N + 1000], x.shape[1]
    table = (x, y, truth, kernel_density(x, asked), asked)
    rows = []
    for name, columns, n_draws in (
        ("`RBFSampler`, 1,024", lambda rng: sampler(rng, 1024, d), 2),
        ("`RandomFeatures`, chosen, 1,024", lambda rng: pairs(rng, 1024, d), 2),
        ("`Nystroem`, 256", lambda rng: nystroem(rng, 256, x), 8),
        ("`Nystroem`, 1,024", lambda rng: nystroem(rng, 1024, x), 3),
    ):
        cells = rf"\| {name} \| [\d.]+ \| [\d.]+ \| "
        mean, deviation = over_draws(columns, n_draws, *table)
        rows.append((f"{name}: error", PAGE, cells + r"([\d.]+) \|", mean[0], deviation[0]))
        if "Nystroem" in name:
            rows.append((f"{name}: density, % off", PAGE, cells + r"[\d.]+ \| ([\d.]+) \|", mean[1], deviation[1]))
    for name, draw in (
        ("`RBFSampler`, 1,024", lambda rng: (rng.normal(size=(1024, d)), rng.uniform(0, 2 * np.pi, 1024))),
        ("`RandomFeatures`, chosen, 1,024", lambda rng: (tight_frame(rng, 512, d), None)),
    ):
        cell = rf"\| {name} \| [\d.]+ \| [\d.]+ \| [\d.]+ \| ([\d.]+) \|"
        rows.append((f"{name}: density, % off", PAGE, cell, *density_off(draw, asked, lengthscale)))
    trees = HistGradientBoostingRegressor(random_state=0).fit(x[:N], y)
    error = np.sqrt(np.mean((trees.predict(x[N:]) - truth) ** 2))
    cell = r"boosted trees \(no kernel\) \| [\d.]+ \| [\d.]+ \| ([\d.]+)"
    rows.append(("boosted trees: error", PAGE, cell, error, 0.0))
    rows.append(("frequencies for an error of 0.01", PAGE, r"(\d+) frequencies, error 0\.010", *needed()))
    ends = {4: worth_of_sobol(256, 4), 64: worth_of_frames(256, 64, 6), 784: worth_of_frames(1024, 784, 2)}
    for dims, (near, far) in ends.items():
        # The near end is printed with two digits, as whole tens.
        where = rf"(?<!\d){dims} dimensions (?:go )?from "
        tens = 10 * np.round(near[0] / 10), near[1]
        rows.append((f"worth in {dims} dimensions at half a lengthscale", PAGE, where + r"(\d+) to", *tens))
        rows.append((f"worth in {dims} dimensions at two", PAGE, where + r"\d+ to (\d+(?:\.\d)?)", *far))
    return rows

"""In a pipeline: errors of ridge regressions and of the kernel on three tables, by normal equations of our own.

Splits are ours, and fewer than the page's 60 for the regressions; errors of kernels need 500 points and no regression,
and get 60 draws here too. Rows of 1,024 columns, where the page takes Sobol' points in 4 dimensions, are left out.
"""

import gzip
import os
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.spatial.distance import pdist
from scipy.stats import chi2

DATA = Path(os.environ["RFCORE_DATA_MIRROR"])
PAGE = "notebooks/beyond/01_in_a_pipeline.ipynb"
N_TRAIN, N_TEST, N_SPLITS, N_DRAWS = 3000, 2000, 5, 60
RIDGES = (0.001, 0.01, 0.1, 1.0)


# Tables.


def indicators(words):
    """A column for each distinct word."""
    return (words[:, None] == np.unique(words)).astype(float)


def power():
    """Four measurements, standardised, and the output of a power plant."""
    with gzip.open(DATA / "uci/regression/power.txt.gz", "rt", encoding="utf-8") as file:
        cells = np.loadtxt(file)
    x = cells[:, :-1]
    return (x - x.mean(axis=0)) / x.std(axis=0), cells[:, -1:]


def nursery():
    """Words as indicators; so are the classes."""
    lines = (DATA / "uci/classification/nursery.data").read_text(encoding="utf-8").split()
    cells = np.array([line.split(",") for line in lines])
    return np.hstack([indicators(column) for column in cells[:, :-1].T]), indicators(cells[:, -1])


def mnist():
    with gzip.open(DATA / "images/mnist-t10k-images-idx3-ubyte.gz", mode="rb") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 784) / 255
    with gzip.open(DATA / "images/mnist-t10k-labels-idx1-ubyte.gz", mode="rb") as file:
        return pixels, indicators(np.frombuffer(file.read(), np.uint8, offset=8))


# Columns: functions of points over the lengthscale.


def gaussian(x, y):
    squares = np.sum(x**2, axis=1)[:, None] + np.sum(y**2, axis=1) - 2 * x @ y.T
    return np.exp(-np.maximum(squares, 0) / 2)


def sampler(rng, n, train):
    omega, phase = rng.normal(size=(n, train.shape[1])), rng.uniform(0, 2 * np.pi, n)
    return lambda x: np.sqrt(2 / n) * np.cos(x @ omega.T + phase)


def rotation(rng, d):
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.sign(np.diag(r))


def tight_frame(rng, m, d):
    """One length in each of m strata; four times the nearest tight frame, then the nearest rows of these lengths.

    With m at most d, rows at right angles.
    """
    lengths = np.sqrt(chi2.ppf((np.arange(m) + rng.random(m)) / m, d))[:, None]
    if m <= d:
        return lengths * np.linalg.qr(rng.normal(size=(d, m)))[0].T
    omega = lengths * np.concatenate([rotation(rng, d) for _ in range(-(-m // d))])[:m]
    for _ in range(4):
        values, vectors = eigh(omega.T @ omega)
        omega = omega @ (vectors / np.sqrt(values)) @ vectors.T
        omega *= lengths / np.linalg.norm(omega, axis=1)[:, None]
    return omega @ rotation(rng, d)


def pairs(omega):
    def columns(x):
        angles = x @ omega.T
        return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(omega))

    return columns


def independent(rng, n, train):
    return pairs(rng.normal(size=(n // 2, train.shape[1])))


def chosen(rng, n, train):
    return pairs(tight_frame(rng, n // 2, train.shape[1]))


def nystroem(rng, n, train):
    marks = train[rng.choice(len(train), n, replace=False)]
    values, vectors = eigh(gaussian(marks, marks))
    root = vectors / np.sqrt(np.maximum(values, 1e-12))
    return lambda x: gaussian(x, marks) @ root


WAYS = (sampler, independent, chosen, nystroem)


# Regressions. An error is divided by that of the mean of the training part.


def loss(guess, y_train, y_test):
    return np.mean((guess + y_train.mean(axis=0) - y_test) ** 2) / np.mean((y_train.mean(axis=0) - y_test) ** 2)


def of_kernel(ridge, x, y, x_test, y_test):
    weights = cho_solve(cho_factor(gaussian(x, x) + ridge * np.eye(len(x))), y - y.mean(axis=0))
    return loss(gaussian(x_test, x) @ weights, y, y_test)


def of_columns(columns, ridge, x, y, x_test, y_test):
    phi = columns(x)
    gram = phi.T @ phi + ridge * np.eye(phi.shape[1])
    return loss(columns(x_test) @ cho_solve(cho_factor(gram), phi.T @ (y - y.mean(axis=0))), y, y_test)


def regressions(x, y, sizes):
    """Losses of ways, per cent: splits, sizes, ways; and of the exact kernel. Points are over the lengthscale."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(x))
    x, y = x[order], y[order]
    aside = min(len(x) // 4, N_TRAIN // 2)
    half = aside // 2
    tried = {a: of_kernel(a, x[:half], y[:half], x[half:aside], y[half:aside]) for a in RIDGES}
    ridge = min(tried, key=tried.get)
    losses, exact = [], []
    for _ in range(N_SPLITS):
        rows = aside + rng.permutation(len(x) - aside)[: N_TRAIN + N_TEST]
        train, test = rows[:N_TRAIN], rows[N_TRAIN:]
        split = x[train], y[train], x[test], y[test]
        losses.append([[of_columns(way(rng, n, x[train]), ridge, *split) for way in WAYS] for n in sizes])
        exact.append(of_kernel(ridge, *split))
    return 100 * np.array(losses), 100 * np.array(exact)


def errors_of_kernel(x, n):
    """Squared errors between 500 points, new in each draw: draws, ways without Nystroem."""
    rng, found = np.random.default_rng(0), []
    for _ in range(N_DRAWS):
        few = x[rng.choice(len(x), 500, replace=False)]
        truth, drawn = gaussian(few, few), [way(rng, n, few)(few) for way in WAYS[:3]]
        found.append([np.mean((phi @ phi.T - truth) ** 2) for phi in drawn])
    return np.array(found)


def numbers():
    """(what, place, pattern, own, error) of each."""
    rows, number = [], r"([\d.]+)"
    books = {  # standard errors of the page's own losses, in the order of WAYS, and of the exact kernel's
        "power": (power, {64: (0.036, 0.037, 0.037, 0.036), 256: (0.036, 0.035, 0.036, 0.036)}, 0.036),
        "nursery": (nursery, {64: (0.22, 0.17, 0.14, 0.12), 256: (0.12, 0.14, 0.13, 0.092)}, 0.073),
        "mnist": (mnist, {64: (0.17, 0.19, 0.20, 0.12), 256: (0.096, 0.12, 0.098, 0.086)}, 0.068),
    }
    for name, (read, of_page, of_exact) in books.items():
        x, y = read()
        x = x / np.median(pdist(x[np.random.default_rng(0).choice(len(x), 500, replace=False)]))
        losses, exact = regressions(x, y, tuple(of_page))
        for i, (n, page) in enumerate(of_page.items()):
            # Five splits tell their own deviation badly: it is taken from the page, whose 60 splits tell it well.
            for j, way in enumerate(WAYS):
                pattern = rf" {name}, {n} +(?:[\d.]+ ± [\d.]+ +){{{j}}}{number} ±"
                what, error = f"{name}, {n} columns, {way.__name__}: loss, %", page[j] * np.sqrt(60 / N_SPLITS + 1)
                rows.append((what, PAGE, pattern, losses[:, i, j].mean(), error))
            errors = errors_of_kernel(x, n)
            for j, cells in ((1, rf"{number} +[\d.]+"), (2, rf"[\d.]+ +{number}")):
                # Of this table's rows, which have three numbers. The page's mean is over as many draws as ours.
                pattern = rf" {name}, {n} +{cells} +[\d.,]+ +[^\d. ]"
                over = errors[:, 0] / errors[:, j]
                what = f"{name}, {n} columns: error of RBFSampler's kernel over that of {WAYS[j].__name__}"
                rows.append((what, PAGE, pattern, over.mean(), np.sqrt(2 / N_DRAWS) * over.std(ddof=1)))
        pattern = rf" {name}, 64 +(?:[\d.]+ ± [\d.]+ +){{4}}{number} ±"
        error = of_exact * np.sqrt(60 / N_SPLITS + 1)
        rows.append((f"{name}, exact kernel: loss, %", PAGE, pattern, exact.mean(), error))
    return rows

"""What the front page says of tight frames, from frames of our own.

Six lines (greatest error of a Gram matrix), the share of the error of independent frequencies that a frame leaves at
given distances, and the cards on sums of kernels and on Gaussian processes. A frame is found by alternate projections;
its error at a distance is averaged over all directions in closed form (Bessel functions), and the error of a sum with
independent frequencies is an exact variance. Gaussian processes are fitted by the gradient of their evidence.
"""

import gzip
import os
from pathlib import Path

import numpy as np
from scipy.linalg import cho_factor, cho_solve, eigh
from scipy.optimize import minimize
from scipy.spatial.distance import cdist, pdist
from scipy.special import hyp0f1
from scipy.stats import chi2

ROOT, FIGURE = Path(__file__).parents[2], "book/_generated/front_figure.md"
DATA = Path(os.environ["RFCORE_DATA_MIRROR"])


def frequencies(rng, m, d):
    """Independent ones."""
    return rng.normal(size=(m, d))


def orthogonal_blocks(rng, m, d):
    """Unit vectors, at right angles within each d consecutive rows; the last block is cut."""
    blocks = [np.linalg.qr(rng.normal(size=(d, d)))[0] for _ in range(-(-m // d))]
    return np.concatenate(blocks)[:m]


def tight_frame(rng, m, d, tolerance=1e-6):
    """Rows of N(0, I_d) with Omega' Omega = c I: one length in each of m strata, directions moved until it holds.

    Directions start at right angles within blocks of neighbouring lengths, as in the book's library: frames that start
    from random ones have as little error at close points, and a few per cent more at far ones. Then two projections
    take turns: the nearest tight frame, Omega (Omega' Omega)^(-1/2), and the nearest rows of the given lengths. We stop
    when sum_ij (omega_i'omega_j)^2, which a tight frame makes least, falls no further. (If a length is above sqrt(c),
    no frame is tight, and that least sum is what remains to be found.) Last, a uniform rotation.
    """
    lengths = np.sqrt(chi2.ppf((np.arange(m) + rng.random(m)) / m, d))
    omega, potential = orthogonal_blocks(rng, m, d), np.inf
    while True:
        omega *= (lengths / np.linalg.norm(omega, axis=1))[:, None]
        values, vectors = eigh(omega.T @ omega)
        before, potential = potential, np.sum(values**2)
        if potential > (1 - tolerance) * before:
            return omega @ rotation(rng, d)
        omega = omega @ (vectors / np.sqrt(values)) @ vectors.T


def rotation(rng, d):
    """Uniform: Q of a normal matrix, with the signs that make it unique."""
    q, r = np.linalg.qr(rng.normal(size=(d, d)))
    return q * np.sign(np.diag(r))


def gaussian(x, y):
    return np.exp(-cdist(x, y, "sqeuclidean") / 2)


def features(x, omega):
    angles = x @ omega.T
    return np.hstack([np.cos(angles), np.sin(angles)]) / np.sqrt(len(omega))


# Six lines.


def greatest_error(rng, draw):
    """Of the Gram matrix of 100 points in 64 dimensions, 256 frequencies."""
    x = 0.1 * rng.normal(size=(100, 64))
    phi = features(x, draw(rng, 256, 64))
    return abs(phi @ phi.T - gaussian(x, x)).max()


def six_lines(draw, n_draws=200):
    """Mean, and deviation of a single draw, which is what the book prints."""
    rng = np.random.default_rng(0)
    found = [greatest_error(rng, draw) for _ in range(n_draws)]
    return np.mean(found), np.std(found, ddof=1)


# Shares of the error. Over a uniform direction u, E cos(v'u) = 0F1(; d/2; -|v|^2 / 4), a Bessel function. So the mean
# square of (1/m) sum_i cos(z omega_i'u) - k is a sum over pairs, by cos a cos b = (cos(a + b) + cos(a - b)) / 2.


def mean_square_error(omega, z):
    """Of the kernel at distance z in the mean over all directions, for given frequencies."""
    d = omega.shape[1]
    gram, squares = omega @ omega.T, np.sum(omega**2, axis=1)
    lengths = squares[:, None] + squares
    pairs = sum(hyp0f1(d / 2, -(z**2) * np.maximum(lengths + sign * 2 * gram, 0) / 4) for sign in (-1, 1)) / 2
    k = np.exp(-(z**2) / 2)
    return pairs.mean() - 2 * k * hyp0f1(d / 2, -(z**2) * squares / 4).mean() + k**2


def shares(m, d, distances, n_frames):
    """Per cent of the RMSE of independent frequencies, and standard errors."""
    rng, z = np.random.default_rng(0), np.array(distances)
    frames = [tight_frame(rng, m, d) for _ in range(n_frames)]
    found = np.array([[mean_square_error(omega, one) for one in z] for omega in frames])
    ratio = found / ((1 - np.exp(-(z**2))) ** 2 / (2 * m))
    root = np.sqrt(ratio.mean(axis=0))
    return 100 * root, 100 * ratio.std(axis=0, ddof=1) / np.sqrt(n_frames) / (2 * root)


# Sums of kernels: predictions of an exact regression, which tells threes from fives, at twice the median distance.


def threes_and_fives():
    """Digits of 8 x 8 pixels: each is the mean of a square of 3.5 x 3.5."""
    with gzip.open(DATA / "images/mnist-t10k-images-idx3-ubyte.gz", mode="rb") as file:
        pixels = np.frombuffer(file.read(), np.uint8, offset=16).reshape(-1, 28, 28) / 255
    with gzip.open(DATA / "images/mnist-t10k-labels-idx1-ubyte.gz", mode="rb") as file:
        labels = np.frombuffer(file.read(), np.uint8, offset=8)
    halved = pixels.repeat(2, axis=1).repeat(2, axis=2)
    small = halved.reshape(-1, 8, 7, 8, 7).mean(axis=(2, 4)).reshape(-1, 64)
    return small[labels == 3], small[labels == 5]


def regression(rng, threes, fives):
    """Points of a fresh choice of digits over the lengthscale, 600 known and 100 new; weights of the regression."""
    a, b = (digits[rng.permutation(len(digits))[:350]] for digits in (threes, fives))
    x = np.concatenate([a[:300], b[:300], a[300:], b[300:]])
    x = x / (2 * np.median(pdist(x)))
    known, new = x[:600], x[600:]
    weights = np.linalg.solve(gaussian(known, known) + 0.1 * np.eye(600), np.repeat([1.0, -1.0], 300))
    return known, new, weights


def error_of_draw(omega, known, new, weights):
    """Squared error of predictions over their mean square."""
    exact = gaussian(new, known) @ weights
    ours = features(new, omega) @ (weights @ features(known, omega))
    return np.mean((ours - exact) ** 2) / np.mean(exact**2)


def error_of_independent(m, known, new, weights):
    """Its expectation: variance of sum_j a_j cos(omega'(x - x_j)), by the same identity for products of cosines."""
    exact = gaussian(new, known) @ weights
    minus = weights @ gaussian(known, known) @ weights
    plus = np.array([weights @ gaussian(x - known, known - x) @ weights for x in new])
    return np.mean((minus + plus) / 2 - exact**2) / m / np.mean(exact**2)


def sums(m=96, n_choices=8, n_frames=40):
    """(tight frames, independent / 16) with errors: ours, a choice of digits, and the book's 300 draws."""
    rng, digits = np.random.default_rng(0), threes_and_fives()
    problems = [regression(rng, *digits) for _ in range(n_choices)]
    tight = np.array([[error_of_draw(tight_frame(rng, m, 64), *one) for _ in range(n_frames)] for one in problems])
    independent = np.array([error_of_independent(m, *one) for one in problems])
    a_draw = np.std([error_of_draw(frequencies(rng, m, 64), *problems[0]) for _ in range(300)], ddof=1)
    # The book's choice of digits is one of many: the deviation between choices counts whole.
    own = tight.std(axis=1, ddof=1).mean() / np.sqrt(tight.size)
    books = tight.std(axis=1, ddof=1).mean() / np.sqrt(300)
    return (
        (tight.mean(), np.linalg.norm([tight.mean(axis=1).std(ddof=1), own, books])),
        (independent.mean() / 16, np.hypot(independent.std(ddof=1), a_draw / np.sqrt(300)) / 16),
    )


# Gaussian processes: predictive error of orthogonal features over that of independent ones.


def uci(name):
    """Inputs and target; abalone's sexes as indicators, and cpu's performance in place of its logarithm."""
    if name == "abalone":
        lines = (DATA / "uci/classification/abalone.data").read_text(encoding="utf-8").split()
        cells = np.array([line.split(",") for line in lines])
        numbers, sex = cells[:, 1:].astype(float), cells[:, :1] == np.unique(cells[:, 0])
        return np.hstack([numbers[:, :-1], sex]), numbers[:, -1]
    if name == "power":
        cells = np.loadtxt(DATA / "uci/regression/power.txt.gz")
    else:
        file = {"cpu": "machine", "boston": "housing"}.get(name, name)
        cells = np.loadtxt(DATA / f"uci/regression/{file}.csv.gz", delimiter=",")
    x, y = cells[:, :-1], cells[:, -1]
    return x, np.rint(6 * np.exp(y - y.min())) if name == "cpu" else y


def split(x, y, seed):
    """At most 256 rows to learn from and as many others; all standardised by the first."""
    size = min(256, len(y) // 2)
    order = np.random.default_rng(seed).permutation(len(y))
    train, both = order[:size], order[: 2 * size]
    spread = x[train].std(axis=0)
    x = (x[both] - x[train].mean(axis=0)) / np.where(spread == 0, 1, spread)
    y = (y[both] - y[train].mean()) / y[train].std()
    return x[:size], y[:size], x[size:], y[size:]


def fitted(x, y, lengthscale=None):
    """Lengthscale, variance and noise at a maximum of the evidence, from |x| ~ lengthscale, 1 and a tenth."""
    squares = cdist(x, x, "sqeuclidean")

    def loss(logs):
        """Minus the evidence, and its gradient: half the trace of (K^-1 - a a') dK, with a = K^-1 y."""
        scale = np.exp(logs[2]) if lengthscale is None else lengthscale
        kernel = np.exp(logs[0] - squares / (2 * scale**2))
        factor = cho_factor(kernel + np.exp(logs[1]) * np.eye(len(y)), lower=True)
        a, inverse = cho_solve(factor, y), cho_solve(factor, np.eye(len(y)))
        inner = inverse - np.outer(a, a)
        of_variance, of_noise = np.sum(inner * kernel), np.exp(logs[1]) * np.trace(inner)
        slopes = [of_variance, of_noise, np.sum(inner * kernel * squares) / scale**2]
        return y @ a / 2 + np.log(np.diag(factor[0])).sum(), np.array(slopes[: len(logs)]) / 2

    start = np.log([1, 0.1, np.sqrt(np.mean(np.sum((x - x.mean(axis=0)) ** 2, axis=1)))])
    logs = minimize(loss, start if lengthscale is None else start[:2], jac=True, method="L-BFGS-B").x
    return (np.exp(logs[2]) if lengthscale is None else lengthscale), np.exp(logs[0]), np.exp(logs[1])


def coupled_norms(rng, n, d):
    """Lengths in pairs, at u and 1 - u of their law; the last of an odd number is alone."""
    u = rng.random((n + 1) // 2)
    return np.sqrt(chi2.ppf(np.stack([u, 1 - u], axis=1).ravel()[:n], d))[:, None]


def gp_errors(rng, kind, x, y, x_new, y_new, n_draws=60):
    """Mean predictive RMSE with independent, orthogonal, and orthogonal frequencies with coupled norms."""
    d = x.shape[1]
    # Appendix B.1 of the paper sets the lengthscale of Laplace features to twice the mean of |x_i + x_j|.
    scale, variance, noise = fitted(x, y, 2 * cdist(x, -x).mean() if kind == "laplace" else None)
    x, x_new, total = x / scale, x_new / scale, np.zeros(3)
    for _ in range(n_draws):
        q = rotation(rng, d)
        if kind == "laplace":  # d directions and their opposites, with coupled norms as exact opposites
            coupled, both = coupled_norms(rng, d, d) * q, np.concatenate([q, -q])
            omegas = both * np.sqrt(rng.chisquare(d, (2 * d, 1))), np.concatenate([coupled, -coupled])
        else:
            omegas = q * np.sqrt(rng.chisquare(d, (d, 1))), coupled_norms(rng, d, d) * q
        for i, omega in enumerate((frequencies(rng, len(omegas[0]), d), *omegas)):
            phi, phi_new = (np.sqrt(variance) * maps(part, omega, kind) for part in (x, x_new))
            inner = phi.T @ phi + noise * np.eye(phi.shape[1])
            total[i] += np.sqrt(np.mean((phi_new @ np.linalg.solve(inner, phi.T @ y) - y_new) ** 2))
    return total / n_draws


def maps(x, omega, kind):
    if kind == "fourier":
        return features(x, omega)
    return np.exp(x @ omega.T - np.sum(x**2, axis=1)[:, None]) / np.sqrt(len(omega))


def predictive_gain(n_splits=8):
    """What is left by two orthogonal couplings: splits, sets, kinds of features, couplings."""
    rng, tables = np.random.default_rng(0), [uci(name) for name in SETS]
    found = np.array([
        [[gp_errors(rng, kind, *split(*table, i)) for kind in ("fourier", "laplace")] for table in tables]
        for i in range(n_splits)
    ])  # fmt: skip
    return found[..., 1:] / found[..., :1]


def mean_and_se(values):
    """Over the first axis, of means over the others."""
    means = values.reshape(len(values), -1).mean(axis=1)
    return means.mean(), means.std(ddof=1) / np.sqrt(len(means))


SETS = ("concrete", "abalone", "cpu", "power", "airfoil", "boston")


def numbers():
    """(what, place, pattern, own, error) of each."""
    left, se = shares(256, 64, (0.5, 1), n_frames=12)
    felt = "notebooks/beyond/08_where_it_is_felt.ipynb"
    (tight, independent), gain = sums(), predictive_gain()
    on_average, its_se = mean_and_se(gain)
    two, their_se = mean_and_se(gain[:, [SETS.index("concrete"), SETS.index("power")], 0])
    of_all, card = "claim couplings/extra-predictive-gain/orthogonal", "book/front_page.toml"
    rows = [
        ("six lines: chosen", "book/index.md", r"(0\.\d+) with frequencies that", *six_lines(tight_frame)),
        ("six lines: independent", "book/index.md", r"(0\.\d+) with independent", *six_lines(frequencies)),
        ("share left at distance 1/2, %", felt, r"have about (\d+) % of the error of independent", left[0], se[0]),
        ("share left at distance 1, %", felt, r"(\d+) % at one lengthscale and some", left[1], se[1]),
        ("predictions by a frame: squared error", "claim beyond/extra-felt-sums/quarter pair0", "", *tight),
        ("a sixteenth of independent ones'", "claim beyond/extra-felt-sums/quarter pair1", "", *independent),
        ("predictive error, over independent ones'", of_all, "", on_average, np.hypot(its_se, 0.00073)),
        ("the same on concrete and power", card, r"with Fourier features, (0\.\d+)", two, their_se),
    ]
    if (ROOT / FIGURE).exists():  # drawn when the book is built, not committed
        left, se = shares(500, 16, (1,), n_frames=8)
        rows.append(("front figure: share left at distance 1, %", FIGURE, r"(\d+) % of that with", left[0], se[0]))
    return rows

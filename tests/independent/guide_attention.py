"""start/02_which_features, "Attention to 4,096 tokens": errors of a plain mean, of calibrated features and of FAVOR+.

Layers, inputs and frequencies are drawn anew by NumPy in float64. The fit is the textbook geometric mean of two
matrices and a numerical minimum over A, where the library has singular vectors and a closed form. Each draw has its
own layer, inputs and frequencies; the book shows one draw, so that errors are standard deviations of one. Errors are
those of 256 queries that attend to all keys: a mean over 131,072 outputs.
"""

import numpy as np
from scipy.linalg import sqrtm
from scipy.optimize import minimize_scalar

HEADS, SIZE = 8, 512
D = SIZE // HEADS
LENGTHS = (512, 1024, 2048, 4096)
QUERIES, DRAWS = 256, 7
FAVOR_DRAWS = {512: 80, 1024: 80, 2048: 20, 4096: 10}  # many, as the law has a long tail to the right
PAGE = "notebooks/start/02_which_features.ipynb"


def new_layer(rng):
    """Weights of the queries, keys, values and outputs, uniform on +-1/sqrt(512), as an untrained layer has them."""
    return rng.uniform(-1, 1, (4, SIZE, SIZE)) / np.sqrt(SIZE)


def heads(layer, x):
    """Queries and keys times d^(-1/4), and values: (heads, positions, d) each."""
    q, k, v = (np.moveaxis((x @ W.T).reshape(len(x), HEADS, D), 1, 0) for W in layer[:3])
    return q * D**-0.25, k * D**-0.25, v


def orthonormal(rng):
    """A rotation or reflection from Haar measure: Q of a normal matrix, signs of its R made positive."""
    Q, R = np.linalg.qr(rng.normal(size=(D, D)))
    return Q * np.sign(np.diag(R))


def orthogonal(rng, m):
    """Frequencies of FAVOR+: orthogonal within each block of 64, with independent norms."""
    unit = np.vstack([orthonormal(rng) for _ in range(m // D)])
    return np.sqrt(rng.chisquare(D, m))[:, None] * unit


def cross_polytopes(rng, m):
    """What ``choose`` takes: orthogonal blocks with one norm each, and the opposites of all of them."""
    half = np.vstack([np.sqrt(rng.chisquare(D)) * orthonormal(rng) for _ in range(m // 2 // D)])
    return np.vstack([half, -half])


def fitted(q, k):
    """(A, B_q, B_k, centres) of asymmetric dense-exponential features of centred points (FAVOR#, Theorem 4.2).

    B is the root of the geometric mean of M_q^-1 and M_k, with M the matrices of second moments; A minimises the
    variance of the logarithm, which is that of a scalar problem with the mean square phi.
    """
    centres = q.mean(axis=0), k.mean(axis=0)
    M_q, M_k = (np.cov(x.T, bias=True) for x in (q, k))
    root = sqrtm(M_q).real
    inverse, middle = np.linalg.inv(root), sqrtm(root @ M_k @ root).real
    phi = 2 / D * np.trace(middle)
    of_A = minimize_scalar(
        lambda A: np.log(1 - 4 * A) - np.log(1 - 8 * A) / 2 + phi / (1 - 8 * A), bounds=(-10, 0.12), method="bounded",
        options={"xatol": 1e-10},
    )  # fmt: skip
    B = sqrtm(inverse @ middle @ inverse).real
    scale = np.sqrt(1 - 4 * of_A.x)
    return of_A.x, scale * B, scale * np.linalg.inv(B), centres


def by_logs(log_q, log_k, v):
    """Outputs of one head from logarithms of features."""
    most = log_k.max(axis=0)
    with_ones = np.column_stack([v, np.ones(len(v))])
    sums = np.exp(log_k - most).T @ with_ones
    log_q = log_q + most
    out = np.exp(log_q - log_q.max(axis=1, keepdims=True)) @ sums
    return out[:, :-1] / out[:, -1:]


def favor(q, k, v, omega):
    """One head by positive features: exp(omega . x - |x|^2 / 2)."""
    return by_logs(*(x @ omega.T - (x**2).sum(axis=1, keepdims=True) / 2 for x in (q, k)), v)


def calibrated(q, k, v, omega, parameters):
    """One head by fitted features of q - a and k - b; exp(a . (k - b)) restores what the keys lost.

    exp(b . q) is common to all keys and cancels, and so do the other constants.
    """
    A, B_q, B_k, (a, b) = parameters
    of_omega = A * (omega**2).sum(axis=1)
    q, from_b = (q - a) @ B_q.T, k - b
    k = from_b @ B_k.T
    log_q, log_k = (of_omega + x @ omega.T - (x**2).sum(axis=1, keepdims=True) / (2 - 8 * A) for x in (q, k))
    return by_logs(log_q, log_k + (from_b @ a)[:, None], v)


def softmax(q, k, v):
    """One head exactly; scores of an untrained layer are far from overflow."""
    weights = np.exp(q @ k.T)
    return weights @ v / weights.sum(axis=1, keepdims=True)


def relative(layer, outs):
    """Errors of outputs of all heads, the first of which are exact, after the layer's last projection."""
    exact, *others = outs @ layer[3].T
    return [np.linalg.norm(out - exact) / np.linalg.norm(exact) for out in others]


def errors(rng):
    """Relative errors of one draw: rows 512 features, 1,024 features, mean; columns positions."""
    layer = new_layer(rng)
    fits = [fitted(q, k) for q, k, _ in zip(*heads(layer, rng.normal(size=(1024, SIZE))), strict=True)]
    frequencies = [(cross_polytopes(rng, 512), cross_polytopes(rng, 1024)) for _ in range(HEADS)]
    found = np.empty((3, len(LENGTHS)))
    for column, n in enumerate(LENGTHS):
        outs = np.empty((4, QUERIES, SIZE))
        for h, (q, k, v) in enumerate(zip(*heads(layer, rng.normal(size=(n, SIZE))), strict=True)):
            q, (few, many) = q[:QUERIES], frequencies[h]
            outs[:, :, D * h : D * (h + 1)] = (
                softmax(q, k, v), calibrated(q, k, v, few, fits[h]), calibrated(q, k, v, many, fits[h]),
                np.broadcast_to(v.mean(axis=0), q.shape),
            )  # fmt: skip
        found[:, column] = relative(layer, outs)
    return found


def favor_error(rng, n):
    """Relative error of one draw of a layer, n inputs and 512 frequencies of FAVOR+."""
    layer, outs = new_layer(rng), np.empty((2, QUERIES, SIZE))
    for h, (q, k, v) in enumerate(zip(*heads(layer, rng.normal(size=(n, SIZE))), strict=True)):
        q = q[:QUERIES]
        outs[:, :, D * h : D * (h + 1)] = softmax(q, k, v), favor(q, k, v, orthogonal(rng, 512))
    return relative(layer, outs)[0]


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng, rows = np.random.default_rng(0), []
    drawn = np.array([errors(rng) for _ in range(DRAWS)])
    own, deviation = drawn.mean(axis=0), drawn.std(axis=0, ddof=1)

    def row(name, n, place, mean, error):
        pattern = rf"\| {n:,} (?:\| [\d.,]+ ){{{6 + place}}}\| ([\d.]+) \|"
        rows.append((f"{name} at {n:,} positions", PAGE, pattern, mean, error))

    for column, n in enumerate(LENGTHS):
        for way, (name, place) in enumerate((("512 features", 0), ("1,024 features", 1), ("mean", 3))):
            row(name, n, place, own[way, column], deviation[way, column])
        plain = np.array([favor_error(rng, n) for _ in range(FAVOR_DRAWS[n])])
        medians = np.median(rng.choice(plain, size=(2000, 9)), axis=1)  # the page shows one of nine draws
        row("FAVOR+", n, 2, np.median(plain), medians.std())
    rows.append(("512 features at 4,096 positions, lines to paste", PAGE, r"relative error ([\d.]+) \*\*Is that good",
                 own[0, -1], deviation[0, -1]))  # fmt: skip
    return rows

"""README.md's examples on graphs: walks on a ring of 34 nodes, and a Gaussian process on a path of 100.

The ring has its own walkers (a walk on a ring is a sum of steps of +1 and -1) and the eigenvalues cos(2 pi j / 34);
the Gaussian process is dense linear algebra, and its three parameters a maximum found by scipy.optimize.
"""

import math

import numpy as np
from scipy.optimize import minimize

JITTER = 1e-6  # what GPJax adds to the diagonal


def ring_features(rng, n, m, p_halt):
    """Features for exp(-L / 2) of m walks from each of n nodes on a ring, their lengths stratified.

    Weights are 1/2 between neighbours, which a walker takes with probability 1/2 each: a load is multiplied by
    2 (1/2) / (1 - p_halt) at a hop. The modulation of step k is exp(-1/4) (1/4)^k / k!.
    """
    strata = (np.arange(m) + rng.random((n, m))) / m
    length = np.floor(np.log1p(-strata) / math.log(1 - p_halt)).astype(int)
    phi, node = np.zeros((n, n)), np.repeat(np.arange(n)[:, None], m, axis=1)
    start, weight = node.copy(), math.exp(-1 / 4)
    for step in range(length.max() + 1):
        alive = length >= step
        np.add.at(phi, (start[alive], node[alive]), weight / m)
        node = (node + rng.choice((-1, 1), size=node.shape)) % n
        weight *= 1 / (4 * (step + 1) * (1 - p_halt))
    return phi


def ring_errors(rng, n=34, m=64, p_halt=0.1, draws=400):
    """Greatest absolute errors of draws of phi_1 phi_2^T against exp(-L / 2), a circulant matrix."""
    eigenvalue = np.exp(-(1 - np.cos(2 * np.pi * np.arange(n) / n)) / 2)
    first_row = np.fft.ifft(eigenvalue).real
    exact = first_row[(np.arange(n)[:, None] - np.arange(n)) % n]
    return np.array([
        abs(ring_features(rng, n, m, p_halt) @ ring_features(rng, n, m, p_halt).T - exact).max() for _ in range(draws)
    ])  # fmt: skip


def path_spectrum(n):
    """Eigenvalues and eigenvectors of D^(-1/2) A D^(-1/2) of a path."""
    A = np.diag(np.ones(n - 1), 1)
    A += A.T
    root = np.sqrt(A.sum(axis=1))
    return np.linalg.eigh(A / np.outer(root, root))


def path_error(n=100):
    """Greatest absolute error at the odd nodes of the posterior mean, given sin(i / 10) at the even ones.

    The prior is variance exp(-lengthscale^2 L), the noise is normal; all three maximise the marginal likelihood.
    """
    x, vectors = path_spectrum(n)
    value, seen, between = np.sin(np.arange(n) / 10), np.arange(0, n, 2), np.arange(1, n - 1, 2)

    def matrices(log_parameters):
        lengthscale, variance, deviation = np.exp(log_parameters)
        kernel = variance * (vectors * np.exp(-(lengthscale**2) * (1 - x))) @ vectors.T
        return kernel, kernel[np.ix_(seen, seen)] + (deviation**2 + JITTER) * np.eye(len(seen))

    def loss(log_parameters):
        factor = np.linalg.cholesky(matrices(log_parameters)[1])
        return 0.5 * np.sum(np.linalg.solve(factor, value[seen]) ** 2) + np.log(np.diag(factor)).sum()

    bounds = [(-3, 4), (-6, 8), (-12, 2)]
    found = minimize(loss, np.zeros(3), method="L-BFGS-B", bounds=bounds, options={"ftol": 1e-13})
    kernel, noisy = matrices(found.x)
    mean = kernel[np.ix_(between, seen)] @ np.linalg.solve(noisy, value[seen])
    return abs(mean - value[between]).max()


def numbers():
    """(what, place, pattern, own, error) of each."""
    errors = ring_errors(np.random.default_rng(0))
    return [
        ("ring of 34 nodes: greatest error of one draw", "README.md", r"phi_2\.T - kernels\.diffusion.*# ([\d.]+)",
         errors.mean(), errors.std(ddof=1)),
        ("path of 100 nodes: greatest error of the prediction", "README.md", r"np\.sin\(between / 10\).*# ([\d.]+)",
         path_error(), 0.0),
    ]  # fmt: skip

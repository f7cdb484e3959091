"""Posterior and evidence of Gaussian processes whose kernel, phi phi^T, is never formed."""

from functools import partial
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import lineax as lx
import numpy as np
import scipy.sparse as sp
from jax.scipy.linalg import cho_solve
from scipy.sparse.linalg import LinearOperator, cg

from rfcore import checks
from rfcore.features import DepositFeatures, DepositsByStep, WalkFeatures
from rfcore.models.gp.exact import Posterior, cholesky, log_det, log_evidence, rows, vector


def posterior_mean(phi, y, noise, seen, asked=None, rtol=None, max_steps=None):
    """Mean of :func:`posterior` for the kernel phi phi^T, by conjugate gradients.

    ::

        mean = phi_a phi_s^T x,     (phi_s phi_s^T + s^2 I) x = y

    Time and memory are O(entries of phi) a step; the number of steps grows with the root of the condition
    number, below 1 + abs(K) / s^2. Sparse features of SciPy (WalkFeatures too) with known y and noise are
    multiplied on the host: nothing is compiled, and a product takes a fifth of XLA's time. Everything else is
    JAX.

    Args:
        phi: features, one row per node, (n, m).
        y, noise, seen, asked: as for :func:`posterior`, with rows of phi.
        rtol: residuals are at most rtol times the largest of abs(y), and a little more; by default the root
            of the rounding of the dtype.
        max_steps: 10 n_seen by default.

    Returns:
        Array, (n_asked,).

    Raises RuntimeError if max_steps are not enough.

    Source: Rasmussen and Williams (2006), Eq. 2.25.
    """
    y, noise, seen, asked = _checked(phi, y, noise, seen, asked)
    x = _solution(seen, noise, y[:, None], *_stop(rtol, max_steps, y))
    return jnp.asarray(asked.times(seen.transposed_times(x))[:, 0], y.dtype)


def posterior_of_features(phi, y, noise, seen, asked=None, rtol=None, max_steps=None):
    """Mean and covariance of :func:`posterior` for the kernel phi phi^T, by conjugate gradients.

    One system for y and one for each node that is asked for: for few of them among many that were seen.
    Arguments are those of :func:`posterior_mean`.

    Returns:
        Posterior.

    Raises RuntimeError if max_steps are not enough.

    Source: Rasmussen and Williams (2006), Eqs. 2.25 and 2.26.
    """
    y, noise, seen, asked = _checked(phi, y, noise, seen, asked)
    halfway = asked.transposed_times(np.eye(len(asked.rows), dtype=y.dtype))
    both = jnp.column_stack([y, seen.times(halfway)])
    x = _solution(seen, noise, both, *_stop(rtol, max_steps, y))
    found = asked.times(seen.transposed_times(x))
    covariance = asked.times(halfway) - found[:, 1:]
    return Posterior(jnp.asarray(found[:, 0], y.dtype), jnp.asarray((covariance + covariance.T) / 2, y.dtype))


def log_evidence_of_features(phi, y, noise):
    """Log of the density of y for the kernel phi phi^T, exactly, on the smaller side of phi, (n, m).

    ::

        A = phi^T phi + s^2 I,   b = A^(-1) phi^T y   if m < n (else K is formed):
        y^T (K + s^2 I)^(-1) y = (|y - phi b|^2 + s^2 |b|^2) / s^2
        log det(K + s^2 I) = log det A + (n - m) log s^2

    A sum of squares, in which nothing cancels. O(n m min(n, m)): for many nodes see
    :func:`log_evidence_by_probes`.

    Source: Rasmussen and Williams (2006), Eqs. 2.30, A.9 and A.10.
    """
    phi, y, noise = _matrix(phi), vector(y), checks.real(noise, "noise", above=0)
    n, m = phi.shape
    if n != len(y):
        raise ValueError(f"y has shape {y.shape}, phi {phi.shape}; give one value per row of phi")
    if n <= m:
        return log_evidence(_gram(phi), y, noise)
    L = cholesky(_gram(phi.T) + noise * jnp.eye(m), "phi^T phi, with the noise,")
    phi = _in_jax(phi)
    b = cho_solve((L, True), phi.T @ y)
    square = jnp.sum((y - phi @ b) ** 2) / noise + jnp.sum(b**2)
    return -(square + log_det(L) + (n - m) * jnp.log(noise) + n * jnp.log(2 * jnp.pi)) / 2


def covariance_operator(phi, noise, seen=None):
    """Covariance of observations, v -> (phi_s phi_s^T + s^2 I) v, as an operator for ``lineax.linear_solve``.

    Args:
        phi, noise: features, (n, m); the variance s^2.
        seen: rows of phi; all by default.

    Returns:
        ``lineax.FunctionLinearOperator``, tagged positive semidefinite.

    >>> import jax.numpy as jnp, lineax
    >>> from rfcore import models
    >>> operator = models.gp.covariance_operator(jnp.eye(3), 1.0)
    >>> bool(jnp.allclose(lineax.linear_solve(operator, jnp.ones(3), lineax.CG(1e-5, 1e-5)).value, 0.5))
    True
    """
    phi, noise = _matrix(phi), checks.real(noise, "noise", above=0)
    seen = np.arange(phi.shape[0]) if seen is None else checks.indices(seen, "seen", phi.shape[0], empty=True)
    return _operator(_chosen(phi, seen), noise, jnp.result_type(float))


class _Rows(NamedTuple):
    """Some rows of features, which need not be sorted by rows: so rows are chosen on the vectors' side."""

    phi: Any
    rows: Any

    def times(self, w):
        return (self.phi @ w)[self.rows]

    def transposed_times(self, x):
        return self.phi.T @ jnp.zeros((self.phi.shape[0], x.shape[1]), x.dtype).at[self.rows].add(x)


class _HostRows(NamedTuple):
    """The same of a scipy CSR array, whose rows are cheap to take."""

    phi: Any
    rows: Any

    def times(self, w):
        return self.phi @ np.asarray(w, dtype=float)

    def transposed_times(self, x):
        return self.phi.T @ np.asarray(x, dtype=float)


def _chosen(phi, rows, on_host=False):
    if on_host:
        return _HostRows(phi[rows], rows)
    if isinstance(phi, DepositFeatures):
        return _Rows(phi, rows)
    return _Rows(_in_jax(phi[rows]), np.arange(len(rows)))


def _operator(seen, noise, dtype):
    def product(v):
        return seen.times(seen.transposed_times(v[:, None]))[:, 0].astype(dtype) + noise * v

    return lx.FunctionLinearOperator(product, jax.ShapeDtypeStruct(seen.rows.shape, dtype), lx.positive_semidefinite_tag)


def _solution(seen, noise, right, rtol, max_steps):
    """Columns x of (phi_s phi_s^T + s^2 I) x = right."""
    if isinstance(seen, _HostRows):
        return _solution_on_host(seen.phi, float(noise), np.asarray(right, dtype=float), rtol, max_steps)
    return _solution_in_jax(seen, noise, right, rtol, max_steps)


def _solution_on_host(phi, noise, right, rtol, max_steps):
    transpose, x = phi.T.tocsr(), np.empty(right.shape)  # rows that lie together: a third of the time
    operator = LinearOperator((len(right),) * 2, matvec=lambda v: phi @ (transpose @ v) + noise * v, dtype=float)
    for i, column in enumerate(right.T):
        x[:, i], unfinished = cg(operator, column, rtol=0.0, atol=rtol * np.abs(column).max(initial=0), maxiter=max_steps)
        if unfinished:
            raise RuntimeError(f"The maximum number of solver steps was reached, {max_steps}; give more max_steps, or noise")
    return x


@partial(jax.jit, static_argnums=(3, 4))  # else each call compiles conjugate gradients anew
def _solution_in_jax(seen, noise, right, rtol, max_steps):
    operator, solver = _operator(seen, noise, right.dtype), lx.CG(rtol, rtol, max_steps=max_steps)
    size = jax.lax.stop_gradient(jnp.max(jnp.abs(right), axis=0))  # the solver's absolute tolerance is that of size 1
    size = jnp.where(size > 0, size, 1.0)
    solve = jax.vmap(lambda column: lx.linear_solve(operator, column, solver).value, in_axes=1, out_axes=1)
    return solve(right / size) * size


def _stop(rtol, max_steps, y):
    rtol = float(jnp.finfo(y.dtype).eps) ** 0.5 if rtol is None else checks.real(rtol, "rtol", above=0)
    return rtol, 10 * len(y) if max_steps is None else checks.count(max_steps, "max_steps")


def _checked(phi, y, noise, seen, asked):
    phi, y, noise = _matrix(phi), vector(y), checks.real(noise, "noise", above=0)
    seen, asked = rows(seen, asked, phi.shape[0], len(y))
    on_host = sp.issparse(phi) and not (checks.is_traced(y) or checks.is_traced(noise))
    return y, noise, _chosen(phi, seen, on_host), _chosen(phi, asked, on_host)


def _matrix(phi):
    """Features that multiply: DepositFeatures, or a finite scipy CSR array or JAX array."""
    if isinstance(phi, DepositFeatures):
        return phi
    if isinstance(phi, WalkFeatures) or sp.issparse(phi):
        return checks.sparse(phi.to_scipy() if isinstance(phi, WalkFeatures) else phi, "phi")
    return checks.points(phi, "phi")


def _in_jax(phi):
    """Features that JAX can multiply with; a sparse array as deposits of one step, f(0) = 1."""
    if not sp.issparse(phi):
        return phi
    row = np.repeat(np.arange(phi.shape[0]), np.diff(phi.indptr))
    row, node = jnp.asarray(row, dtype=jnp.int32), jnp.asarray(phi.indices, dtype=jnp.int32)
    load = jnp.asarray(phi.data, dtype=float)
    return DepositFeatures(DepositsByStep(row, node, jnp.zeros_like(row), load, phi.shape, 1, True), load)


def _gram(phi):
    product = phi @ phi.T
    return product.toarray() if sp.issparse(product) else product

"""Functions drawn from Gaussian processes of GPJax, prior or posterior, whose cost is linear in the points.

::

    prior        f(x) = mean(x) + phi(x) b,    b ~ N(0, I),    E[phi(x) . phi(y)] = k(x, y)
    posterior    f(x) + k(x, X) (K + s^2 I)^(-1) (y - f(X) - eps),    eps ~ N(0, s^2 I)

The second line is Matheron's rule: a path of the prior is moved, by the kernel itself, to what was observed.
Its mean is the posterior's exactly; features make the error of its covariance alone, unbiased over draws of
the frequencies.

Source: Wilson et al., "Efficiently sampling functions from Gaussian process posteriors" (2020), Section 3.2.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
from gpjax.gps import ExactPosterior, Prior
from gpjax.kernels import RBF, AbstractKernel, Linear, Matern12, Matern32, Matern52, SumKernel
from gpjax.parameters import val
from jax.scipy.linalg import cho_solve
from jaxtyping import Array, Float, PRNGKeyArray, Real

from rfcore import checks, couplings, features
from rfcore.gp.kernels import Diffusion, Walks

Coupling = Callable[[PRNGKeyArray, int, int], Float[Array, "m d"]]
MATERN = {Matern12: 0.5, Matern32: 1.5, Matern52: 2.5}


class Paths(eqx.Module):
    """Functions of points: ``paths(x)`` is (n, n_paths), one column per function, the same at each call."""

    prior: Prior
    summands: tuple[AbstractKernel, ...]
    """Kernels whose sum that of the process is."""
    omegas: tuple[Float[Array, "m _"] | None, ...]
    """Frequencies of each summand of the kernel; None where its features are known."""
    weights: Float[Array, "k n_paths"]
    """b."""
    moved: tuple[Float[Array, "n n_columns"], Float[Array, "n n_paths"]] | None
    """X, and (K + s^2 I)^(-1) (y - f(X) - eps); None of a prior."""

    def __call__(self, x: Real[Array | np.ndarray, "n d"]) -> Float[Array, "n n_paths"]:
        """Values of all functions at points."""
        x = checks.points(x, "x")
        found = self.prior.mean_function(x) + _features(self.summands, self.omegas, x) @ self.weights
        if self.moved is None:
            return found
        seen, weights = self.moved
        return found + self.prior.kernel.cross_covariance(x, seen) @ weights


def sample_paths(
    key: PRNGKeyArray,
    process: Prior | ExactPosterior,
    n_paths: int = 1,
    m: int = 512,
    coupling: Coupling | None = None,
    n_columns: int | None = None,
) -> Paths:
    """Functions from a prior of GPJax, or from ``model.condition(data)``.

    GPJax's own ``sample_approx`` has independent frequencies and stationary kernels alone. Here kernels may
    be RBF, Matérn of 1/2, 3/2 and 5/2, Linear, :class:`rfcore.gp.Diffusion`, :class:`rfcore.gp.Walks`, and
    sums of these. Features of all but RBF and Matérn are exact, and so are their paths. For more observations
    or nodes than a matrix of them allows, :func:`rfcore.gp.sample_weights` does with features alone.

    Args:
        process: hyper-parameters as they were fitted; a posterior has one output and Gaussian noise.
        n_paths: how many functions, of the same frequencies.
        m: frequencies of each stationary summand.
        coupling: of these frequencies, ``(key, m, d) -> omega``; of Matérn kernels a product, which is given
            their norms. Tight frames for RBF, and :func:`rfcore.couplings.matern`, if None.
        n_columns: of points, where a prior's kernel has no ``n_dims``.

    >>> import gpjax as gpx, jax, jax.numpy as jnp
    >>> from rfcore import gp
    >>> X = jnp.linspace(-2, 2, 20)[:, None]
    >>> prior = gpx.gps.Prior(gpx.kernels.RBF(), gpx.mean_functions.Zero())
    >>> posterior = (prior * gpx.likelihoods.Gaussian(obs_stddev=0.1)).condition(gpx.Dataset(X, jnp.sin(X)))
    >>> paths = gp.sample_paths(jax.random.key(0), posterior, n_paths=2000)
    >>> between, beyond = paths(jnp.array([[0.5], [9.0]])).std(axis=1)
    >>> bool(between < 0.1), bool(abs(beyond - 1) < 0.1)
    (True, True)
    """
    n_paths, m = checks.count(n_paths, "n_paths"), checks.count(m, "m")
    if not isinstance(process, Prior | ExactPosterior):
        raise ValueError(f"process is of type {type(process).__name__}; give a Prior of GPJax, or model.condition(data)")
    prior = process if isinstance(process, Prior) else process.prior
    summands = tuple(_summands(prior.kernel))
    seen = jnp.zeros((0, _n_columns(prior, n_columns))) if isinstance(process, Prior) else jnp.asarray(process.train_data.X)
    of_maps, of_weights, of_noise = jax.random.split(checks.key(key), 3)
    omegas = tuple(
        _frequencies(jax.random.fold_in(of_maps, i), kernel, seen.shape[1], m, coupling) for i, kernel in enumerate(summands)
    )
    phi = _features(summands, omegas, seen)
    b = jax.random.normal(of_weights, (phi.shape[1], n_paths))
    if isinstance(process, Prior):
        return Paths(process, summands, omegas, b, None)
    if process.likelihood.num_outputs != 1:
        raise ValueError(f"process has {process.likelihood.num_outputs} outputs; give one with one output")
    # With the jitter, which GPJax's posterior takes for noise; one deviation, or one for each observation.
    sd = jnp.sqrt(val(process.likelihood.obs_stddev) ** 2 + prior.jitter)
    eps = jnp.reshape(sd, (-1, 1)) * jax.random.normal(of_noise, (len(seen), n_paths))
    weights = cho_solve((process.cholesky_factor, True), process.residual - phi @ b - eps)
    return Paths(prior, summands, omegas, b, (seen, weights))


def _summands(kernel: AbstractKernel) -> list[AbstractKernel]:
    return [one for part in kernel.kernels for one in _summands(part)] if isinstance(kernel, SumKernel) else [kernel]


def _n_columns(prior: Prior, n_columns: int | None) -> int:
    """Of points, which a prior need not know."""
    whole = [kernel for kernel in _summands(prior.kernel) if kernel.active_dims == slice(None)]
    known = next((kernel.n_dims for kernel in whole if getattr(kernel, "n_dims", None)), None)
    if n_columns is None and known is None:
        raise ValueError("n_columns = None and a prior whose kernel has no n_dims; give the number of columns of points")
    return checks.count(known if n_columns is None else n_columns, "n_columns")


def _frequencies(
    key: PRNGKeyArray, kernel: AbstractKernel, n_columns: int, m: int, coupling: Coupling | None
) -> Float[Array, "m d"] | None:
    """Frequencies of a stationary kernel at lengthscale 1; None of one whose features are known."""
    if isinstance(kernel, (Diffusion, Walks, Linear)):
        return None
    if type(kernel) not in (RBF, *MATERN):
        wanted = "RBF, Matern12, Matern32, Matern52, Linear, rfcore.gp.Diffusion, rfcore.gp.Walks or a sum of these"
        raise ValueError(f"kernel is of type {type(kernel).__name__}, whose features are not known; give {wanted}")
    d = jax.eval_shape(kernel.slice_input, jax.ShapeDtypeStruct((1, n_columns), float)).shape[1]
    if type(kernel) is RBF:
        return jnp.asarray((coupling or couplings.tight)(key, m, d))
    if not isinstance(coupling, couplings.Product | None):
        raise ValueError(f"coupling = {coupling!r} of a Matérn kernel; give a couplings.Product, whose norms can be those of one")
    norms = couplings.norms.Student(MATERN[type(kernel)])
    return replace(coupling or couplings.compose("orthogonal"), radial=norms)(key, m, d)


def _features(
    summands: tuple[AbstractKernel, ...], omegas: tuple[Float[Array, "m _"] | None, ...], x: Float[Array, "n columns"]
) -> Float[Array, "n k"]:
    """phi of a sum of kernels: those of its summands, side by side."""
    return jnp.concatenate([_of_one(kernel, omega, x) for kernel, omega in zip(summands, omegas, strict=True)], axis=1)


def _of_one(kernel: Any, omega: Float[Array, "m d"] | None, x: Float[Array, "n columns"]) -> Float[Array, "n k"]:
    if isinstance(kernel, Linear):
        return jnp.sqrt(val(kernel.variance)) * kernel.slice_input(x)
    if omega is None:
        return kernel.features(x)
    return jnp.sqrt(val(kernel.variance)) * features.fourier(kernel.slice_input(x) / val(kernel.lengthscale), omega)

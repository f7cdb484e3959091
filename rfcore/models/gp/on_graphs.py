"""Gaussian process on the nodes of a graph with the diffusion kernel: exactly, and on walks that stay.

::

    h ~ N(0, K),   K = kappa exp(-gamma^2 L),   y = h(seen) + noise,   noise ~ N(0, s^2 I)

L is the normalised Laplacian: :meth:`rfcore.kernels.Diffusion.of_lengthscale`.
Hyper-parameters are learned by :func:`rfcore.solvers.descent.learn`: exactly from the spectrum of the graph,
or on one fixed set of walks from the nodes that were seen, whose features are a smooth function of gamma.
Source: Variance-Reducing Couplings, Appendix F.2.
"""

from dataclasses import replace
from typing import NamedTuple

import jax
import jax.numpy as jnp

from rfcore import checks, features
from rfcore.kernels import Diffusion, Spectrum
from rfcore.models.gp.exact import Posterior, kl, log_evidence, vector
from rfcore.models.gp.of_features import log_evidence_of_features


class Hyperparameters(NamedTuple):
    """Of a diffusion Gaussian process, in logarithms, so that descent keeps them positive. A JAX pytree.

    Attributes:
        log_variance, log_lengthscale, log_noise: of kappa, gamma and s^2, scalars.
    """

    log_variance: jax.Array
    log_lengthscale: jax.Array
    log_noise: jax.Array

    @property
    def variance(self):
        """kappa, what K is multiplied by."""
        return jnp.exp(self.log_variance)

    @property
    def lengthscale(self):
        """gamma: how far h diffuses."""
        return jnp.exp(self.log_lengthscale)

    @property
    def noise(self):
        """s^2, the variance of the noise."""
        return jnp.exp(self.log_noise)


def hyperparameters(variance=1.0, lengthscale=1.0, noise=0.1):
    """Hyperparameters from kappa, gamma and s^2, all above 0, in place of their logarithms."""
    values = {"variance": variance, "lengthscale": lengthscale, "noise": noise}
    return Hyperparameters(*(jnp.log(checks.real(value, name, above=0)) for name, value in values.items()))


def diffusion_covariance(parameters, spectrum):
    """K between some nodes, exactly, differentiable in the hyper-parameters.

    ::

        K = kappa V exp(-gamma^2 (1 - lambda)) V^T,   W = V diag(lambda) V^T  the normalised weights

    Args:
        parameters: Hyperparameters.
        spectrum: lambda and rows of V, (N,) and (n, N): ``kernels.spectrum(g.normalised()).at(nodes)``.
    """
    checks.instance(parameters, Hyperparameters, "parameters", "models.gp.hyperparameters(...)")
    eigenvalues, vectors = _spectrum(spectrum)
    half = vectors * jnp.exp(-(parameters.lengthscale**2) * (1 - eigenvalues) / 2)
    return parameters.variance * half @ half.T


def diffusion_features(parameters, deposits):
    """Features of K on walks that stay, K ~ phi phi^T, differentiable in the hyper-parameters.

    ::

        phi = sqrt(kappa) deposits.with_modulation(modulation.of_kernel(Diffusion.of_lengthscale(gamma)))

    Args:
        parameters, deposits: Hyperparameters; of :func:`rfcore.features.by_step`, of walks on normalised
            weights.

    Returns:
        DepositFeatures.
    """
    checks.instance(parameters, Hyperparameters, "parameters", "models.gp.hyperparameters(...)")
    checks.instance(deposits, features.DepositsByStep, "deposits", "those of features.by_step(walks.simulate(...))")
    phi = deposits.with_modulation(features.modulation.of_kernel(Diffusion.of_lengthscale(parameters.lengthscale)))
    return replace(phi, values=jnp.sqrt(parameters.variance) * phi.values)


def walk_loss(parameters, deposits, y):
    """Minus the log evidence per observation on walks that stay, for descent to make small.

    The covariance of the n nodes that were seen is formed: O(n^2 (N + n)). Arguments as for
    :func:`diffusion_features`, with one row of deposits per observation,
    ``walks.simulate(key, g, lengths, nodes=seen)``.

    >>> import jax, networkx, numpy as np, optax
    >>> from rfcore import features, graphs, models, walks
    >>> from rfcore.couplings import walk_lengths
    >>> from rfcore.solvers import descent
    >>> key, g = jax.random.key(0), graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> seen = np.arange(20)
    >>> deposits = features.by_step(walks.simulate(key, g, walk_lengths.draw(key, 20, 16, 0.4), nodes=seen))
    >>> data, start = (deposits, np.sin(seen)), models.gp.hyperparameters()
    >>> learned = descent.learn(models.gp.walk_loss, start, data, n_steps=5, optimiser=optax.adam(0.1))
    >>> bool(learned.losses[-1] < learned.losses[0])
    True
    """
    phi = diffusion_features(parameters, deposits)
    return -log_evidence_of_features(phi, y, parameters.noise) / phi.shape[0]


def exact_loss(parameters, spectrum, y):
    """Minus the log evidence per observation for the kernel itself, for descent to make small.

    Arguments as for :func:`diffusion_covariance`, with the rows of the nodes that y are the values of.
    """
    y = vector(y)
    return -log_evidence(diffusion_covariance(parameters, spectrum), y, parameters.noise) / len(y)


def predictive_kl(approximate, exact, noise):
    """Divergence KL(approximate | exact) of two posterior laws of new observations.

    ::

        KL(N(m_1, C_1 + s^2 I) | N(m_2, C_2 + s^2 I)),   1 the approximate, 2 the exact posterior

    It is not divided by the number of nodes.

    Source: Variance-Reducing Couplings, Figures 4 and 11, without the direction or whether noise is in.
    """
    checks.instance(approximate, Posterior, "approximate", "a Posterior, as of models.gp.posterior(...)")
    checks.instance(exact, Posterior, "exact", "a Posterior, as of models.gp.posterior(...)")
    noise = checks.real(noise, "noise", above=0)
    (mean_1, C_1), (mean_2, C_2) = ((mean, C + noise * jnp.eye(len(mean))) for mean, C in (approximate, exact))
    return kl(mean_1, C_1, mean_2, C_2)


def _spectrum(spectrum):
    """Eigenvalues of normalised weights and eigenvectors that fit together."""
    mend = "give kernels.spectrum(g.normalised()), or its .at(nodes)"
    try:
        eigenvalues, vectors = spectrum
    except (TypeError, ValueError):
        raise ValueError(f"spectrum is of type {type(spectrum).__name__}; {mend}") from None
    eigenvalues, vectors = vector(eigenvalues, "spectrum"), checks.points(vectors, "spectrum")
    if vectors.shape[1] != len(eigenvalues):
        raise ValueError(f"spectrum has shapes {eigenvalues.shape} and {vectors.shape}; {mend}")
    if isinstance(spectrum, Spectrum):
        if not spectrum.is_normalised:
            raise ValueError(f"spectrum has weights that are not normalised; {mend}")
    elif not checks.is_traced(eigenvalues):  # a pair, which does not say what it is of
        with jax.ensure_compile_time_eval():
            largest = float(eigenvalues.max())
        if largest > 1 + 1e3 * jnp.finfo(eigenvalues.dtype).eps:
            raise ValueError(f"spectrum has an eigenvalue of {largest:.3g}, and normalised weights of 1 at most; {mend}")
    return eigenvalues, vectors

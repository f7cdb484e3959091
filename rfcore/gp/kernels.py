"""Kernels for GPJax: of the nodes of a graph, by eigenvectors or by walks, with hyper-parameters of its kind.

A kernel of GPJax takes points as rows of an array. A node's row is what its covariances are made of: its
entries of the eigenvectors (:class:`Diffusion`), the loads that its walks left by step (:class:`Walks`). For
other features phi, (n, m), of points or nodes, ``gpjax.kernels.Linear()`` is the kernel phi phi^T; and
``gpjax.kernels.RFF(base, m, frequencies=couplings.simplex(key, m, d) / lengthscale)`` takes any coupling.
"""

import equinox
import jax
import jax.numpy as jnp
import numpy as np

try:
    from gpjax.kernels import AbstractKernel
    from gpjax.kernels.computations import AbstractKernelComputation
    from gpjax.parameters import PositiveReal, val
except ModuleNotFoundError as error:
    mend = 'pip install ".[gp]" in a checkout'
    raise ModuleNotFoundError(f"{error.name} is missing; rfcore.gp needs the extra gp: {mend}", name=error.name) from error

from rfcore import checks, features, kernels, walks


class _Products(AbstractKernelComputation):
    """Of kernels that are products of features: a matrix product in place of a product for each pair."""

    def _cross_covariance(self, kernel, x, y):
        return kernel.features(x) @ kernel.features(y).T


_PRODUCTS = _Products()  # one for all kernels: what is compiled for one then serves others of its kind


class _OfFeatures(AbstractKernel):
    """phi phi^T for ``features``, rows to features; X may have columns of other kernels (``active_dims``)."""

    def __call__(self, x, y):
        """One entry, from two rows."""
        return self.features(x) @ self.features(y)


class Diffusion(_OfFeatures):
    """Diffusion kernel of the nodes of a graph, exactly, on rows of eigenvectors.

    ::

        K = variance V exp(-lengthscale^2 (1 - lambda)) V^T,    W = V diag(lambda) V^T

    W are normalised weights: the kernel is variance exp(-lengthscale^2 L) of the normalised Laplacian L.

    Args:
        eigenvalues: lambda, (N,), from ``kernels.spectrum(g.normalised())``, whose eigenvectors' rows are X.
        lengthscale, variance: gamma and kappa, above 0, numbers or parameters of GPJax.

    Source: Variance-Reducing Couplings, Appendix F.2.

    >>> import gpjax as gpx, jax, networkx, numpy as np
    >>> from rfcore import gp, graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> eigenvalues, rows = kernels.spectrum(g)
    >>> kernel = gp.Diffusion(eigenvalues, lengthscale=1.0)
    >>> prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel)
    >>> seen = gpx.Dataset(X=rows[:20], y=np.sin(np.arange(20.0))[:, None])
    >>> predicted = (prior * gpx.likelihoods.Gaussian()).predict(rows[20:], train_data=seen)
    >>> predicted.mean.shape
    (14,)
    """

    eigenvalues: tuple = equinox.field(static=True, repr=False)
    lengthscale: object
    variance: object

    def __init__(self, eigenvalues, lengthscale=1.0, variance=1.0, active_dims=None):
        eigenvalues = np.asarray(checks.vector(checks.known(eigenvalues, "eigenvalues"), "eigenvalues"), dtype=float)
        if not eigenvalues.max() <= 1 + 1e-6:
            raise ValueError(f"eigenvalues has the value {eigenvalues.max():.3g}; give those of g.normalised(), of 1 at most")
        super().__init__(active_dims, compute_engine=_PRODUCTS)
        self.eigenvalues = tuple(eigenvalues.tolist())
        self.lengthscale, self.variance = _parameter(lengthscale, "lengthscale"), _parameter(variance, "variance")

    def features(self, x):
        """Rows of sqrt(variance) V exp(-lengthscale^2 (1 - lambda) / 2)."""
        x, rates = self.slice_input(x), 1 - np.array(self.eigenvalues)
        if x.shape[-1] != len(rates):
            got = f"X has {x.shape[-1]} column{'s' * (x.shape[-1] != 1)} for {len(rates)} eigenvalues"
            raise ValueError(f"{got}; give rows of kernels.spectrum, not node numbers")
        rates[abs(rates) <= 4 * len(rates) * np.finfo(float).eps] = 0  # else a large lengthscale shows their rounding
        half, lengthscale = jnp.asarray(rates / 2, dtype=x.dtype), val(self.lengthscale)
        return jnp.sqrt(val(self.variance)) * x * jnp.exp(-lengthscale * (lengthscale * half))


class Walks(_OfFeatures):
    """Kernel of walk features on walks that stay, differentiable in the modulation: X has loads by step.

    ::

        K = variance phi phi^T,    phi = sum_k f(k) X_k,    f = modulation(lengthscale)

    One shared set of walks: K is positive semidefinite, and its diagonal biased upwards.

    Args:
        n_steps: of X, (n, n_steps N), which :func:`loads` makes.
        lengthscale, variance: as for :class:`Diffusion`; the lengthscale may be any pytree of parameters.
        modulation: from the lengthscale to a function of the number of steps; by default the diffusion
            kernel's, exp(-lengthscale^2 L).

    Source: Universal Graph Random Features, Section 3.4; Variance-Reducing Couplings, Appendix F.2.

    >>> import jax
    >>> from rfcore import gp, graphs, walks
    >>> g = graphs.Graph.from_edges([[0, 1, 2], [1, 2, 3]]).normalised()
    >>> lengths = walks.lengths.draw(jax.random.key(0), g.n_nodes, n_walks=8, p_halt=0.5)
    >>> X = gp.loads(walks.simulate(jax.random.key(0), g, lengths), n_steps=40)
    >>> gp.Walks(40).gram(X).as_matrix().shape
    (4, 4)
    """

    n_steps: int = equinox.field(static=True)
    modulation: object = equinox.field(static=True)
    lengthscale: object
    variance: object

    def __init__(self, n_steps, lengthscale=1.0, variance=1.0, modulation=None, active_dims=None):
        super().__init__(active_dims, compute_engine=_PRODUCTS)
        self.n_steps, self.modulation = checks.count(n_steps, "n_steps"), modulation or diffusion
        is_number = jax.tree_util.all_leaves([val(lengthscale)]) and np.ndim(val(lengthscale)) == 0
        self.lengthscale = _parameter(lengthscale, "lengthscale") if is_number else lengthscale
        self.variance = _parameter(variance, "variance")

    def features(self, x):
        """Rows of sqrt(variance) sum_k f(k) X_k."""
        f = self.modulation(val(self.lengthscale))(jnp.arange(self.n_steps))
        x = self.slice_input(x)
        if not x.shape[-1] or x.shape[-1] % self.n_steps:
            got = f"X has {x.shape[-1]} columns, and n_steps = {self.n_steps}"
            raise ValueError(f"{got}; give what gp.loads(deposits, {self.n_steps}) returns")
        loads = x.reshape(*x.shape[:-1], self.n_steps, -1)
        return jnp.sqrt(val(self.variance)) * jnp.einsum("...kn,k->...n", loads, f.astype(x.dtype))


def diffusion(lengthscale):
    """Modulation of exp(-lengthscale^2 L)."""
    return features.modulation.of_kernel(kernels.Diffusion.from_lengthscale(lengthscale))


def loads(deposits, n_steps):
    """What walks left at each step at each node, dense: X of :class:`Walks`.

    Args:
        deposits: of :func:`rfcore.walks.simulate` on normalised weights, a row per node that X is of.
        n_steps: steps that are counted, more than the longest walk has hops.

    Returns:
        float64 array, (n, n_steps N).
    """
    n_steps = checks.count(n_steps, "n_steps")
    if not walks.checked(deposits).is_normalised:
        raise ValueError("deposits has walks on weights that are not normalised; walk on g.normalised()")
    if n_steps <= (longest := int(deposits.step.max(initial=0))):
        raise ValueError(f"n_steps = {n_steps}, and a walk has {longest} hops; give at least {longest + 1}")
    X = np.zeros((deposits.n_rows, n_steps, deposits.n_nodes))
    np.add.at(X, (deposits.row, deposits.step, deposits.node), deposits.load / deposits.n_walks)
    return X.reshape(deposits.n_rows, -1)


def _parameter(value, name):
    """A number as a parameter above 0; a parameter of GPJax, and what is traced, as it is."""
    number = checks.real(val(value), name, above=0)
    if checks.is_traced(number) or val(value) is not value:
        return value
    with np.errstate(over="ignore", under="ignore"):  # in float32
        number = checks.real(np.asarray(number, dtype=jnp.result_type(float)), name, above=0)
    return PositiveReal(jnp.asarray(number, dtype=float))

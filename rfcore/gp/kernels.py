"""Kernels between the nodes of a graph for GPJax, by eigenvectors or by walks, with GPJax's parameters.

GPJax's kernels take points as rows of an array. Here a row holds what the covariances of a node are computed
from: its entries in the eigenvectors (:class:`Diffusion`), or the loads of its walks by step
(:class:`Walks`). For other features phi, (n, m), of points or nodes, ``gpjax.kernels.Linear()`` is the kernel
phi phi^T; and ``gpjax.kernels.RFF(base, m, frequencies=couplings.simplex(key, m, d) / lengthscale)`` takes
any coupling.
"""
# pyright: reportGeneralTypeIssues=false
# Equinox allows fields without defaults after others in a record with an ``__init__`` of its own.

from collections.abc import Callable
from typing import Any

import equinox
import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PyTree, Real

try:
    from gpjax.kernels import AbstractKernel
    from gpjax.kernels.computations import AbstractKernelComputation
    from gpjax.parameters import AbstractUnwrappable, PositiveReal, val
except ModuleNotFoundError as error:
    mend = 'pip install ".[gp]" in a checkout'
    raise ModuleNotFoundError(f"{error.name} is missing; rfcore.gp needs the extra gp: {mend}", name=error.name) from error

from rfcore import checks, features, kernels, walks
from rfcore.walks.deposits import Deposits
from rfcore.walks.modulation import Modulation, OfKernel


class _Products(AbstractKernelComputation):
    """Covariances of kernels phi phi^T, by one matrix product in place of a scalar product per pair."""

    def _cross_covariance(
        self, kernel: Any, x: Real[Array | np.ndarray, "n d"], y: Real[Array | np.ndarray, "l d"]
    ) -> Float[Array, "n l"]:
        return kernel.features(x) @ kernel.features(y).T


_PRODUCTS = _Products()  # shared by all kernels, so that compiled code is reused by others of the same type


class _OfFeatures(AbstractKernel):
    """Kernel phi phi^T, phi = ``features(X)``; X may have columns of other kernels (``active_dims``)."""

    # The subclasses define ``features``, hence ``self: Any``.
    def __call__(
        self: Any, x: Real[Array | np.ndarray, " d"], y: Real[Array | np.ndarray, " d"]
    ) -> Float[Array, ""]:
        """One entry, from two rows."""
        return self.features(x) @ self.features(y)

    def _written(self: Any, *more: str) -> str:
        dims = "" if self.active_dims == slice(None) else f"active_dims={self.active_dims}"
        named = [f"{name}={_shown(getattr(self, name))}" for name in ("lengthscale", "variance")]
        return f"{type(self).__name__}({', '.join(filter(None, [*named, *more, dims]))})"


class Diffusion(_OfFeatures):
    """Exact diffusion kernel between nodes of a graph, each given by its row of eigenvectors.

    ::

        K = variance V exp(-lengthscale^2 (1 - lambda)) V^T,    W = V diag(lambda) V^T

    with the normalised weights W: the kernel is variance exp(-lengthscale^2 L), L the normalised Laplacian.

    Args:
        eigenvalues: lambda, from ``kernels.spectrum(g.normalised())``; X has the rows of its eigenvectors.
        lengthscale, variance: gamma and kappa, above 0, numbers or parameters of GPJax.

    Source: Variance-Reducing Couplings, Appendix F.2.

    >>> import gpjax as gpx, jax, networkx, numpy as np
    >>> from rfcore import gp, graphs, kernels
    >>> g = graphs.Graph.from_networkx(networkx.karate_club_graph()).normalised()
    >>> eigenvalues, rows = kernels.spectrum(g)
    >>> kernel = gp.Diffusion(eigenvalues, lengthscale=1.0)
    >>> kernel
    Diffusion(lengthscale=1.0, variance=1.0, 34 eigenvalues)
    >>> prior = gpx.gps.Prior(mean_function=gpx.mean_functions.Zero(), kernel=kernel)
    >>> seen = gpx.Dataset(X=rows[:20], y=np.sin(np.arange(20.0))[:, None])
    >>> predicted = (prior * gpx.likelihoods.Gaussian()).predict(rows[20:], train_data=seen)
    >>> predicted.mean.shape
    (14,)
    """

    eigenvalues: tuple[float, ...] = equinox.field(static=True, repr=False)
    lengthscale: AbstractUnwrappable | Real[Array, ""]
    variance: AbstractUnwrappable | Real[Array, ""]

    def __init__(
        self,
        eigenvalues: Real[ArrayLike, " N"],
        lengthscale: AbstractUnwrappable | Real[ArrayLike, ""] = 1.0,
        variance: AbstractUnwrappable | Real[ArrayLike, ""] = 1.0,
        active_dims: list[int] | slice | None = None,
    ) -> None:
        eigenvalues = np.asarray(checks.vector(checks.known(eigenvalues, "eigenvalues"), "eigenvalues"), dtype=float)
        if not eigenvalues.max() <= 1 + 1e-6:
            raise ValueError(f"eigenvalues has the value {eigenvalues.max():.3g}; give those of g.normalised(), of 1 at most")
        super().__init__(active_dims, compute_engine=_PRODUCTS)  # pyright: ignore[reportArgumentType]  # Equinox keeps GPJax's __init__, which takes None
        self.eigenvalues = tuple(eigenvalues.tolist())
        self.lengthscale, self.variance = _parameter(lengthscale, "lengthscale"), _parameter(variance, "variance")

    def __repr__(self) -> str:
        n = len(self.eigenvalues)
        return self._written(f"{n} eigenvalue{'s' * (n != 1)}")

    def features(self, x: Real[Array | np.ndarray, "*n columns"]) -> Float[Array, "*n N"]:
        """Rows of sqrt(variance) V exp(-lengthscale^2 (1 - lambda) / 2)."""
        x, rates = checks.floating(self.slice_input(x), "X"), 1 - np.array(self.eigenvalues)
        if x.shape[-1] != len(rates):
            got = f"X has {x.shape[-1]} column{'s' * (x.shape[-1] != 1)} for {len(rates)} eigenvalues"
            raise ValueError(f"{got}; give rows of kernels.spectrum, not node numbers")
        rates[abs(rates) <= 4 * len(rates) * np.finfo(float).eps] = 0  # their rounding would matter at a large lengthscale
        half, lengthscale = jnp.asarray(rates / 2, dtype=x.dtype), val(self.lengthscale)
        return jnp.sqrt(val(self.variance)) * x * jnp.exp(-lengthscale * (lengthscale * half))


class Walks(_OfFeatures):
    """Kernel of walk features on fixed walks, differentiable in the modulation; X holds loads by step.

    ::

        K = variance phi phi^T,    phi = sum_k f(k) X_k,    f = modulation(lengthscale)

    Both factors have the same walks: K is positive semidefinite, and its diagonal is biased upwards.

    Args:
        n_steps: number of steps in X, (n, n_steps N), from :func:`loads`.
        lengthscale, variance: as for :class:`Diffusion`; the lengthscale may be any pytree of parameters.
        modulation: maps the lengthscale to a modulation f; by default that of the diffusion kernel
            exp(-lengthscale^2 L).

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
    modulation: Callable[[Any], Modulation] = equinox.field(static=True)
    lengthscale: PyTree
    variance: AbstractUnwrappable | Real[Array, ""]

    def __init__(
        self,
        n_steps: int,
        lengthscale: PyTree = 1.0,
        variance: AbstractUnwrappable | Real[ArrayLike, ""] = 1.0,
        modulation: Callable[[Any], Modulation] | None = None,
        active_dims: list[int] | slice | None = None,
    ) -> None:
        super().__init__(active_dims, compute_engine=_PRODUCTS)  # pyright: ignore[reportArgumentType]  # Equinox keeps GPJax's __init__, which takes None
        self.n_steps, self.modulation = checks.count(n_steps, "n_steps"), modulation or diffusion
        is_number = jax.tree_util.all_leaves([val(lengthscale)]) and np.ndim(val(lengthscale)) == 0
        self.lengthscale = _parameter(lengthscale, "lengthscale") if is_number else lengthscale
        self.variance = _parameter(variance, "variance")

    def __repr__(self) -> str:
        other = "" if self.modulation is diffusion else f"modulation={equinox.tree_pformat(self.modulation)}"
        return self._written(f"n_steps={self.n_steps}", other)

    def features(self, x: Real[Array | np.ndarray, "*n columns"]) -> Float[Array, "*n N"]:
        """Rows of sqrt(variance) sum_k f(k) X_k."""
        f = self.modulation(val(self.lengthscale))(jnp.arange(self.n_steps))
        x = checks.floating(self.slice_input(x), "X")
        if not x.shape[-1] or x.shape[-1] % self.n_steps:
            got = f"X has {x.shape[-1]} columns, and n_steps = {self.n_steps}"
            raise ValueError(f"{got}; give what gp.loads(deposits, {self.n_steps}) returns")
        loads = x.reshape(*x.shape[:-1], self.n_steps, -1)
        return jnp.sqrt(val(self.variance)) * jnp.einsum("...kn,k->...n", loads, f.astype(x.dtype))


def diffusion(lengthscale: float | Real[Array, ""]) -> OfKernel:
    """Modulation of exp(-lengthscale^2 L)."""
    return features.modulation.of_kernel(kernels.Diffusion.from_lengthscale(lengthscale))


def loads(deposits: Deposits, n_steps: int) -> Float[np.ndarray, "n columns"]:
    """Mean loads of walks by step and node, dense: X of :class:`Walks`.

    Args:
        deposits: from :func:`rfcore.walks.simulate` on normalised weights; X has their rows.
        n_steps: more than the number of hops of the longest walk.

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


def _parameter(value: Any, name: str) -> AbstractUnwrappable | Real[Array, ""]:
    """A number as a positive parameter; parameters of GPJax and traced values are returned unchanged."""
    number = checks.real(val(value), name, above=0)
    if checks.is_traced(number) or val(value) is not value:
        return value
    with np.errstate(over="ignore", under="ignore"):  # of a cast to float32
        number = checks.real(np.asarray(number, dtype=jnp.result_type(float)), name, above=0)
    return PositiveReal(jnp.asarray(number, dtype=float))


def _shown(parameters: PyTree) -> str:
    """Numbers in three digits; what has none, as inside jax.jit, as Equinox shows it."""

    def short(x: Any) -> Any:
        leaves = [leaf for leaf in jax.tree.leaves(x) if not callable(leaf)]
        if not leaves or not all(map(_has_values, leaves)):
            return x
        with jax.ensure_compile_time_eval():
            number = val(x)
            return float(f"{float(number):.3g}") if np.ndim(number) == 0 else number

    is_parameter = lambda x: isinstance(x, AbstractUnwrappable)  # noqa: E731
    return equinox.tree_pformat(jax.tree.map(short, parameters, is_leaf=is_parameter))


def _has_values(leaf: Any) -> bool:
    """Whether a leaf is a float or an array of floats, neither traced, nor donated, nor a stand-in."""
    if not isinstance(leaf, float | np.floating | np.ndarray | jax.Array) or checks.is_traced(leaf):
        return False
    is_gone = isinstance(leaf, jax.Array) and leaf.is_deleted()
    return jnp.issubdtype(jnp.result_type(leaf), jnp.floating) and not is_gone

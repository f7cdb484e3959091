"""Random features as a scikit-learn transformer; scikit-learn comes with the extra ``sklearn``."""

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp
from jax.typing import ArrayLike
from jaxtyping import Array, Float, PRNGKeyArray

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import Tags, check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    mend = 'pip install ".[sklearn]" in a checkout'
    raise ModuleNotFoundError(f"{error.name} is missing; rfcore.estimators needs the extra sklearn: {mend}", name=error.name) from error

from rfcore import checks, couplings
from rfcore import features as maps
from rfcore.choosing import choose
from rfcore.features.frequencies import Frequencies

FEATURES = ("fourier", "trigonometric", "positive")
ROWS = 4096  # points in one block: its features stay in the cache
PRODUCTS = {"iid": couplings.compose("independent")} | {
    name: coupling for name, coupling in couplings.COUPLINGS.items() if isinstance(coupling, couplings.Product)
}  # whose norms can be those of a Matérn kernel


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Products:
    """Frequencies of sparse points that SciPy has multiplied by them; the first k are used twice."""

    m: int
    k: int
    log_weights = None

    @property
    def d(self) -> int:
        return self.m - self.k

    def project(self, x: Float[Array, "n d"]) -> Float[Array, "n m"]:
        return jnp.concatenate([x[:, : self.k], x], axis=1)


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random features of Gaussian and Matérn kernels, for pipelines: any coupling, three feature maps.

    ::

        transform(X) @ transform(Y).T  estimates  exp(-gamma |x - y|^2),   gamma = 1 / (2 lengthscale^2)

    or :func:`rfcore.kernels.matern` of x and y over the lengthscale. Features of float32 points are computed
    in float32; everything else, frequencies included, in float64, whether or not ``jax_enable_x64`` is on.

    Args:
        n_components: number of columns, for "fourier" two per frequency; the last of an odd number is then a
            cosine of random phase. For a wanted error of the kernel with ``coupling="choose"`` it is twice
            what :func:`rfcore.choosing.n_frequencies` says.
        lengthscale: above 0; 1 if None and gamma is None.
        nu: smoothness of the Matérn kernel; 1/2 gives exp(-|x - y| / lengthscale).
        gamma: in place of a lengthscale, as for scikit-learn's RBFSampler: a number above 0, or "scale",
            1 / (number of columns of X times its variance), and 1 if that variance may be rounding alone.
        features: "fourier"; "trigonometric", one cosine of random phase per frequency, as in RBFSampler; or
            "positive", for the Gaussian kernel alone (:mod:`rfcore.features`) and for points within about
            three lengthscales of 0; farther out ``fit`` warns.
        coupling: name of a coupling, such as "orthogonal"; "choose" for :func:`rfcore.choosing.choose`; or a
            function ``(key, m, d) -> (m, d)`` (:mod:`rfcore.couplings`). For Matérn kernels "iid",
            "orthogonal", "simplex", "orthogonal_pnc", "orthogonal_pm" or a function that draws their
            frequencies. "sobol" is best with a power of two of frequencies: with 500 in place of 512 (1,000
            components) the error at one lengthscale is 3 times as large in 2 dimensions, 2.0 times in 4 and
            1.4 times in 8.
        random_state: as everywhere in scikit-learn.

    Attributes:
        random_weights_: frequencies over the lengthscale, as columns, (d, m).
        random_offset_: phases, (m,), of cosines of random phase.
        gamma_: the kernel's gamma.

    >>> import numpy as np
    >>> from rfcore.estimators import RandomFeatures
    >>> X = np.random.default_rng(0).normal(size=(100, 3))
    >>> phi = RandomFeatures(2000, gamma=0.1, random_state=0).fit_transform(X)
    >>> bool(abs(phi[:1] @ phi[1:2].T - np.exp(-0.1 * np.sum((X[0] - X[1]) ** 2))) < 0.1)
    True
    """

    def __init__(
        self,
        n_components: int | np.integer = 100,
        kernel: Literal["gaussian", "matern"] = "gaussian",
        *,
        lengthscale: float | None = None,
        nu: float = 1.5,
        gamma: float | Literal["scale"] | None = None,
        features: Literal["fourier", "trigonometric", "positive"] = "fourier",
        coupling: str | Callable[[PRNGKeyArray, int, int], Frequencies | Float[ArrayLike, "m d"]] = "orthogonal",
        random_state: int | np.random.RandomState | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.nu = nu
        self.gamma = gamma
        self.features = features
        self.coupling = coupling
        self.random_state = random_state

    def fit(self, X: Any, y: Any = None) -> "RandomFeatures":
        """Draw frequencies for the number of columns and the dtype of X; with "scale" its values set gamma.

        Args:
            X: points, (n, d): an array, a data frame or a SciPy sparse array, or a Dask array, whose first
                block is read.
            y: ignored.
        """
        if _is_lazy(X):
            if self.gamma == "scale" and self.lengthscale is None:
                raise ValueError("gamma = 'scale' with a Dask array; give a number, such as 1 / (X.shape[1] * float(X.var()))")
            X = X.blocks[0].compute()
        X = self._points(X)
        m, draw = self._checked()
        self.gamma_ = self._gamma_of(X)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        with jax.enable_x64(True):
            of_weights, of_phases = jax.random.split(jax.random.key(seed))
            omega = _matrix(draw(of_weights, m, X.shape[1]), m, X.shape[1])
            phases = np.asarray(jax.random.uniform(of_phases, (m,), maxval=2 * np.pi))
        weights = np.sqrt(2 * self.gamma_) * omega.T
        self._refuse_overflow(X, weights)
        self.random_weights_, self.random_offset_ = weights.astype(X.dtype), phases.astype(X.dtype)
        self._is_positive, self._n_features_out = self.features == "positive", int(self.n_components)
        if self._is_positive:
            _warn_of_far_points(_squares(X * np.sqrt(2 * self.gamma_)), m)
        return self

    def transform(self, X: Any) -> Float[np.ndarray, "n n_components"]:
        """Features of points.

        Args:
            X: points, (n, d), as for :meth:`fit`; features of a Dask array are one, block by block.
        """
        check_is_fitted(self)
        if _is_lazy(X):
            X = X.rechunk({1: -1})
            dtype = np.float32 if X.dtype == np.float32 else np.float64
            return X.map_blocks(self.transform, dtype=dtype, chunks=(X.chunks[0], (self._n_features_out,)), meta=np.empty((0, 0), dtype))
        X = self._points(X, reset=False)
        self._refuse_overflow(X, self.random_weights_)
        n, dtype = self._n_features_out, X.dtype
        scale, weights = np.sqrt(2 * self.gamma_).astype(dtype), self.random_weights_.astype(dtype)
        k = n - weights.shape[1]  # pairs; all features are cosines, one of each pair a quarter turn late
        phases = np.concatenate([np.full(k, -np.pi / 2), np.zeros(k), self.random_offset_[k:]]).astype(dtype)
        phi = np.empty((X.shape[0], n), dtype)
        with jax.enable_x64(dtype == np.float64):
            omega = _Products(n, k) if sp.issparse(X) else jnp.asarray(np.concatenate([weights[:, :k], weights], axis=1).T / scale)
            for start in range(0, len(phi), ROWS):
                rows = X[start : start + ROWS]
                if self._is_positive and sp.issparse(X):
                    block = np.exp(rows @ weights - _squares(rows * scale)) / np.sqrt(n, dtype=dtype)
                else:
                    # Points are scaled, not frequencies: positive features depend on |x|^2 too.
                    x = jnp.asarray(_padded(rows @ weights if sp.issparse(X) else rows * scale))
                    block = maps.positive(x, omega) if self._is_positive else maps.trigonometric(x, omega, phases)
                phi[start : start + ROWS] = np.asarray(block)[: rows.shape[0]]
        return phi

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _points(self, X: Any, reset: bool = True) -> Float[np.ndarray, "n d"] | sp.csr_array:
        types = getattr(X, "dtypes", None)
        for dtype in [getattr(X, "dtype", None)] if types is None else types:
            if getattr(dtype, "kind", "") in ("M", "m"):
                raise ValueError(f"X has dtype {dtype}; give times as numbers of a unit, from an origin, of your choice")
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=reset)
        if not sp.issparse(X):
            return X
        X = sp.csr_array(X, copy=not X.has_canonical_format)  # not csr_matrix, whose sums are matrices
        X.sum_duplicates()
        return X

    def _refuse_overflow(
        self, X: Float[np.ndarray, "n d"] | sp.csr_array, weights: Float[np.ndarray, "d m"]
    ) -> None:
        largest, range_ = float(max(X.max(), -X.min())), np.finfo(X.dtype)
        unit, reach = float(np.sqrt(2 * self.gamma_)), float(np.abs(weights).sum(axis=0, dtype=np.float64).max())
        if unit < float(range_.tiny) or max(unit, reach) * max(1.0, largest) >= float(range_.max):
            got = f"gamma = {self.gamma_:.3g} and X, of values up to {largest:.3g}, have products outside the range of {X.dtype}"
            raise ValueError(f"{got}; scale X, or give float64")

    def _checked(self) -> tuple[int, Callable[[PRNGKeyArray, int, int], Any]]:
        """Number of frequencies and the function that draws them, from parameters that are checked here."""
        n = checks.count(self.n_components, "n_components")
        is_matern = checks.choice(self.kernel, "kernel", ("gaussian", "matern")) == "matern"
        checks.choice(self.features, "features", FEATURES)
        if is_matern and self.features == "positive":
            raise ValueError("features = 'positive' with kernel = 'matern', which has none; give 'fourier' or 'trigonometric'")
        if callable(self.coupling):
            draw = self.coupling
        elif self.coupling == "choose" and not is_matern:
            draw = partial(_chosen, "positive" if self.features == "positive" else "fourier")
        elif is_matern:
            draw = replace(PRODUCTS[checks.choice(self.coupling, "coupling", tuple(PRODUCTS))], radial=couplings.norms.Student(self.nu))
        else:
            draw = couplings.COUPLINGS[checks.choice(self.coupling, "coupling", (*couplings.COUPLINGS, "choose"))]
        return -(-n // 2) if self.features == "fourier" else n, draw

    def _gamma_of(self, X: Float[np.ndarray, "n d"] | sp.csr_array) -> np.float64:
        gamma, scale = 0.5, 1.0
        if self.lengthscale is not None:
            if self.gamma is not None:
                raise ValueError(f"gamma = {self.gamma!r} and lengthscale = {self.lengthscale!r}; give one of the two")
            scale = checks.real(self.lengthscale, "lengthscale", above=0)
        elif isinstance(self.gamma, str):
            if self.gamma != "scale":
                raise ValueError(f"gamma = {self.gamma!r}; give 'scale' or a number above 0")
            variance, scale = _variance(X)
            gamma = 1 / (X.shape[1] * variance)  # pyright: ignore[reportOptionalSubscript]  # SciPy is untyped: None is inferred, too
        elif self.gamma is not None:
            gamma = checks.real(self.gamma, "gamma", above=0)
        found = gamma / scale / scale
        if not np.finfo(np.float64).tiny <= found <= np.finfo(np.float64).max / 2:
            given = f"gamma = {self.gamma!r}" if self.lengthscale is None else f"lengthscale = {self.lengthscale!r}"
            raise ValueError(f"{given}, of the kernel exp(-{found:.3g} |x - y|^2), outside the range of float64; scale X")
        return np.float64(found)


def _is_lazy(X: Any) -> bool:
    return type(X).__module__.startswith("dask.array")


def _variance(X: Float[np.ndarray, "n d"] | sp.csr_array) -> tuple[float, float]:
    """Variance of X / scale, and the scale: no square overflows, and gamma is 1 if X is constant."""
    largest = float(max(X.max(), -X.min())) or 1.0
    entries, n = (X.data if sp.issparse(X) else X) / np.float64(largest), math.prod(X.shape)  # pyright: ignore[reportOperatorIssue, reportCallIssue, reportArgumentType]  # likewise
    mean = float(entries.sum()) / n
    variance = float(np.sum((entries - mean) ** 2) + (n - entries.size) * mean**2) / n
    # Rounding error of a zero variance in two passes over n numbers: Chan, Golub and LeVeque, as in scikit-learn by column.
    eps = np.finfo(np.float64).eps
    if variance <= n * eps * variance + (n * mean * eps) ** 2:
        return 1 / X.shape[1], 1.0  # pyright: ignore[reportOptionalSubscript]
    return variance, largest


@np.errstate(over="ignore")
def _squares(X: Float[np.ndarray, "n d"] | sp.csr_array) -> Float[np.ndarray, "n 1"]:
    return (X * X).sum(axis=1).reshape(-1, 1)


def _warn_of_far_points(squares: Float[np.ndarray, "n 1"], m: int) -> None:
    # |phi(x)|^2 has the mean 1 and is a mean of m terms exp(2 omega . x - 2 |x|^2), which the largest dominates.
    far = float(np.median(squares))
    typical = math.exp(-(max(0.0, math.sqrt(2 * far) - math.sqrt(math.log(m))) ** 2))
    if typical < 1e-3:
        got = f"most points of X are {math.sqrt(far):.3g} lengthscales from 0 or more, where {m} positive features estimate"
        warnings.warn(f"{got} k(x, x) = 1 by {typical:.0e}; centre X, give a smaller gamma, or 'fourier'", stacklevel=3)


def _padded(x: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n_padded d"]:
    """``x`` with rows of zeros up to a power of two, so that few shapes are compiled."""
    return np.pad(x, ((0, max(16, couplings.fast.padded(len(x))) - len(x)), (0, 0)))


def _chosen(kind: Literal["fourier", "positive"], key: PRNGKeyArray, m: int, d: int) -> Float[Array, "m d"]:
    return choose(m=m, d=d, features=kind).coupling(key, m, d)


def _matrix(omega: Frequencies | Float[ArrayLike, "n d"], m: int, d: int) -> Float[np.ndarray, "m d"]:
    """Frequencies as an array, also those that are given as products with them."""
    omega = maps.frequencies.as_frequencies(omega, d)
    if omega.m != m or omega.log_weights is not None:
        got = f"coupling gives {omega.m} frequencies{'' if omega.log_weights is None else ' with log weights'}"
        raise ValueError(f"{got}; give {m}, not weighted")
    return np.asarray(omega.matrix if isinstance(omega, (maps.frequencies.Dense, couplings.fast.Frequencies)) else omega.project(jnp.eye(d)).T)

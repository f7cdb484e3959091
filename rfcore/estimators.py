"""Random features as a scikit-learn transformer; the extra ``sklearn`` brings scikit-learn."""

from dataclasses import dataclass
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
import scipy.sparse as sp

try:
    from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
    from sklearn.utils import check_random_state
    from sklearn.utils.validation import check_is_fitted, validate_data
except ModuleNotFoundError as error:
    mend = 'pip install ".[sklearn]" in a checkout'
    raise ModuleNotFoundError(f"{error.name} is missing; rfcore.estimators needs the extra sklearn: {mend}", name=error.name) from error

from rfcore import checks, couplings
from rfcore import features as maps

COUPLINGS = (
    "iid", "orthogonal", "simplex", "simplex_plus", "orthogonal_pnc", "orthogonal_pm", "halton", "sobol", "orthogonal_fast", "simplex_fast"
)  # fmt: skip
FEATURES = ("fourier", "trigonometric", "positive")
OF_MATERN = {  # directions and the law of lengths of couplings that are such a product
    "iid": (couplings.directions.independent, "independent"),
    "orthogonal": (couplings.directions.orthogonal, "independent"),
    "simplex": (couplings.directions.simplex, "independent"),
    "orthogonal_pnc": (couplings.directions.orthogonal, "reversal"),
    "orthogonal_pm": (couplings.directions.orthogonal, "comonotone"),
}


@jax.tree_util.register_static
@dataclass(frozen=True)
class _Products:
    """Frequencies of points that are their products with m frequencies."""

    m: int
    log_weights = None

    @property
    def d(self):
        return self.m

    def project(self, x, unit=1.0, copies=1):
        return jnp.tile(x / unit, copies)


class RandomFeatures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Random features of Gaussian and Matérn kernels, for pipelines: any coupling, three feature maps.

    ::

        transform(X) @ transform(Y).T  estimates  exp(-gamma |x - y|^2),   gamma = 1 / (2 lengthscale^2)

    or, of x and y over the lengthscale, :func:`rfcore.kernels.matern`. What is float32 is computed so; all
    else, frequencies too, in float64, whether or not ``jax_enable_x64`` is on.

    Args:
        n_components: number of columns. "fourier" has two per frequency; of an odd number the last is a
            cosine of random phase.
        kernel: "gaussian" or "matern".
        lengthscale: above 0; 1 if None and gamma is None.
        nu: smoothness of the Matérn kernel; 1/2 for Laplace's.
        gamma: in place of a lengthscale, as for scikit-learn's RBFSampler: a number above 0, or "scale",
            1 / (number of columns of X times its variance).
        features: "fourier", "trigonometric" (one cosine of random phase per frequency, as RBFSampler has
            them) or "positive", of the Gaussian kernel alone (:mod:`rfcore.features`).
        coupling: name of a coupling, such as "orthogonal"; "choose" for :func:`rfcore.couplings.choose`; or a
            function ``(key, m, d) -> (m, d)`` (:mod:`rfcore.couplings`). Of Matérn kernels "iid",
            "orthogonal", "simplex", "orthogonal_pnc", "orthogonal_pm" or a function that draws frequencies.
        random_state: int, RandomState or None, as everywhere in scikit-learn.

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
        n_components=100,
        kernel="gaussian",
        *,
        lengthscale=None,
        nu=1.5,
        gamma=None,
        features="fourier",
        coupling="orthogonal",
        random_state=None,
    ):
        self.n_components = n_components
        self.kernel = kernel
        self.lengthscale = lengthscale
        self.nu = nu
        self.gamma = gamma
        self.features = features
        self.coupling = coupling
        self.random_state = random_state

    def fit(self, X, y=None):
        """Draw the frequencies: of X its number of columns counts, its type, and its variance for "scale".

        Args:
            X: points, dense or sparse, (n, d).
            y: ignored.
        """
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32])
        m, draw = self._checked()
        self.gamma_ = self._gamma_of(X)
        seed = check_random_state(self.random_state).randint(np.iinfo(np.int32).max)
        with jax.enable_x64(True):
            of_weights, of_phases = jax.random.split(jax.random.key(seed))
            omega = np.asarray(_matrix(draw(of_weights, m, X.shape[1]), X.shape[1]))
            phases = np.asarray(jax.random.uniform(of_phases, (m,), maxval=2 * np.pi))
        self.random_weights_ = (np.sqrt(2 * self.gamma_) * omega.T).astype(X.dtype)
        self.random_offset_ = phases.astype(X.dtype)
        self._n_features_out = self.n_components
        return self

    def transform(self, X):
        """Features of points, (n, n_components).

        Args:
            X: points, dense or sparse, (n, d).
        """
        check_is_fitted(self)
        X = validate_data(self, X, accept_sparse="csr", dtype=[np.float64, np.float32], reset=False)
        return self._mapped(X)

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _mapped(self, X):
        with jax.enable_x64(X.dtype == np.float64):
            # Points are scaled, not frequencies: positive features have |x|^2 too.
            scale, n = np.sqrt(2 * self.gamma_).astype(X.dtype), self._n_features_out
            weights, phases = self.random_weights_.astype(X.dtype), jnp.asarray(self.random_offset_.astype(X.dtype))
            if self.features == "positive" and sp.issparse(X):
                squares = scale**2 * X.multiply(X).sum(axis=1)
                return np.exp(X @ weights - squares.reshape(-1, 1)) / np.sqrt(n, dtype=X.dtype)
            if sp.issparse(X):
                products = X @ weights
                first, last, every = ((jnp.asarray(y), _Products(y.shape[1])) for y in (products[:, :-1], products[:, -1:], products))
            else:
                x, omega = jnp.asarray(X) * scale, jnp.asarray(weights.T / scale)
                first, last, every = (x, omega[:-1]), (x, omega[-1:]), (x, omega)
            if self.features == "positive":
                return np.asarray(maps.positive(*every))
            if self.features == "trigonometric" or n == 1:
                return np.asarray(maps.trigonometric(*every, phases))
            if n % 2 == 0:
                return np.asarray(maps.fourier(*every))
            pairs, single = maps.fourier(*first), maps.trigonometric(*last, phases[-1:])
            return np.concatenate([pairs * np.sqrt((n - 1) / n), single / np.sqrt(n)], axis=1)

    def _checked(self):
        """Number of frequencies and what draws them, if parameters are what they should be."""
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
            directions, law = OF_MATERN[checks.choice(self.coupling, "coupling", tuple(OF_MATERN))]
            draw = partial(couplings.matern, nu=self.nu, draw_directions=directions, law=law)
        else:
            draw = getattr(couplings, checks.choice(self.coupling, "coupling", COUPLINGS))
        return -(-n // 2) if self.features == "fourier" else n, draw

    def _gamma_of(self, X):
        if self.lengthscale is not None:
            if self.gamma is not None:
                raise ValueError(f"gamma = {self.gamma!r} and lengthscale = {self.lengthscale!r}; give one of the two")
            return np.float64(0.5 / checks.real(self.lengthscale, "lengthscale", above=0) ** 2)
        if isinstance(self.gamma, str):
            checks.choice(self.gamma, "gamma", ("scale",))
            variance = X.multiply(X).mean() - X.mean() ** 2 if sp.issparse(X) else X.var()
            return np.float64(1 / (X.shape[1] * variance) if variance else 1.0)
        return np.float64(0.5 if self.gamma is None else checks.real(self.gamma, "gamma", above=0))


def _chosen(kind, key, m, d):
    return couplings.choose(d, m, kind).draw(key, m, d)


def _matrix(omega, d):
    """Frequencies as an array: fast ones are multiplied out."""
    return omega if isinstance(omega, jax.Array) else omega.project(jnp.eye(d)).T

"""Kernels between points of Euclidean space."""

import jax.numpy as jnp

from rfcore import checks


def gaussian(X, Y):
    """Gaussian kernel matrix, (n, l), of points X, (n, d), and Y, (l, d).

    ::

        K[i, j] = exp(-|X_i - Y_j|^2 / 2)

    A lengthscale only scales the points: pass ``X / lengthscale``. Distances come from differences, since the
    expanded square would lose half of the digits for close points; memory is therefore O(n l d).

    Source: Simplex Random Features, Eq. 4.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> K = kernels.gaussian(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[0.0, 0.0]]))
    >>> bool(np.allclose(K, [[1], [np.exp(-0.5)]]))
    True
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    return jnp.exp(-jnp.sum((X[:, None, :] - Y[None, :, :]) ** 2, axis=-1) / 2)


def softmax(X, Y):
    """Softmax kernel matrix, (n, l), of points X, (n, d), and Y, (l, d): attention before its normalisation.

    ::

        K[i, j] = exp(X_i . Y_j) = exp(|X_i|^2 / 2) exp(-|X_i - Y_j|^2 / 2) exp(|Y_j|^2 / 2)

    Raises ValueError if an exponential overflows; inside ``jax.jit``, where values are not known, it becomes
    infinite. The logarithm is ``X @ Y.T``.

    Source: Simplex Random Features, Eq. 5.

    >>> import numpy as np
    >>> from rfcore import kernels
    >>> K = kernels.softmax(np.array([[0.0, 0.0], [1.0, 0.0]]), np.array([[2.0, 1.0]]))
    >>> bool(np.allclose(K, [[1], [np.exp(2)]]))
    True
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    K = jnp.exp(X @ Y.T)
    if not checks.is_traced(K) and not jnp.isfinite(K).all():
        got = f"X @ Y.T has values up to {jnp.max(X @ Y.T):.4g}, whose exponentials overflow in {K.dtype}"
        raise ValueError(f"{got}; give shorter points, or work with X @ Y.T, the logarithm")
    return K

"""Features as FAVOR# prints them, wrong by a sign (Eq. 7) and a factor (Eq. 11); optima, which are right.

Shapes: points X and x (n, d), Y and y (l, d), frequencies omega (m, d); features of n points (n, m).
M_x and M_y are the means of x x' and y y', mu_x and mu_y those of x and y, and a* is
:func:`rfcore.solvers.exponential.best_A`.
"""

import jax.numpy as jnp

from rfcore import checks


def trigonometric(y, omega, phases):
    """Trigonometric features of y for the softmax kernel as in Eq. 7, where a minus sign does not belong.

    ::

        f(y)_i = m^(-1/2) 2^(1/2) exp(|y|^2 / 2) cos(-omega_i . y + theta_i),   theta uniform on [0, 2 pi)

    With the features of x of Eq. 6, which are right, E[f(x) . f(y)] is exp(-x . y), not exp(x . y): the mean
    over theta of 2 cos(a + theta) cos(-b + theta) is cos(a + b). Right for both is
    :func:`rfcore.features.trigonometric`.

    Source: FAVOR#, Eq. 7.
    """
    y, omega, phases = checks.points(y, "y"), checks.points(omega, "omega"), checks.floating(phases, "phases")
    if omega.shape[1] != y.shape[1] or len(omega) == 0:
        raise ValueError(f"omega has shape {omega.shape}; give frequencies of dimension {y.shape[1]}, at least one")
    if phases.shape != (len(omega),):
        raise ValueError(f"phases has shape {phases.shape}; give one number per frequency, shape ({len(omega)},)")
    growth = jnp.exp(jnp.sum(y**2, axis=1, keepdims=True) / 2)
    return growth * jnp.cos(phases - y @ omega.T) * jnp.sqrt(2 / len(omega))


def generalised_exponential(x, omega, A):
    """Generalised exponential features as in Eq. 11, where C = -1/2 and |x|^2 / 2 halve each other.

    ::

        f(x)_i = m^(-1/2) (1 - 4 A)^(d/4) exp(A |omega_i|^2 + (1 - 4 A)^(1/2) omega_i . x + C |x|^2 / 2)

    with C = -1/2, for A < 1/8: E[f(x) . f(y)] is exp(x . y) exp((|x|^2 + |y|^2) / 4). Right is C = -1, or no
    half: :func:`rfcore.solvers.exponential.gerf`. For dense features, whose C multiplies x'x, Theorem 4.1 is
    right.

    Source: FAVOR#, Eq. 11.
    """
    x, omega = checks.points(x, "x"), checks.points(omega, "omega")
    d = x.shape[1]
    if omega.shape[1] != d or len(omega) == 0:
        raise ValueError(f"omega has shape {omega.shape}; give frequencies of dimension {d}, at least one")
    if not A < 0.125:
        raise ValueError(f"A = {A}; give a number below 1/8")
    exponents = A * jnp.sum(omega**2, axis=1) + (1 - 4 * A) ** 0.5 * x @ omega.T - jnp.sum(x**2, axis=1, keepdims=True) / 4
    return (1 - 4 * A) ** (d / 4) * jnp.exp(exponents) / jnp.sqrt(len(omega))


def log_second_moment(X, Y, parameters):
    """Logarithm of the second moment Var + K^2 of dense-exponential features for every pair, (n, l).

    ::

        D^4 det(R)^(1/2) exp(2 x' (C_x + B_x' R B_x) x + 2 y' (C_y + B_y' R B_y) y + 4 x' B_x' R B_y y),
        R = (I - 8 A)^-1

    The parameters need A and B, and no centres. Right, but :func:`rfcore.theory.log_relative_moment` is a sum
    of positive terms, in which nothing cancels.

    Source: FAVOR#, Theorem 4.1, Eq. 15.
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    if parameters.centre_x is not None or parameters.centre_y is not None:
        raise ValueError(f"parameters = {parameters!r}; give features.ExponentialParameters without centres")
    inner = 1 / (1 - 8 * parameters.A)
    u, v = X @ _matrix(parameters.B_x, X).T, Y @ _matrix(parameters.B_y, X).T
    of_x = jnp.sum((X @ _matrix(parameters.C_x, X)) * X + inner * u**2, axis=1)
    of_y = jnp.sum((Y @ _matrix(parameters.C_y, X)) * Y + inner * v**2, axis=1)
    constant = 4 * parameters.log_D - jnp.sum(jnp.log(1 - 8 * parameters.A)) / 2
    return constant + 2 * of_x[:, None] + 2 * of_y + 4 * (u * inner) @ v.T


def aderf_objective(X, Y):
    """Least shifted log-variance of asymmetric features, with the A of Theorem 4.2.

    ::

        d (log(1 - 4 A) - log(1 - 8 A) / 2 + 2 (1 - 8 A)^-1 (tr Sigma / d + mu_3) + 2 mu_3)

    with Sigma the singular values of M_x^(1/2) M_y^(1/2), mu_3 = mean x . mean y / d,
    A = a*(2 tr Sigma / d + 2 mu_3).

    Source: FAVOR#, Theorem 4.2, Eq. 16.
    """
    X, Y, M_x, M_y = _sets(X, Y)
    d = X.shape[1]
    values, vectors = jnp.linalg.eigh(M_x)
    root = jnp.sqrt(jnp.maximum(values, 0))[:, None] * vectors.T  # a root of M_x up to a rotation
    sigma = jnp.sqrt(jnp.maximum(jnp.linalg.eigvalsh(root @ M_y @ root.T), 0))
    mu = jnp.mean(X, axis=0) @ jnp.mean(Y, axis=0) / d
    A = _a_star(2 * jnp.mean(sigma) + 2 * mu)
    return d * (jnp.log(1 - 4 * A) - jnp.log(1 - 8 * A) / 2 + 2 / (1 - 8 * A) * (jnp.mean(sigma) + mu) + 2 * mu)


def sderf_objective(X, Y):
    """Least shifted log-variance of symmetric features, with the A of Theorem 4.3.

    ::

        sum_l (log(1 - 4 A_l) - log(1 - 8 A_l) / 2 + (1 + (1 - 8 A_l)^-1) lambda_l) - mean |x|^2 - mean |y|^2

    with lambda the eigenvalues of M_x + M_y + mu_x mu_y' + mu_y mu_x', and A_l = a*(lambda_l).

    Source: FAVOR#, Theorem 4.3, Eq. 17.
    """
    X, Y, M_x, M_y = _sets(X, Y)
    cross = jnp.outer(jnp.mean(X, axis=0), jnp.mean(Y, axis=0))
    values = jnp.linalg.eigvalsh(M_x + M_y + cross + cross.T)
    A = _a_star(values)
    each = jnp.log(1 - 4 * A) - jnp.log(1 - 8 * A) / 2 + (1 + 1 / (1 - 8 * A)) * values
    return jnp.sum(each) - jnp.trace(M_x) - jnp.trace(M_y)


def _a_star(phi):
    return (1 - 2 * phi - jnp.sqrt((2 * phi + 1) ** 2 + 8 * phi)) / 16


def _matrix(B, X):
    return B if jnp.ndim(B) == 2 else jnp.diag(jnp.broadcast_to(B, X.shape[1:]))


def _sets(X, Y):
    X = checks.points(X, "X", least=1)
    Y = checks.points(Y, "Y", n_columns=X.shape[1], least=1)
    return X, Y, X.T @ X / len(X), Y.T @ Y / len(Y)

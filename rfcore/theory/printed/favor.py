"""Features as FAVOR# prints them, where a sign or a factor is wrong (Eqs. 7 and 11); its variance and its optima, which are right."""

import jax.numpy as jnp

from rfcore import checks


def trigonometric(y, omega, phases):
    """Trigonometric features of y for the softmax kernel as printed in Eq. 7, with a minus sign that does not belong there.

    ::

        f(y)_i = m^(-1/2) 2^(1/2) exp(|y|^2 / 2) cos(-omega_i . y + theta_i)

    With the features of x of Eq. 6, which are right, E[f(x) . f(y)] = exp(-x . y) in place of exp(x . y). Right for both is
    :func:`rfcore.features.trigonometric`.

    Parameters
    ----------
    y : array, shape (n, d)
    omega : array, shape (m, d)
        At least one frequency.
    phases : array, shape (m,)
        theta, uniform on [0, 2 pi).

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape is wrong, or a value is not finite.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, theory
    >>> x, y, keys = jnp.array([[0.5, 0.2]]), jnp.array([[0.6, 0.4]]), jax.random.split(jax.random.key(0))
    >>> omega, phases = couplings.iid(keys[0], 20_000, 2), jax.random.uniform(keys[1], (20_000,), maxval=2 * jnp.pi)
    >>> phi = features.trigonometric(x, omega, phases, kernel="softmax")
    >>> estimate = (phi @ theory.printed.trigonometric(y, omega, phases).T)[0, 0]
    >>> bool(abs(estimate - jnp.exp(-0.38)) < 0.05), bool(abs(estimate - jnp.exp(0.38)) < 0.05)
    (True, False)

    Notes
    -----
    FAVOR#, Eq. 7. 2 E cos(a + theta) cos(-b + theta) = E cos(a + b), so that the pair sees x + y where it should see x - y.
    """
    y, omega, phases = checks.points(y, "y"), checks.points(omega, "omega"), checks.floating(phases, "phases")
    if omega.shape[1] != y.shape[1] or len(omega) == 0:
        raise ValueError(f"omega has shape {omega.shape}; give frequencies of dimension {y.shape[1]}, at least one")
    if phases.shape != (len(omega),):
        raise ValueError(f"phases has shape {phases.shape}; give one number per frequency, shape ({len(omega)},)")
    growth = jnp.exp(jnp.sum(y**2, axis=1, keepdims=True) / 2)
    return growth * jnp.cos(phases - y @ omega.T) * jnp.sqrt(2 / len(omega))


def generalised_exponential(x, omega, A):
    """Generalised exponential features as printed in Eq. 11, where C = -1/2 and |x|^2 / 2 halve each other.

    ::

        f(x)_i = m^(-1/2) (1 - 4 A)^(d/4) exp(A |omega_i|^2 + (1 - 4 A)^(1/2) omega_i . x + C |x|^2 / 2),   C = -1/2

    E[f(x) . f(y)] = exp(x . y) exp((|x|^2 + |y|^2) / 4). Right is C = -1, or no half: :func:`rfcore.solvers.exponential.gerf`.

    Parameters
    ----------
    x : array, shape (n, d)
    omega : array, shape (m, d)
        At least one frequency.
    A : float
        Below 1/8.

    Returns
    -------
    array, shape (n, m)

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or A is not below 1/8.

    Examples
    --------
    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, theory
    >>> x, omega = jnp.array([[0.6, 0.4]]), couplings.iid(jax.random.key(0), 20_000, 2)
    >>> phi = theory.printed.generalised_exponential(x, omega, -0.1)
    >>> bool(abs((phi @ phi.T)[0, 0] - jnp.exp(0.52 + 0.26)) < 0.05)
    True

    Notes
    -----
    FAVOR#, Eq. 11; for dense features, whose C multiplies x'x and not its half, Theorem 4.1 is right.
    """
    x, omega, A = checks.points(x, "x"), checks.points(omega, "omega"), checks.real(A, "A")
    d = x.shape[1]
    if omega.shape[1] != d or len(omega) == 0:
        raise ValueError(f"omega has shape {omega.shape}; give frequencies of dimension {d}, at least one")
    if not A < 0.125:
        raise ValueError(f"A = {A}; give a number below 1/8")
    exponents = A * jnp.sum(omega**2, axis=1) + (1 - 4 * A) ** 0.5 * x @ omega.T - jnp.sum(x**2, axis=1, keepdims=True) / 4
    return (1 - 4 * A) ** (d / 4) * jnp.exp(exponents) / jnp.sqrt(len(omega))


def log_second_moment(X, Y, parameters):
    """Logarithm of the second moment of dense-exponential features as printed in Eq. 15, Var + K^2, for every pair of points.

    ::

        D^4 det(I - 8 A)^(-1/2) exp(2 x' (C_x + B_x' (I - 8 A)^-1 B_x) x + 2 y' (C_y + B_y' (I - 8 A)^-1 B_y) y
                                    + 4 x' B_x' (I - 8 A)^-1 B_y y)

    Parameters
    ----------
    X, Y : arrays, shapes (n, d) and (l, d)
    parameters : :class:`rfcore.features.ExponentialParameters`
        With A, B_x and B_y, and without centres.

    Returns
    -------
    array, shape (n, l)

    Raises
    ------
    ValueError
        If a shape is wrong, a value is not finite, or parameters lack A or B or have centres.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import features, theory
    >>> x, y = jnp.array([[1.0, 0.5]]), jnp.array([[0.5, -0.5]])
    >>> parameters = features.dense(jnp.array([-0.1, 0.05]), jnp.array([[1.0, 0.3], [0.0, 0.8]]))
    >>> ours = theory.log_relative_moment(x, y, parameters) + 2 * x @ y.T
    >>> bool(jnp.allclose(theory.printed.log_second_moment(x, y, parameters), ours, rtol=1e-4))
    True

    Notes
    -----
    FAVOR#, Theorem 4.1. :func:`rfcore.theory.log_relative_moment` is a sum of positive terms in which nothing cancels.
    """
    X = checks.points(X, "X")
    Y = checks.points(Y, "Y", n_columns=X.shape[1])
    if not hasattr(parameters, "moved") or any(f is None for f in parameters[:3]) or parameters.centre_x is not None:
        raise ValueError(f"parameters = {parameters!r}; give features.ExponentialParameters with A and B, without centres")
    inner = 1 / (1 - 8 * parameters.A)
    u, v = X @ _matrix(parameters.B_x, X).T, Y @ _matrix(parameters.B_y, X).T
    of_x = jnp.sum((X @ _matrix(parameters.C_x, X)) * X + inner * u**2, axis=1)
    of_y = jnp.sum((Y @ _matrix(parameters.C_y, X)) * Y + inner * v**2, axis=1)
    constant = 4 * parameters.log_D - jnp.sum(jnp.log(1 - 8 * parameters.A)) / 2
    return constant + 2 * of_x[:, None] + 2 * of_y + 4 * (u * inner) @ v.T


def aderf_objective(X, Y):
    """Least shifted log-variance of asymmetric features as printed in Eq. 16, with the A of Theorem 4.2.

    ::

        d (log(1 - 4 A) - log(1 - 8 A) / 2 + 2 (1 - 8 A)^-1 (tr Sigma / d + mu_3) + 2 mu_3)

    with Sigma the singular values of M_x^(1/2) M_y^(1/2), mu_3 = mean x . mean y / d, and A = a*(2 tr Sigma / d + 2 mu_3).

    Parameters
    ----------
    X, Y : arrays, shapes (n, d) and (l, d), at least one point each

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        If a shape is wrong, there is no point, or a value is not finite.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import solvers, theory
    >>> x, y = jnp.array([[1.0, 0.2], [-1.5, 0.1]]), jnp.array([[0.1, 1.0], [0.2, -1.0]])
    >>> ours = theory.shifted_log_variance(x, y, solvers.exponential.aderf(x, y))
    >>> bool(jnp.allclose(theory.printed.aderf_objective(x, y), ours, rtol=0.01))
    True

    Notes
    -----
    FAVOR#, Theorem 4.2.
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
    """Least shifted log-variance of symmetric features as printed in Eq. 17, with the A of Theorem 4.3.

    ::

        sum_l (log(1 - 4 A_l) - log(1 - 8 A_l) / 2 + (1 + (1 - 8 A_l)^-1) lambda_l) - mean |x|^2 - mean |y|^2

    with lambda the eigenvalues of M_x + M_y + mu_x mu_y' + mu_y mu_x', and A_l = a*(lambda_l).

    Parameters
    ----------
    X, Y
        As for :func:`aderf_objective`.

    Returns
    -------
    scalar array

    Raises
    ------
    ValueError
        As for :func:`aderf_objective`.

    Examples
    --------
    >>> import jax.numpy as jnp
    >>> from rfcore import solvers, theory
    >>> x, y = jnp.array([[1.0, 0.2], [-1.5, 0.1]]), jnp.array([[0.1, 1.0], [0.2, -1.0]])
    >>> ours = theory.shifted_log_variance(x, y, solvers.exponential.sderf(x, y))
    >>> bool(jnp.allclose(theory.printed.sderf_objective(x, y), ours, rtol=1e-3))
    True

    Notes
    -----
    FAVOR#, Theorem 4.3.
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

"""Features as FAVOR# prints them, where a sign or a factor is wrong (Eqs. 7 and 11)."""

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

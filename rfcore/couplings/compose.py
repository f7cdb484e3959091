"""Couplings of frequencies ``(key, m, d) -> (m, d)``, most of them directions times norms."""

import jax
import jax.numpy as jnp

from rfcore import checks
from rfcore.couplings import directions, norms, quantiles


def compose(draw_directions, draw_norms):
    """Coupling with the given joint law of directions and, independently of them, of norms.

    ::

        omega_i = norm_i direction_i

    Args:
        draw_directions: function ``(key, m, d) -> (m, d)``, unit rows, each uniform on the sphere.
        draw_norms: function ``(key, m, d) -> (m,)``, each chi_d.

    Returns:
        A function ``(key, m, d) -> (m, d)``, rows marginally N(0, I_d).

    >>> import jax
    >>> from rfcore.couplings import compose, directions, norms
    >>> omega = compose(directions.simplex, norms.pnc)(jax.random.key(0), 8, 4)
    """

    def coupling(key, m, d):
        m, d = checks.count(m, "m", least=0), checks.count(d, "d")
        key_directions, key_norms = jax.random.split(checks.key(key))
        unit, lengths = draw_directions(key_directions, m, d), draw_norms(key_norms, m, d)
        if unit.shape != (m, d) or lengths.shape != (m,):
            got = f"draw_directions and draw_norms drew shapes {unit.shape} and {lengths.shape}"
            raise ValueError(f"{got}; give directions, {(m, d)}, first and norms, {(m,)}, second")
        return lengths[:, None] * unit

    return coupling


def iid(key, m, d):
    """Independent frequencies.

    Source: Rahimi and Recht, "Random features for large-scale kernel machines", 2007.

    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.iid(jax.random.key(0), 8, 4)  # 8 frequencies in dimension 4, one a row
    """
    return jax.random.normal(checks.key(key), (checks.count(m, "m", least=0), checks.count(d, "d")))


def orthogonal(key, m, d):
    """Orthogonal frequencies: pairwise orthogonal within each block of d rows, with independent norms.

    ::

        W = D R,  R from Haar measure on O(d), D diagonal with independent chi_d entries

    Source: Yu et al., "Orthogonal random features", 2016; Simplex Random Features, Section 1.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> block = couplings.orthogonal(jax.random.key(0), 6, 4)[:4]
    >>> gram = block @ block.T
    >>> bool(jnp.allclose(gram, jnp.diag(jnp.diag(gram)), atol=1e-4))
    True
    """
    return _orthogonal(key, m, d)


def simplex(key, m, d):
    """Simplex frequencies: each block points to the corners of a regular simplex, with independent norms.

    ::

        W = D S R,  S the simplex matrix, R from Haar measure, D diagonal with independent chi_d entries

    Obtuse angles keep ``|omega_i + omega_j|`` small, which is what the error of positive features grows with;
    no coupling of directions alone does better (Theorem 3.4). For d = 1 this is ``iid``.

    Source: Simplex Random Features, Eqs. 8 and 9.

    With a feature map, they estimate a kernel:

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.positive(x, couplings.simplex(jax.random.key(0), 3000, 3))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.gaussian(x, x), atol=0.05))
    True
    """
    return _simplex(key, m, d)


def antithetic(omega):
    """Frequencies and their opposites, (2 m, d): rows omega, then rows -omega.

    Source: Variance-Reducing Couplings, Theorem 3.5.

    >>> import jax
    >>> from rfcore import couplings
    >>> omega = couplings.antithetic(couplings.orthogonal_pnc(jax.random.key(0), 4, 4))
    >>> bool((omega[:4] == -omega[4:]).all())
    True
    """
    omega = checks.points(omega, "omega")
    return jnp.concatenate([omega, -omega])


_orthogonal = compose(directions.orthogonal, norms.independent)
_simplex = compose(directions.simplex, norms.independent)


def orthogonal_pnc(key, m, d):
    """Orthogonal frequencies with pairwise coupled norms: 2i and 2i + 1 of a block are at levels u and 1 - u.

    Source: Variance-Reducing Couplings, Definition 3.3.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> first, second = jnp.linalg.norm(couplings.orthogonal_pnc(jax.random.key(0), 2, 2), axis=1)
    >>> bool((first < 1.1774) == (second > 1.1774))  # one on either side of the median, sqrt(2 log 2)
    True
    """
    return _orthogonal_pnc(key, m, d)


def orthogonal_pm(key, m, d):
    """Orthogonal frequencies with one norm in each block: the positive monotone coupling of norms.

    For positive features its variance is the greatest of all couplings of the norms of orthogonal
    frequencies.

    Source: Variance-Reducing Couplings, Appendix B.3.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> lengths = jnp.linalg.norm(couplings.orthogonal_pm(jax.random.key(0), 6, 4)[:4], axis=1)
    >>> bool(jnp.allclose(lengths, lengths[0]))
    True
    """
    return _orthogonal_pm(key, m, d)


def orthogonal_copula(key, m, d, correlation):
    """Orthogonal frequencies whose norms have a Gaussian copula in each block.

    Args:
        key, m, d: as for every coupling.
        correlation: (d, d) correlation matrix; see :func:`rfcore.copulas.gaussian`, also for
            gradients.

    Source: Variance-Reducing Couplings, Section 3.2 and Appendix A.5.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings
    >>> correlation = jnp.array([[1.0, -0.9], [-0.9, 1.0]])
    >>> omega = couplings.orthogonal_copula(jax.random.key(0), 6, 2, correlation)
    """
    return compose(directions.orthogonal, norms.gaussian(correlation))(key, m, d)


def matern(key, m, d, nu, draw_directions=directions.orthogonal, law="independent", over="block"):
    """Frequencies whose Fourier features estimate the Matérn kernel (:func:`rfcore.kernels.matern`).

    ::

        omega = r theta,  theta uniform on the sphere,  r^2 / d ~ F(d, 2 nu)

    which is Student's t law in d dimensions, Cauchy's for nu = 1/2. Strata over all norms,
    ``law="stratified", over="all"``, are a safe choice for nu <= 5/2, where directions alone save little; the
    page "Heavy tails" has what each law leaves of the error. Positive features do not exist: exp(omega . v)
    has no mean.

    Args:
        key, m, d: as for every coupling.
        nu: smoothness, from 0.1 to 100: 1/2 for Laplace's kernel exp(-|x - y|).
        draw_directions: function ``(key, m, d) -> (m, d)`` of :mod:`rfcore.couplings.directions`.
        law, over: joint law of the lengths, as for :func:`rfcore.couplings.norms.coupled`.

    Source: Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, Eq. 4.15.

    >>> import jax, jax.numpy as jnp
    >>> from rfcore import couplings, features, kernels
    >>> x = jnp.array([[0.3, -0.2, 0.1], [0.0, 0.4, -0.1]])
    >>> phi = features.fourier(x, couplings.matern(jax.random.key(0), 3000, 3, nu=0.5))
    >>> bool(jnp.allclose(phi @ phi.T, kernels.matern(x, x, nu=0.5), atol=0.05))
    True
    """
    return compose(draw_directions, norms.coupled(law, over, quantiles.smoothness(nu)))(key, m, d)


_orthogonal_pnc = compose(directions.orthogonal, norms.pnc)
_orthogonal_pm = compose(directions.orthogonal, norms.positive_monotone)

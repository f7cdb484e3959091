"""Errors of features under a coupling, relative to independent frequencies."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jax.typing import ArrayLike
from jaxtyping import Array, Float

from rfcore import checks, copulas, couplings
from rfcore.couplings import directions, norms
from rfcore.theory.fourier_errors import fourier_ratio
from rfcore.theory.frames import frames_ratio
from rfcore.theory.norm_costs import norms_ratio
from rfcore.theory.positive_errors import positive_ratio
from rfcore.theory.series import angles_of, radius
from rfcore.theory.stratified_norms import FEATURES, Features, cosh_ratio, strata_ratio


def mse_ratio(
    coupling: str | Callable, features: Features, distance: Float[ArrayLike, "*shape"], *, m: int, d: int
) -> Float[Array | np.ndarray | np.floating, "*shape"]:
    """Mean squared error of features under a coupling, over that of m independent frequencies.

    ::

        MSE(coupling) / MSE(iid),   a function of the distance alone

    Errors relative to the kernel have its square root. It is in closed form for products of orthogonal or
    simplex directions with independent norms, of orthogonal ones with norms that are antithetic, comonotone,
    stratified or have a Gaussian copula in each block, and of strata over all norms or blocks (those of
    simplices, too, for blocks); that of tight frames is known to a tenth (:mod:`rfcore.theory.frames`).
    Others raise ValueError.

    Args:
        coupling: a record of :mod:`rfcore.couplings`, or its name.
        features: "fourier"; "positive"; "cosh", positive features of frequencies and their opposites.
        distance: |x - y| for Fourier features, |x + y| for the others: from 0 to 30 where directions alone
            are coupled, above 0 and at most 5 for norms, at most 3 for strata over blocks or all norms and
            for frames, whose positive and cosh features have a limit of 1.
        m, d: number of frequencies, the last block of which may be cut; dimension.

    Returns:
        A JAX array of the default float dtype, differentiable in the distance, where directions alone are
        coupled; else float64 on the host.

    Source: Simplex Random Features, Sections 4.1 and 5.1; Variance-Reducing Couplings, Lemma 3.1 and
    Corollary 3.4.

    Shells in one block change nothing, in 64 they remove nearly all of the error; a cut block restores some:

    >>> from rfcore import couplings, theory
    >>> shells = couplings.compose("orthogonal", "stratified", across="blocks")
    >>> [round(float(theory.mse_ratio(shells, "fourier", 0.5, m=m, d=8)), 3) for m in (8, 512, 516)]
    [1.0, 0.009, 0.017]
    """
    coupling, m, d = couplings.named(coupling), checks.count(m, "m"), checks.count(d, "d")
    checks.choice(features, "features", FEATURES)
    angles = angles_of(coupling)
    if angles and features != "cosh":
        square = radius(distance, "distance") ** 2
        ratio = fourier_ratio if features == "fourier" else positive_ratio
        return ratio(square, m, d, angles if d > 1 else "iid")
    of_one = _of_norms(coupling, features, m, d)
    return np.vectorize(of_one, otypes=[float])(checks.known(distance, "distance"))[()]


def _of_norms(coupling: Callable, features: Features, m: int, d: int) -> Callable[[float], float]:
    """The ratio as a function of one distance."""
    within = 1 if min(m, d) == 1 else None  # no two frequencies share a block
    of_frame = _of_frames(coupling, features, m, d)
    if of_frame:
        return lambda z: of_frame(checks.real(z, "distance", above=0))
    match coupling:
        case couplings.Product(directions.Orthogonal(), copulas.Stratified(), "all" | "blocks" as across, norms.Chi()):
            return lambda z: strata_ratio(checks.real(z, "distance", above=0), features, m, d, across)
        case couplings.Product(directions.Simplex(), copulas.Stratified(), "blocks", norms.Chi()) if features != "cosh":
            return lambda z: strata_ratio(checks.real(z, "distance", above=0), features, m, d, "blocks", "simplex" if d > 1 else "orthogonal")
        case couplings.Product(directions.Orthogonal(), copula, "block", norms.Chi()):
            of_positive = lambda z: within or norms_ratio(copula, z, "positive" if features == "cosh" else features, m, d)  # noqa: E731
            return of_positive if features != "cosh" else lambda z: float(cosh_ratio(of_positive(z), z))
    if features == "cosh" and angles_of(coupling) == "iid":
        return lambda z: 1.0
    raise ValueError(f"coupling = {coupling!r} has no closed form for {features} features; see theory.mse_ratio for those that have")


def _of_frames(coupling: Callable, features: Features, m: int, d: int) -> Callable[[float], float] | None:
    """The ratio as a function of one distance, if the coupling draws frames with sorted norms."""
    whole, half = -(-m // 2), m % 2 / m  # of an odd number the last has no opposite
    match coupling, features:
        case couplings.WithOpposites(couplings.Tightened(frame, balanced=False)), "positive":
            found = lambda v: half + (1 - half) * -np.expm1(-v * v) * frames_ratio(v, "cosh", whole, d)  # noqa: E731
        case couplings.Tightened(frame, balanced=True), "positive" if m > d > 1:
            found = partial(frames_ratio, kind="balanced", m=m, d=d)
        case couplings.Tightened(frame, balanced=False), "fourier" | "cosh":
            found = partial(frames_ratio, kind="tight" if features == "fourier" else "cosh", m=m, d=d)
        case _:
            return None
    return found if frame == couplings.tight.coupling else None

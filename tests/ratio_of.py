"""Errors over those of independent frequencies, in the order of arguments that tables of cases have."""

import numpy as np

from rfcore import copulas, theory
from rfcore.theory.norm_costs import norms_ratio
from rfcore.theory.stratified_norms import strata_ratio


def fourier(z, d, m, coupling):
    """Of Fourier features whose directions are coupled."""
    return theory.mse_ratio(coupling, "fourier", z, m=m, d=d)


def positive(v, d, m, coupling):
    """Of positive features whose directions are coupled."""
    return theory.mse_ratio(coupling, "positive", v, m=m, d=d)


def norms(distance, d, m, copula, features):
    """Of orthogonal features with a copula of norms in each block, by its name or correlation matrix, by quadrature."""
    return norms_ratio(copulas.gaussian(copula) if np.ndim(copula) else copulas.named(copula), distance, features, m, d)


def strata(distance, d, m, features, across, directions="orthogonal"):
    """Of features with stratified norms: within blocks, over all norms, or one norm a block."""
    if across == "block":
        return norms(distance, d, m, "stratified", features)
    return strata_ratio(distance, features, m, d, across, directions)

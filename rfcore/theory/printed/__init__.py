"""Formulas as four papers print them, for showing what happens when they are used; nothing here is used elsewhere.

Simplex Random Features: conformities and gaps of positive and of Fourier features, densities of sums of frequencies.
Variance-Reducing Couplings: the cost of a sum of frequencies, moments, the factor of a correlation matrix, the
error of attention, the posterior in the weights of features.
Universal Graph Random Features: Taylor coefficients ``alpha_...`` and modulations ``f_...`` in exact fractions. FAVOR#: two feature
maps, a variance and two optima. Where a formula is wrong as printed its docstring says what is right.
"""

from rfcore.theory.printed.densities import pair_density, pair_density_at_angle
from rfcore.theory.printed.favor import (
    aderf_objective,
    generalised_exponential,
    log_second_moment,
    sderf_objective,
    trigonometric,
)
from rfcore.theory.printed.fourier import fourier_gap, fourier_mse_ratio
from rfcore.theory.printed.modulations import (
    batch_size_approximation,
    f_by_iteration,
    f_by_partitions,
    f_diffusion,
    f_p_step,
    f_regularised_laplacian,
)
from rfcore.theory.printed.norms import (
    attention_error,
    chi_square_moment,
    correlation_factor,
    posterior_by_weights,
    sum_cost,
)
from rfcore.theory.printed.positive import (
    error_prefactor,
    orthogonal_conformity,
    positive_gap,
    simplex_conformity,
)
from rfcore.theory.printed.taylor import (
    alpha_diffusion,
    alpha_inverse_cosine,
    alpha_p_step,
    alpha_regularised_laplacian,
)

__all__ = [
    "aderf_objective",
    "alpha_diffusion",
    "alpha_inverse_cosine",
    "alpha_p_step",
    "alpha_regularised_laplacian",
    "attention_error",
    "batch_size_approximation",
    "chi_square_moment",
    "correlation_factor",
    "error_prefactor",
    "f_by_iteration",
    "f_by_partitions",
    "f_diffusion",
    "f_p_step",
    "f_regularised_laplacian",
    "fourier_gap",
    "fourier_mse_ratio",
    "generalised_exponential",
    "log_second_moment",
    "orthogonal_conformity",
    "pair_density",
    "pair_density_at_angle",
    "positive_gap",
    "posterior_by_weights",
    "sderf_objective",
    "simplex_conformity",
    "sum_cost",
    "trigonometric",
]

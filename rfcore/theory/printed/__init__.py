"""Formulas as four papers print them, to show what happens when they are used; nothing else uses them.

Simplex Random Features: conformities and gaps of features, densities of sums of frequencies, the simplex
matrix. Variance-Reducing Couplings: the cost of a sum of frequencies, moments, the factor of a correlation
matrix, the error of attention, the posterior in the weights of features. Universal Graph Random Features:
Taylor coefficients ``alpha_...`` and modulations ``f_...`` in exact fractions. FAVOR#: two feature maps, a
variance, two optima. Where a formula is wrong as printed, the summary of its docstring says so and the text
says what is right.
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "densities": ("pair_density", "pair_density_at_angle"),
        "favor": (
            "aderf_objective",
            "generalised_exponential",
            "log_second_moment",
            "sderf_objective",
            "trigonometric",
        ),
        "fourier": ("fourier_gap", "fourier_mse_ratio"),
        "modulations": (
            "batch_size_approximation",
            "f_by_iteration",
            "f_by_partitions",
            "f_diffusion",
            "f_p_step",
            "f_regularised_laplacian",
        ),
        "norms": (
            "attention_error",
            "chi_square_moment",
            "correlation_factor",
            "posterior_by_weights",
            "sum_cost",
        ),
        "positive": ("error_prefactor", "orthogonal_conformity", "positive_gap", "simplex_conformity"),
        "taylor": ("alpha_diffusion", "alpha_inverse_cosine", "alpha_p_step", "alpha_regularised_laplacian"),
    },
)

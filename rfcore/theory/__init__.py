"""Closed-form errors of features: which coupling, feature map or law of frequencies to take.

Couplings of directions (Simplex Random Features, Sections 3 and 4) act through one quantity, their
*conformity* rho(v): the mean of exp((omega_i + omega_j) . (x + y)) over pairs of frequencies of one block,
with v = |x + y|. The error of positive features increases with it; that of Fourier features follows from its
continuation to imaginary v. Beside it stand the errors of coupled norms (Variance-Reducing Couplings,
Lemma 3.1), of exponential features (FAVOR#, Theorem 4.1), of other laws of the frequencies ("All Random
Features Representations are Equivalent") and of graph features.

All is computed in logarithms, or as sums without cancellation: for d from 2 to 512 and v from 0 to 30 nothing
overflows, and results are differentiable in v or in the points. They have the default float dtype (enable x64
for errors below 1e-6), except those of :func:`walk_gram_mse`, :func:`joint_survival` and
of laws of norms (:func:`norm_coupling_ratio` and its kin),
which are float64 NumPy.
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "conformity": (
            "COUPLINGS",
            "log_conformity",
            "log_conformity_at_angle",
            "log_conformity_of",
            "log_conformity_of_directions",
            "partners",
        ),
        "exponential_errors": ("log_relative_moment", "log_relative_variance", "shifted_log_variance"),
        "fourier_errors": ("fourier_gap", "fourier_mse", "fourier_mse_ratio"),
        "norm_costs": (
            "fourier_cost",
            "fourier_floor",
            "log_pair_excess",
            "log_positive_cost",
            "norm_coupling_ratio",
        ),
        "positive_errors": ("positive_gap", "positive_mse", "positive_mse_ratio"),
        "sampling_laws": ("NormalLaw", "log_optimal_variance_bound", "log_sampling_cost", "optimal_normal"),
        "stratified_norms": ("cosh_ratio", "one_frequency_mse", "stratified_norms_ratio"),
        "trigonometric": (
            "fourier_log_relative_variance",
            "trigonometric_least_variance",
            "trigonometric_log_relative_variance",
        ),
        "walk_errors": (
            "bin_survival",
            "joint_survival",
            "walk_feature_moments",
            "walk_gram_mse",
            "walk_gram_mses",
        ),
    },
)

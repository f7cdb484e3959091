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

from rfcore.theory.conformity import (
    COUPLINGS,
    log_conformity,
    log_conformity_at_angle,
    log_conformity_of,
    log_conformity_of_directions,
    partners,
)
from rfcore.theory.exponential_errors import log_relative_moment, log_relative_variance, shifted_log_variance
from rfcore.theory.fourier_errors import fourier_gap, fourier_mse, fourier_mse_ratio
from rfcore.theory.norm_costs import (
    fourier_cost,
    fourier_floor,
    log_pair_excess,
    log_positive_cost,
    norm_coupling_ratio,
)
from rfcore.theory.positive_errors import positive_gap, positive_mse, positive_mse_ratio
from rfcore.theory.sampling_laws import (
    NormalLaw,
    log_optimal_variance_bound,
    log_sampling_cost,
    optimal_normal,
)
from rfcore.theory.stratified_norms import cosh_ratio, one_frequency_mse, stratified_norms_ratio
from rfcore.theory.walk_errors import (
    bin_survival,
    joint_survival,
    walk_feature_moments,
    walk_gram_mse,
    walk_gram_mses,
)

"""Closed-form errors of features, for choosing a coupling, a feature map or a distribution of frequencies.

Couplings of directions (Simplex Random Features, Sections 3 and 4) act through one quantity, their
*conformity* rho(v): the mean of exp((omega_i + omega_j) . (x + y)) over pairs of frequencies of one block,
with v = |x + y|. The error of positive features increases with it; that of Fourier features follows from its
continuation to imaginary v. :func:`mse_ratio` has these errors, and those of coupled norms (Variance-Reducing
Couplings, Lemma 3.1), relative to independent frequencies. There are also the errors of exponential features
(FAVOR#, Theorem 4.1), of other distributions of the frequencies ("All Random Features Representations are
Equivalent") and of graph features.

:func:`standard_error` gives any sum of estimated kernels with given weights its error, without replicates;
:func:`walk_row_mses` estimates the errors of graph features where no closed form fits into memory.

Everything is computed in logarithms, or as sums without cancellation: for d from 2 to 512 and v from 0 to 30
nothing overflows, and results are differentiable in v or in the points. They have the default float dtype
(enable x64 for errors below 1e-6), except those of coupled norms and of graph features, which are float64
NumPy.
"""

from rfcore.theory.conformity import log_conformity, partners
from rfcore.theory.exponential_errors import log_relative_moment, log_relative_variance, shifted_log_variance
from rfcore.theory.fourier_errors import fourier_gap, fourier_mse
from rfcore.theory.mse_ratios import mse_ratio
from rfcore.theory.positive_errors import positive_gap, positive_mse
from rfcore.theory.row_errors import walk_row_mses
from rfcore.theory.sampling_laws import (
    GaussianProposal,
    log_optimal_variance_bound,
    log_sampling_cost,
    optimal_gaussian,
)
from rfcore.theory.standard_errors import standard_error
from rfcore.theory.stratified_norms import one_frequency_mse
from rfcore.theory.walk_errors import (
    bin_survival,
    joint_survival,
    walk_feature_moments,
    walk_gram_mse,
    walk_gram_mses,
)

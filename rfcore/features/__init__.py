"""Feature maps: functions of a frequency and a point, or of a walk and a node.

Products of features have a kernel as their mean, E[phi(x) . phi(y)] = k(x, y): ``exp(-|x - y|^2 / 2)`` for
``kernel="gaussian"``, ``exp(x . y)`` for ``"softmax"``. Maps of points take

- x, points, (n, d); a lengthscale only scales them;
- omega, frequencies, (m, d), rows marginally N(0, I_d), from :mod:`rfcore.couplings`; or other
  :class:`rfcore.features.frequencies.Frequencies`: fast ones, whose matrix is never formed, or those of
  another distribution with log weights w, where features of frequency i are multiplied by exp(w_i / 2).
"""

from rfcore.features import frequencies, neural
from rfcore.features.exponentials import ExponentialParameters, dense, exponential, log_exponential
from rfcore.features.fourier import fourier, trigonometric
from rfcore.features.positives import log_positive, positive
from rfcore.walks import (
    DepositFeatures,
    StreamedFeatures,
    WalkFeatures,
    by_step,
    modulation,
    walk_features,
    weigh,
)

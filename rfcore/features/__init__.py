"""Feature maps: what turns a frequency and a point, or a walk and a node, into a feature.

Products of features have a kernel as their mean, E[phi(x) . phi(y)] = k(x, y): ``exp(-|x - y|^2 / 2)`` for
``kernel="gaussian"``, ``exp(x . y)`` for ``"softmax"``. Maps of points take

- x, points, (n, d); a lengthscale only scales them;
- omega, frequencies, (m, d), rows marginally N(0, I_d), from :mod:`rfcore.couplings`; or a
  :class:`rfcore.couplings.frequencies.Projectable`: fast frequencies, whose matrix is never formed, or
  frequencies of another law with log weights w. Features of frequency i are then multiplied by exp(w_i / 2).
"""

from rfcore.features import modulation, neural
from rfcore.features.deposits import DepositFeatures, DepositsByStep, by_step
from rfcore.features.exponentials import exponential, log_exponential, log_positive, positive
from rfcore.features.fourier import fourier, trigonometric
from rfcore.features.of_walks import StreamedFeatures, WalkFeatures, walk_features, weigh
from rfcore.features.parameters import ExponentialParameters, dense

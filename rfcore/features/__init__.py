"""Feature maps: what turns a frequency and a point, or a walk and a node, into a feature."""

from rfcore.features import modulation, neural, reduction, reference
from rfcore.features.deposits import DepositFeatures, DepositsByStep, by_step
from rfcore.features.euclidean import fourier, log_positive, positive
from rfcore.features.graph import WalkFeatures, walk_features, weigh

__all__ = [
    "DepositFeatures",
    "DepositsByStep",
    "WalkFeatures",
    "by_step",
    "fourier",
    "log_positive",
    "modulation",
    "neural",
    "positive",
    "reduction",
    "reference",
    "walk_features",
    "weigh",
]

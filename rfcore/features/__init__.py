"""Feature maps: what turns a frequency and a point, or a walk and a node, into a feature."""

from rfcore.features import modulation, neural, reduction, reference
from rfcore.features.deposits import DepositFeatures, DepositsByStep, by_step
from rfcore.features.errors import euclidean_gram_errors, gram_errors
from rfcore.features.estimates import gram, mean_and_se, product
from rfcore.features.euclidean import fourier, log_positive, positive
from rfcore.features.graph import WalkFeatures, walk_features, weigh
from rfcore.features.graph_estimates import walk_gram, walk_product
from rfcore.features.logs import log_gram, stabilised

__all__ = [
    "DepositFeatures",
    "DepositsByStep",
    "WalkFeatures",
    "by_step",
    "euclidean_gram_errors",
    "fourier",
    "gram",
    "gram_errors",
    "log_gram",
    "log_positive",
    "mean_and_se",
    "modulation",
    "neural",
    "positive",
    "product",
    "reduction",
    "reference",
    "stabilised",
    "walk_features",
    "walk_gram",
    "walk_product",
    "weigh",
]

"""Feature maps: what turns a frequency and a point, or a walk and a node, into a feature."""

from rfcore.features import modulation, neural, reduction, reference
from rfcore.features.deposits import DepositFeatures, DepositsByStep, by_step
from rfcore.features.errors import euclidean_gram_errors, gram_errors
from rfcore.features.estimates import gram, mean_and_se, product
from rfcore.features.euclidean import fourier, trigonometric
from rfcore.features.exponentials import exponential, log_exponential, log_positive, positive
from rfcore.features.graph import StreamedFeatures, WalkFeatures, walk_features, weigh
from rfcore.features.graph_estimates import walk_gram, walk_product
from rfcore.features.logs import log_gram, stabilised
from rfcore.features.parameters import ExponentialParameters, dense

__all__ = [
    "DepositFeatures",
    "DepositsByStep",
    "ExponentialParameters",
    "StreamedFeatures",
    "WalkFeatures",
    "by_step",
    "dense",
    "euclidean_gram_errors",
    "exponential",
    "fourier",
    "gram",
    "gram_errors",
    "log_exponential",
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
    "trigonometric",
    "walk_features",
    "walk_gram",
    "walk_product",
    "weigh",
]

"""Feature maps: what turns a frequency and a point, or a walk and a node, into a feature."""

from rfcore.features import modulation
from rfcore.features.euclidean import fourier, positive
from rfcore.features.walks import WalkFeatures, walk_features, weigh

__all__ = ["WalkFeatures", "fourier", "modulation", "positive", "walk_features", "weigh"]

"""Attention: exact, from features in linear time, and as a layer of a transformer."""

from rfcore.attention.layer import FeatureAttention, by_features, dot_product_attention
from rfcore.attention.quotients import linear, linear_of_logs, softmax

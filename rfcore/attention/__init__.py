"""Attention: exact, from features in linear time, and as a layer of a transformer."""

from rfcore.attention.decoding import (
    State,
    linear_state,
    linear_state_of_logs,
    linear_step,
    linear_step_of_logs,
)
from rfcore.attention.layer import FeatureAttention, dot_product_attention, random_feature_attention
from rfcore.attention.logs import stabilised
from rfcore.attention.quotients import linear, linear_of_logs, softmax

"""Attention: exact, from features in linear time, and as a layer of a transformer."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "layer": ("FeatureAttention", "by_features", "dot_product_attention"),
        "quotients": ("linear", "linear_of_logs", "softmax"),
    },
)

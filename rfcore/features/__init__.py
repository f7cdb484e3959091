"""Feature maps: what turns a frequency and a point, or a walk and a node, into a feature."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("modulation", "neural", "reduction", "reference"),
        "deposits": ("DepositFeatures", "DepositsByStep", "by_step"),
        "errors": ("euclidean_gram_errors", "gram_errors"),
        "estimates": ("gram", "mean_and_se", "product"),
        "euclidean": ("fourier", "trigonometric"),
        "exponentials": ("exponential", "log_exponential", "log_positive", "positive"),
        "graph": ("StreamedFeatures", "WalkFeatures", "walk_features", "weigh"),
        "graph_estimates": ("walk_gram", "walk_product"),
        "logs": ("log_gram", "stabilised"),
        "parameters": ("ExponentialParameters", "dense"),
    },
)

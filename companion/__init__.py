"""What the notebooks share to check papers: it imports rfcore, never the other way."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("citations", "datasets", "evidence", "models", "papers", "plotting", "random_graphs", "repository"),
        "citations": ("cite",),
    },
)

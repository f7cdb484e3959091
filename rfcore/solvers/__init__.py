"""What is solved or fitted to get a coupling, a feature map or a law."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": (
            "descent",
            "exponential",
            "gram",
            "sampling",
            "transport",
        ),
    },
)

"""All Random Features Representations are Equivalent: what only its pages use."""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        ".": ("joint_sampling",),
    },
)

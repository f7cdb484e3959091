"""Copulas: joint laws of uniforms, from which quantile functions make coupled norms, walk lengths and hops.

A copula is a function ``(uniform, shape) -> u`` with u of shape ``shape = (..., m, k)``: blocks, m draws in a
block, k coordinates of a draw. Every entry of u is uniform on [0, 1), blocks are independent of each other,
and so are the coordinates of one draw. Any such function serves where a name of the registry (``LAWS``) does.

``uniform(shape)`` gives fresh independent uniforms, an array that a law may write to: ``rng.random`` of a
NumPy generator, or :func:`uniforms` of a JAX key. A law calculates in the namespace of what it is given, so
that NumPy and JAX make the same draws of the same uniforms, and compiles in JAX. No entry is ever 1, whatever
the rounding.
"""

from rfcore import faces

__getattr__, __dir__, __all__ = faces.attach(
    __name__,
    {
        "correlated": ("Gaussian", "gaussian", "gaussian_of_factor"),
        "laws": ("LAWS", "Correlated", "DifferentStrata", "Law", "by_coordinate", "named", "over", "pairs"),
        "nets": ("halton", "sobol"),
        "sources": ("draw", "uniforms"),
        "strata": (
            "Matched",
            "comonotone",
            "independent",
            "permutation",
            "reversal",
            "stratified",
            "systematic",
        ),
    },
)

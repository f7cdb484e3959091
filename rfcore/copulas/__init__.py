"""Copulas: joint laws of uniforms, from which quantile functions make coupled norms, walk lengths and hops.

A copula is a function ``(uniform, shape) -> u`` with u of shape ``shape = (..., m, k)``: blocks, m draws in a
block, k coordinates of a draw. Every entry of u is uniform on [0, 1), blocks are independent of each other,
and so are the coordinates of one draw. Any such function serves where a name of ``COPULAS`` does.

``uniform(shape)`` gives fresh independent uniforms, an array that a law may write to: ``rng.random`` of a
NumPy generator, or :func:`uniforms` of a JAX key. A law calculates in the namespace of what it is given, so
that NumPy and JAX make the same draws of the same uniforms, and compiles in JAX. No entry is ever 1, whatever
the rounding.
"""

from rfcore.copulas.gaussians import Gaussian, gaussian, gaussian_of_factor
from rfcore.copulas.names import (
    ALIASES,
    COPULAS,
    NAMES,
    PAIRS,
    Correlated,
    DifferentStrata,
    named,
    over,
    pairs,
)
from rfcore.copulas.nets import halton, sobol
from rfcore.copulas.strata import (
    Matched,
    comonotone,
    in_cells,
    independent,
    permutation,
    reversal,
    stratified,
    systematic,
)
from rfcore.copulas.uniforms import draw, uniforms

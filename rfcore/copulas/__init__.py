"""Copulas: joint distributions of uniforms, which quantiles turn into coupled norms, lengths and hops.

A copula is called as ``copula(uniform, shape) -> u`` with u of shape ``shape = (..., m, k)``: blocks, m draws
in a block, k coordinates of a draw. Every entry of u is uniform on [0, 1); blocks are independent of each
other, and so are the coordinates of one draw. The copulas here are records (:class:`Copula`): they have a
readable repr, can be pickled and compared, and are pytrees. Any function with the same arguments can be used
in their place.

``uniform(shape)`` returns fresh independent uniforms, an array that a copula may overwrite: ``rng.random`` of
a NumPy generator, or :func:`uniforms` of a JAX key. A copula computes in the array namespace of its uniforms,
so that NumPy and JAX give the same draw from the same uniforms, and it can be compiled by JAX. No entry is
ever 1, whatever the rounding.

>>> from rfcore import copulas
>>> copulas.antithetic, copulas.named("antithetic") == copulas.antithetic
(Antithetic(), True)
"""

from rfcore.copulas.copula import Copula, Correlated, DifferentStrata
from rfcore.copulas.gaussians import Gaussian, gaussian, gaussian_of_factor
from rfcore.copulas.names import COPULAS, draw, named, pairs
from rfcore.copulas.nets import Halton, Sobol, halton, sobol
from rfcore.copulas.strata import (
    Antithetic,
    Comonotone,
    Independent,
    Permutation,
    Stratified,
    Systematic,
    antithetic,
    comonotone,
    in_cells,
    independent,
    permutation,
    stratified,
    systematic,
)
from rfcore.copulas.uniforms import uniforms

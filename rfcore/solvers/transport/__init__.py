"""Couplings of the lengths of walks as optimal transport between quantile bins.

A permutation sigma of n bins couples the walks of a pair: if the first length lies in bin q of the geometric
law, the second lies in bin sigma(q) (``copulas.permutation(sigma)``, or ``coupling=sigma`` of any walks). Its
cost is what the variance of an estimate depends on. Three steps, each usable alone:

1. what walks of a bin leave behind on average: :func:`bin_spectra` (all nodes, symmetric weights, exact),
   :func:`bin_features` (some nodes of any graph, exact);
2. what two bins cost together: :func:`pair_products`, of which :func:`matching_costs` are the squares
   (Eq. 56) and :func:`quadratic_cost` takes sums (Eq. 55); :func:`pagerank_costs` (Eq. 82), of which
   :func:`pagerank_mse` makes errors;
3. a permutation: :func:`assignment` (Eq. 56, exact), :func:`exhaustive` and :func:`by_projections`
   (Eq. 55).

Optimal permutations are seldom unique, since bins of equal length can be exchanged: compare costs, not
permutations. Where neither modulation nor weights are negative the reversal of the bins is optimal for Eqs 55
and 56, for every pair of start nodes, and no coupling of two lengths has a smaller variance than
``coupling="reversal"``. Equations are those of Variance-Reducing Couplings, Section 4 and Appendices C and E.
"""

from rfcore.solvers.transport.bins import bin_features, bin_spectra
from rfcore.solvers.transport.matching import assignment, by_projections, exhaustive
from rfcore.solvers.transport.objectives import (
    matching_costs,
    pagerank_costs,
    pagerank_mse,
    pair_products,
    quadratic_cost,
)

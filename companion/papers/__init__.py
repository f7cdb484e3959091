"""Mathematics that only a paper's pages use: printed formulas, set-ups of experiments, proofs in code.

Notebooks and tests import it; rfcore never does.
"""

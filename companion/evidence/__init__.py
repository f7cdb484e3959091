"""Evidence: what the papers claim, the statistics that decide it, and the record of what was found.

To add a claim:

1. Find the entry of the figure, table or theorem in ``data/claims/<paper>.toml``. Name the notebook that
   decides it and the label of its section, and say the claim, its kind and its rule in words, before any
   number is known::

       notebook = "ugrf/03_fixed_kernel_errors"
       anchor = "ugrf-rate"
       data = ["karate", "dolphins", "football", "eurosis"]
         [[entry.claim]]
         id = "ugrf/extra-rate/three-kernels"
         statement = "The error falls about as one over the square root of the number of walkers."
         kind = "shape"
         rule = "Log-log slope within -1/2 plus or minus 0.1, two one-sided t tests at level 0.001."

   ``data`` names the data sets that decide: on the entry for all of its claims, or on one claim in its place.
   Where other data must stand in for one of them, the claim is "not run".

2. In ``notebooks/ugrf/03_fixed_kernel_errors.py`` put ``(ugrf-rate)=`` above the section's heading, and
   decide::

       ledger = evidence.open_page("ugrf/03_fixed_kernel_errors", profile)  # after the imports
       errors = experiment(ledger.key("walks"))  # a seed of its own for every name, recorded
       ledger.decide({"ugrf/extra-rate/three-kernels": evidence.slope(walkers, errors, -0.5, 0.1)})
       ledger.close()  # the end

3. ``make quick NOTEBOOK=ugrf/03``, then ``make paper NOTEBOOK=ugrf/03``; commit the ``.py``, the ``.ipynb``
   and ``data/results/paper/ugrf/03_fixed_kernel_errors.json``. The scorecard follows.

A claim that comes out "not reproduced" stops the run. Is it the paper's? "Not reproduced" and the three
errata are accusations. They need a statement that the paper makes (quote it in ``printed``), no setting on
which the outcome hangs and which the paper does not print (name one in ``unprinted``, and the claim is
"inconclusive"), and an uncertainty that contains the paper's own (``paper_se``, and ``unprinted_se`` where it
prints none). Then enter ``evidence.erratum(decision, why)`` if the claim as printed is wrong, and give it
``expected = "misprint, the result stands"``, ``"needs another condition"`` or ``"the statement is false"``;
or ``expected = "not reproduced"``; and a ``why``. Never widen a tolerance or try another seed; a rule that
changes after a first run says so in ``changed``.
"""

from companion.evidence import deadlocks
from companion.evidence.agreement import agree, identity, value
from companion.evidence.arrays import kept
from companion.evidence.claims import claims_of, entries, printed
from companion.evidence.costs import Clock, cost, timed
from companion.evidence.ledger import Ledger, open_page
from companion.evidence.repeats import in_batches
from companion.evidence.standing import decisions, entry_verdict, error_rates, headline, scorecard
from companion.evidence.statistics import bound, order, slope, tail_index, unbiased
from companion.evidence.verdicts import Decision, Verdict, erratum, not_run, scaled

deadlocks.prevent()  # of every process that runs a page, before its first array

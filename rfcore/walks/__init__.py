"""The graph wing: from a key to random features of the nodes of a graph.

::

    key -> streams -> uniforms of a copula -> lengths, hops -> walks -> deposits -> features of a modulation

:mod:`~rfcore.walks.streams` turns a key into independent generators, one per chunk of start nodes;
:mod:`~rfcore.walks.lengths` and :mod:`~rfcore.walks.hops` draw the walks of a node jointly, as a
:class:`Coupling` says; :mod:`~rfcore.walks.engine` walks; :func:`simulate` keeps the deposits;
:func:`walk_features` weighs them by a :mod:`~rfcore.walks.modulation` on the host, :func:`by_step` in JAX,
where :mod:`~rfcore.walks.losses` are for learning it.
"""

from rfcore.walks import engine, hops, lengths, losses, modulation, streams
from rfcore.walks.deposits import DepositFeatures, Deposits, by_step, checked, simulate, weigh
from rfcore.walks.engine import start_nodes
from rfcore.walks.features import StreamedFeatures, WalkFeatures, walk_features
from rfcore.walks.lengths import AntitheticTermination, Coupling, Lengths

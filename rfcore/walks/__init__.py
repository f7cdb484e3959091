"""Random features of the nodes of a graph, from simulated walks.

::

    key -> streams -> uniforms of a copula -> lengths, hops -> walks -> deposits -> features

:mod:`~rfcore.walks.streams` turns a key into independent generators, one per chunk of start nodes;
:mod:`~rfcore.walks.lengths` and :mod:`~rfcore.walks.hops` draw the walks of a node jointly, as specified by a
:class:`Coupling`; :mod:`~rfcore.walks.engine` walks; :func:`simulate` keeps the deposits.
:func:`rfcore.features.walk_features` weighs them by a :mod:`~rfcore.walks.modulation` on the host,
:func:`by_step` in JAX, where :mod:`~rfcore.walks.losses` are for learning it.
"""

from rfcore.walks import engine, hops, lengths, losses, modulation, streams
from rfcore.walks.deposits import DepositFeatures, Deposits, by_step, checked, simulate, weigh
from rfcore.walks.engine import start_nodes
from rfcore.walks.features import StreamedFeatures, WalkFeatures, walk_features
from rfcore.walks.lengths import AntitheticTermination, Coupling, Lengths

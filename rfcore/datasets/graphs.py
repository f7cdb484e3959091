"""Graphs with known classes, from GML files."""

import networkx as nx

from rfcore.datasets import registry, stand_ins, storage
from rfcore.datasets.fallback import real_or_stand_in
from rfcore.datasets.labels import encode


def graph(name: str, *, fallback: bool = False) -> nx.Graph:
    """Load a graph: undirected, nodes 0 .. N-1 in the order of the file, without self-loops.

    Parameters
    ----------
    name : str
        A set of the family ``graphs``, such as ``"karate"`` or ``"cora_raw"``; ``python -m rfcore.datasets``
        lists them.
    fallback : bool
        Whether a stand-in of about the same size is welcome where the file cannot be had.

    Returns
    -------
    networkx.Graph
        Node attribute ``class`` (the file's ``gt`` as an integer, -1 where the file has none) if there are
        classes at all, and ``label`` (the file's name of the node). Graph attributes ``name``; ``classes``,
        the names of the classes; ``self_loops_dropped``; ``source``, "registry" or "fallback: ...". No edge
        is weighted. Where the file has an edge attribute ``value`` (eurosis and polblogs) it is kept under
        that name, which networkx does not take for a weight; the papers do not use it.

    Raises
    ------
    ValueError
        If no graph has that name.
    rfcore.datasets.Unavailable
        If the file cannot be had and `fallback` is false.

    Notes
    -----
    The registry names the origin of each graph. Self-loops occur in citeseer (52), citeseer_raw (124), eu-core (623) and polblogs (3). They are dropped: the
    graphs of the papers have none. No file has an edge twice, and none names a direction.

    Examples
    --------
    >>> from rfcore import datasets
    >>> datasets.graph("karate", fallback=True).number_of_nodes()
    34
    """
    entry = registry.find(name, "graphs")
    g, source = real_or_stand_in(
        entry, lambda: parse(storage.read(entry.files[0]).decode()), stand_ins.graph, fallback
    )
    g.graph.update(name=entry.name, source=source)
    return g


def parse(text: str) -> nx.Graph:
    """Read GML into the form that `graph` describes."""
    found = nx.parse_gml(text, label="id")
    truth = dict(found.nodes(data="gt"))
    known = [v for v, label in truth.items() if label is not None]
    codes, classes = encode([truth[v] for v in known]) if known else ([], ())
    code = dict(zip(known, map(int, codes), strict=True))
    number = {v: i for i, v in enumerate(found)}
    g = nx.Graph(classes=classes, self_loops_dropped=nx.number_of_selfloops(found))
    for v, i in number.items():
        g.add_node(i, label=str(found.nodes[v]["label"]))
        if classes:
            g.nodes[i]["class"] = code.get(v, -1)
    for u, v, attributes in found.edges(data=True):
        if u != v:
            g.add_edge(number[u], number[v], **{k: x for k, x in attributes.items() if k == "value"})
    return g

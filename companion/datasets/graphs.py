"""Graphs with known classes, from GML files, and triangle meshes."""

from __future__ import annotations

import io
from pathlib import Path
from typing import TYPE_CHECKING

import networkx as nx

from companion.datasets import registry, stand_ins, storage
from companion.datasets.stand_ins import real_or_stand_in
from companion.datasets.tables import encode


def graph(name: str, *, fallback: bool = False) -> nx.Graph:
    """Load a graph: undirected, nodes 0 .. N-1 in the order of the file, without self-loops or weights.

    Self-loops, which the graphs of the papers have none of, are dropped: citeseer had 52, citeseer_raw 124,
    eu-core 623, polblogs 3. Where the file has an edge attribute ``value`` (eurosis and polblogs) it is kept
    under that name, which networkx does not take for a weight; the papers do not use it. No file has an edge
    twice or a direction.

    Args:
        name: a set of the family ``graphs``, such as ``"karate"`` or ``"cora_raw"``.
        fallback: whether a stand-in of about the same size is welcome where the file cannot be had.

    Returns:
        networkx.Graph. Nodes have ``label`` (the file's name) and, if there are classes, ``class`` (the
        file's ``gt`` as an integer, -1 for none). The graph has ``name``, ``classes`` (their names),
        ``self_loops_dropped``, ``source``.

    >>> from companion import datasets
    >>> g = datasets.graph("karate", fallback=True)
    >>> g.number_of_nodes(), g.nodes[33]["class"], len(g.graph["classes"])
    (34, 1, 2)
    """
    entry = registry.find(name, "graphs")
    g, source = real_or_stand_in(
        entry, lambda: parse_graph(storage.read(entry.files[0]).decode()), stand_ins.graph, fallback
    )
    g.graph.update(name=entry.name, source=source)
    return g


def parse_graph(text: str) -> nx.Graph:
    """Read GML into the form that :func:`graph` describes."""
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


if TYPE_CHECKING:
    import trimesh


def mesh(name: str, *, fallback: bool = False) -> trimesh.Trimesh:
    """Load a mesh, with the vertices that lie at one position merged into one.

    STL files repeat a vertex for every face, and textured files along their seams; neighbours exist only
    after the merge, which is trimesh's. Colours, textures and stored normals are left out.

    Args:
        name: a set of the family ``meshes``, such as ``"cylinder"`` or ``"teapot"``.
        fallback: whether one of trimesh's primitives is welcome where the file cannot be had.

    Returns:
        trimesh.Trimesh, with ``metadata["name"]`` and ``metadata["source"]``.
    """
    entry = registry.find(name, "meshes")
    (file,) = entry.files
    loaded, source = real_or_stand_in(
        entry, lambda: parse_mesh(storage.read(file), Path(file.path).suffix), stand_ins.mesh, fallback
    )
    loaded.metadata.update(name=entry.name, source=source)
    return loaded


def parse_mesh(content: bytes, suffix: str) -> trimesh.Trimesh:
    """Read the geometry of a mesh file whose name ends in ``suffix``."""
    import trimesh  # takes a second, and most notebooks load no mesh

    raw = trimesh.load_mesh(
        io.BytesIO(content), file_type=suffix.lstrip(".").lower(), process=False, skip_materials=True
    )
    return trimesh.Trimesh(raw.vertices, raw.faces, process=True)

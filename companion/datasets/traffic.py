"""Speeds of traffic on the highways of San Jose, on the road graph."""

import csv
import io
from typing import NamedTuple

import networkx as nx
import numpy as np

from companion.datasets import registry, stand_ins, storage
from companion.datasets.registry import Entry
from companion.datasets.stand_ins import real_or_stand_in


class Traffic(NamedTuple):
    """Speeds at sensors and the graph they sit on.

    Both graphs are networkx multigraphs, since some pairs of places are joined by two roads; nodes carry
    ``position`` (longitude, latitude), edges ``length`` in metres.
    """

    graph: nx.MultiGraph
    """The roads cut at the sensors: 1016 nodes (the ends of roads, then the sensors) and 1173 edges."""
    sensors: np.ndarray
    """Node of `graph` at which each sensor sits, shape (325,)."""
    speeds: np.ndarray
    """Miles per hour, shape (26, 325): a row per Monday, 17:30, from 2 January 2017; a column per sensor."""
    times: tuple[str, ...]
    sensor_ids: tuple[str, ...]
    roads: nx.MultiGraph
    """The roads uncut: 691 nodes, 848 edges, the key of an edge is its number."""
    ends: np.ndarray
    """First and last node of each road, shape (848, 2): a networkx edge does not remember which is which."""
    road: np.ndarray
    """Number of the road on which each sensor lies, shape (325,)."""
    offset: np.ndarray
    """Metres from that road's first end to the sensor, shape (325,)."""
    source: str


def traffic(*, fallback: bool = False) -> Traffic:
    """Load the traffic speeds and the road graph; a random road network of the same numbers may stand in.

    Two of the 1173 edges join the same two nodes (190 and 277), so that the graph of neighbours has 1172.

    Source: Borovitskiy et al., 2021, from the sensors of Chen et al., 2001.
    """
    entry = registry.find("traffic")
    tables, source = real_or_stand_in(entry, lambda: _tables(entry), stand_ins.traffic, fallback)
    vertices, ends, lengths, road, offset, places, ids, times, speeds = tables
    roads, cut = nx.MultiGraph(), nx.MultiGraph()
    for g in (roads, cut):
        g.add_nodes_from((i, {"position": tuple(p)}) for i, p in enumerate(vertices.tolist()))
    sensors = len(vertices) + np.arange(len(road))
    cut.add_nodes_from((len(vertices) + i, {"position": tuple(p)}) for i, p in enumerate(places.tolist()))
    for e, (u, v) in enumerate(ends.tolist()):
        roads.add_edge(u, v, key=e, length=float(lengths[e]))
        here = np.flatnonzero(road == e)
        here = here[np.argsort(offset[here])]
        stops = [u, *sensors[here].tolist(), v]
        marks = np.array([0.0, *offset[here], lengths[e]])
        for a, b, length in zip(stops[:-1], stops[1:], np.diff(marks).tolist(), strict=True):
            cut.add_edge(a, b, length=length)
    return Traffic(cut, sensors, speeds, times, ids, roads, ends, road, offset, source)


def _tables(entry: Entry) -> tuple:
    read = [file for file in entry.files if file.path.endswith(".csv")]
    text = {file.path.rpartition("/")[2]: storage.read(file).decode() for file in read}

    def numbers(name: str) -> np.ndarray:
        return np.loadtxt(io.StringIO(text[name]), delimiter=",", skiprows=1)

    vertices, edges, positions = numbers("V.csv")[:, 1:], numbers("E.csv"), numbers("PtE.csv")
    ends = edges[:, 1:3].astype(int) - 1  # counted from 1 ...
    road, offset = positions[:, 0].astype(int), positions[:, 1]  # ... but roads are counted from 0
    (_, *ids), *rows = csv.reader(io.StringIO(text["Y.csv"]))
    located = csv.reader(io.StringIO(text["graph_sensor_locations_bay.csv"]))
    position = {sensor: (float(longitude), float(latitude)) for sensor, latitude, longitude in located}
    places = np.array([position[sensor] for sensor in ids])
    speeds = np.array([row[1:] for row in rows], dtype=float)
    times = tuple(row[0] for row in rows)
    return vertices, ends, edges[:, 3], road, offset, places, tuple(ids), times, speeds

"""The loaders: what they return on real data, on stand-ins, and on a miniature mirror that we can read."""

import gzip
import hashlib
import json
import os
import warnings
from pathlib import Path

import jax
import networkx as nx
import numpy as np
import pytest
import trimesh
from rounding import rounding
from scipy.spatial.distance import cdist

from companion import datasets
from companion.datasets import registry, stand_ins, storage
from companion.datasets.tables import encode
from companion.models import encoder

EVERY = [entry.name for entry in datasets.entries()]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    """Each test starts as a new process would."""
    monkeypatch.setattr(storage, "_provenance", {})
    monkeypatch.setattr(stand_ins, "_fallen", {})


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """No cache, no mirror, no network."""
    monkeypatch.setenv("RFCORE_DATA_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("RFCORE_OFFLINE", "1")
    monkeypatch.delenv("RFCORE_DATA_MIRROR", raising=False)


@pytest.fixture
def miniature(monkeypatch, tmp_path, nowhere):
    """Return a function that registers a set and puts its files into a mirror; only these sets exist."""
    monkeypatch.setenv("RFCORE_REPOSITORY", str(tmp_path))
    monkeypatch.setenv("RFCORE_DATA_MIRROR", str(tmp_path / "mirror"))
    (tmp_path / "data" / "registry").mkdir(parents=True)

    def add(family, name, files, shape="{}"):
        table = f'["{name}"]\ntitle = "t"\ncitation = "c"\nlicence = "l"\npapers = []\nshape = {shape}\n'
        for path, content in files.items():
            target = tmp_path / "mirror" / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(content)
            table += f'[["{name}".files]]\npath = "{path}"\nurl = "http://127.0.0.1:9/{path}"\n'
            table += f'sha256 = "{hashlib.sha256(content).hexdigest()}"\nbytes = {len(content)}\n'
        (tmp_path / "data" / "registry" / f"{family}.toml").write_text(table, encoding="utf-8")
        registry._read.cache_clear()

    yield add
    registry._read.cache_clear()


def load(name, *, fallback=False):
    """Load a set with the loader of its family."""
    entry = datasets.find(name)
    if entry.family == "traffic":
        return datasets.traffic(fallback=fallback)
    if entry.family == "models":
        return encoder.minilm(fallback=fallback)
    if entry.family == "text":
        return datasets.reviews(fallback=fallback) if name == "reviews" else datasets.sentences("dev", fallback=fallback)
    loader = {"graphs": "graph", "meshes": "mesh"}.get(entry.family, entry.family)
    return getattr(datasets, loader)(name, fallback=fallback)


def source(loaded):
    if isinstance(loaded, nx.Graph):
        return loaded.graph["source"]
    return loaded.metadata["source"] if isinstance(loaded, trimesh.Trimesh) else loaded.source


def real(name):
    """Load the real data; where they cannot be had, skip and say why (the one skip allowed)."""
    entry = datasets.find(name)
    if entry.name == "cifar10" and storage.status(entry.files[0]) == "missing":
        pytest.skip("the CIFAR-10 archive, 170 MB, is downloaded on demand only")
    try:
        return load(name)
    except datasets.Unavailable:
        pytest.skip("data that are neither in the cache nor to be had: set RFCORE_DATA_MIRROR, or find a network")


# --- the registry


def test_every_entry_can_be_cited_fetched_and_checked():
    assert len(EVERY) == len(set(EVERY)) == 56
    paths = [file.path for entry in datasets.entries() for file in entry.files]
    assert len(paths) == len(set(paths)) == 67
    for entry in datasets.entries():
        assert entry.licence and len(entry.citation) > 10 and entry.title, entry.name
        assert set(entry.papers) <= {"simplex", "ugrf", "couplings", "favor", "equivalence"}, entry.name
        assert entry.bytes == sum(file.bytes for file in entry.files) > 0
        assert entry.origin.startswith(("https://", "package ")) and min(entry.shape.values()) >= 0
        for file in entry.files:
            assert file.url.startswith("https://") or (file.package and not file.url), file.path
            assert len(bytes.fromhex(file.sha256)) == 32, file.path


def test_papers_use_the_sets_they_name():
    def of(paper):
        return {entry.name for entry in datasets.entries() if paper in entry.papers}

    eight = {"abalone", "banknote", "car", "yeast", "cmc", "nursery", "wifi", "chess"}
    assert of("simplex") == eight
    assert of("favor") == eight | {"mnist", "cifar10", "sst2"}
    assert {"karate", "eurosis", "citeseer_raw", "cylinder", "torus"} < of("ugrf")
    assert {"concrete", "abalone", "cpu", "power", "airfoil", "boston", "traffic"} < of("couplings")
    assert of("equivalence") == set()


def test_registry_has_every_set_of_the_manifest():
    manifest = Path(os.environ.get("RFCORE_DATA_MIRROR", "")) / "MANIFEST.json"
    if not manifest.is_file():
        pytest.skip("no mirror with a MANIFEST.json")
    listed = json.loads(manifest.read_text(encoding="utf-8"))
    files = {file.mirror or file.path: file for entry in datasets.entries() for file in entry.files}
    assert listed.keys() == {path for path, file in files.items() if not file.package}
    for path, facts in listed.items():
        file = files[path]
        assert storage.status(file) in ("mirrored", "cached"), path
        if not file.mirror:
            assert (file.sha256, file.bytes) == (facts["sha256"], facts["bytes"]), path
        if not file.archive_sha256:
            assert file.url == facts["url"]


def test_names_aliases_and_near_misses():
    assert datasets.find("databases").name == "cora_Databases_raw"
    assert datasets.find("machine").name == "cpu" and datasets.find("housing").name == "boston"
    with pytest.raises(ValueError, match=r"name = 'karat' is not among the graphs; give perhaps karate"):
        datasets.graph("karat")
    with pytest.raises(ValueError, match=r"not among the meshes; choose one of cylinder"):
        datasets.mesh("karate")
    with pytest.raises(ValueError, match="give perhaps concrete"):
        datasets.regression("concret")
    with pytest.raises(ValueError, match="part = 'validation'; choose one of 'train', 'dev', 'test'"):
        datasets.sentences("validation")


def test_missing_registry_says_where_it_is(monkeypatch, tmp_path):
    monkeypatch.setenv("RFCORE_REPOSITORY", str(tmp_path))
    with pytest.raises(
        FileNotFoundError, match=r"data/registry belongs to the repository.*set RFCORE_REPOSITORY"
    ):
        datasets.entries()


# --- what is true of the real data and of their stand-ins


def check(name, loaded):
    entry = datasets.find(name)
    shape = entry.shape
    if entry.family == "graphs":
        assert type(loaded) is nx.Graph and list(loaded) == list(range(shape["nodes"]))
        assert loaded.number_of_edges() == shape["edges"]
        assert nx.number_of_selfloops(loaded) == 0 and not nx.get_edge_attributes(loaded, "weight")
        classes = nx.get_node_attributes(loaded, "class")
        assert len(classes) == (shape["nodes"] if shape["classes"] else 0)
        assert set(classes.values()) - {-1} == set(range(shape["classes"]))
        assert len(loaded.graph["classes"]) == shape["classes"] and loaded.graph["name"] == entry.name
    elif entry.family == "meshes":
        assert 0.5 < len(loaded.faces) / shape["faces"] < 2 and loaded.metadata["name"] == entry.name
        assert len(np.unique(loaded.vertices, axis=0)) == len(loaded.vertices)
    elif entry.family == "classification":
        assert loaded.X.shape == (shape["rows"], shape["columns"]) and loaded.X.dtype == np.float64
        assert loaded.y.shape == (shape["rows"],) and loaded.y.dtype == np.int64
        assert set(loaded.y.tolist()) == set(range(shape["classes"]))
        assert len(loaded.classes) == shape["classes"]
        assert np.isfinite(loaded.X).all()
    elif entry.family == "regression":
        assert loaded.X.shape == (shape["rows"], shape["columns"]) and loaded.y.shape == (shape["rows"],)
        assert np.isfinite(loaded.X).all() and np.isfinite(loaded.y).all() and loaded.y.std() > 0
    elif entry.family == "images":
        size = (shape["channels"], shape["height"], shape["width"])
        assert loaded.images.shape == (shape["images"], *size) and loaded.images.dtype == np.uint8
        assert np.bincount(loaded.labels).size == 10 and loaded.labels.shape == (shape["images"],)
    elif entry.family == "models":
        assert len(loaded.layers) == shape["layers"] and loaded.layers[0].n_heads == shape["heads"]
        assert loaded.words.shape[1] == shape["columns"] == len(loaded.norm.bias)
        assert all(np.isfinite(leaf).all() and leaf.dtype == np.float32 for leaf in jax.tree.leaves(loaded))
    elif entry.family == "text":
        assert len(loaded.texts) == len(loaded.labels) == shape["reviews" if name == "reviews" else "dev"]
        assert set(loaded.labels.tolist()) == {0, 1}
        assert all(text and "\t" not in text for text in loaded.texts)
    else:
        assert (len(loaded.graph), loaded.graph.number_of_edges()) == (1016, 1173)
        assert (len(loaded.roads), loaded.roads.number_of_edges()) == (691, 848)
        assert loaded.speeds.shape == (26, 325) == (len(loaded.times), len(loaded.sensor_ids))
        assert nx.is_connected(loaded.graph) and len(set(loaded.sensors.tolist())) == 325
        uncut = sum(length for *_, length in loaded.roads.edges(data="length"))
        lengths = [length for *_, length in loaded.graph.edges(data="length")]
        assert sum(lengths) == pytest.approx(uncut, rel=rounding(1200)) and min(lengths) > 0
        assert all(loaded.graph.degree(s) == 2 for s in loaded.sensors.tolist())


@pytest.mark.parametrize("name", EVERY)
def test_real_set(name):
    loaded = real(name)
    check(name, loaded)
    assert source(loaded) == "registry" and datasets.fallbacks() == ()
    read = datasets.provenance()
    assert read and read.items() <= {file.path: file.sha256 for file in datasets.find(name).files}.items()


@pytest.mark.parametrize("name", EVERY)
def test_stand_in(name, nowhere):
    with pytest.warns(datasets.FallbackWarning, match=f"STAND-IN DATA for {name} .*not run.*RFCORE_OFFLINE"):
        first = load(name, fallback=True)
    check(name, first)
    assert source(first).startswith("fallback: ")
    assert datasets.fallbacks() == (name,) and datasets.provenance() == {}
    again = load(name, fallback=True)  # no second banner: pytest turns warnings into errors
    if isinstance(first, nx.Graph):
        assert nx.utils.graphs_equal(first, again) and nx.is_connected(first)
    elif isinstance(first, trimesh.Trimesh):
        assert np.array_equal(first.faces, again.faces)
    else:
        pairs = zip(jax.tree.leaves(first), jax.tree.leaves(again), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs if isinstance(a, np.ndarray))


def test_stand_in_graphs_do_not_hang_on_a_version_of_networkx():
    digest = hashlib.sha256()
    for entry in datasets.entries():
        if entry.family == "graphs":
            digest.update(repr(sorted(stand_ins.graph(entry)[0].edges())).encode())
    assert digest.hexdigest()[:16] == "dd49de7d4d504bfa"


def test_stand_in_for_karate_is_networkx_without_its_weights(nowhere):
    with pytest.warns(datasets.FallbackWarning):
        g = datasets.graph("karate", fallback=True)
    assert nx.utils.edges_equal(g.edges(), nx.karate_club_graph().edges())
    assert all(not data for *_, data in g.edges(data=True))


def test_no_stand_in_unless_asked(nowhere):
    with pytest.raises(datasets.Unavailable, match=r"graphs/karate\.gml is not to be had"):
        datasets.graph("karate")
    with pytest.raises(datasets.Unavailable):
        datasets.traffic()
    assert datasets.fallbacks() == ()


def test_banner_in_a_notebook_is_html_once(nowhere, monkeypatch):
    ipython = pytest.importorskip("IPython")
    import IPython.display

    shown = []
    monkeypatch.setattr(ipython, "get_ipython", lambda: type("Shell", (), {"kernel": object()})())
    monkeypatch.setattr(IPython.display, "display", shown.append)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        datasets.graph("dolphins", fallback=True)
        datasets.graph("dolphins", fallback=True)
    assert len(shown) == 1 and "STAND-IN DATA for dolphins" in shown[0].data
    assert datasets.fallbacks() == ("dolphins",)


# --- the numbers of the papers, on the real data


@pytest.mark.parametrize(
    ("name", "nodes", "edges", "components", "loops"),
    [
        ("karate", 34, 78, 1, 0),
        ("dolphins", 62, 159, 1, 0),
        ("polbooks", 105, 441, 1, 0),
        ("football", 115, 613, 1, 0),
        ("databases", 1046, 3186, 14, 0),
        ("eurosis", 1272, 6454, 1, 0),
        ("cora", 2485, 5069, 1, 0),
        ("cora_raw", 2708, 5278, 78, 0),
        ("citeseer", 2120, 3679, 1, 52),
        ("citeseer_raw", 3327, 4552, 438, 124),
        ("eu-core", 986, 16064, 1, 623),
        ("news_2cl1_0.1", 398, 2634, 1, 0),
    ],
)
def test_sizes_of_graphs(name, nodes, edges, components, loops):
    g = real(name)
    found = (len(g), g.number_of_edges(), nx.number_connected_components(g), g.graph["self_loops_dropped"])
    assert found == (nodes, edges, components, loops)


def test_karate_is_zacharys_and_its_classes_are_the_clubs():
    g, club = real("karate"), nx.karate_club_graph()
    assert nx.faster_could_be_isomorphic(g, club) and sorted(dict(g.degree).values())[-3:] == [12, 16, 17]
    assert sorted(np.bincount([c for _, c in g.nodes(data="class")])) in ([16, 18], [17, 17])


def test_citeseer_nodes_without_a_class_and_isolated_ones():
    g = real("citeseer_raw")
    assert sum(c == -1 for _, c in g.nodes(data="class")) == 527
    assert nx.number_of_isolates(g) == 48
    assert g.graph["classes"] == ("AI", "Agents", "DB", "HCI", "IR", "ML")


def test_eurosis_keeps_its_values_but_no_weights():
    values = [value for *_, value in real("eurosis").edges(data="value")]
    assert (values.count(2.0), len(values)) == (50, 6454)


@pytest.mark.parametrize(
    ("name", "vertices", "faces"),
    [
        ("cylinder", 210, 416),
        ("teapot", 480, 894),
        ("idler_riser", 782, 1572),
        ("busted", 1941, 3878),
        ("torus", 4350, 8700),
        ("unit_sphere", 642, 1280),
        ("fuze", 502, 1000),
    ],
)
def test_sizes_of_meshes(name, vertices, faces):
    mesh = real(name)
    assert (len(mesh.vertices), len(mesh.faces)) == (vertices, faces)


@pytest.mark.parametrize(
    ("name", "index", "v_bar", "train", "test"),
    [
        ("abalone", 9, 1.7, 3967, 208),
        ("banknote", 15, 2.6, 1302, 68),
        ("car", 13, 5.0, 1640, 86),
        ("yeast", 14, 3.1, 1408, 74),
        ("cmc", 10, 2.0, 1398, 73),
        ("nursery", 4, 1.4, 12312, 648),
        ("wifi", 5, 0.8, 1899, 99),
        ("chess", 6, 2.3, 26652, 1402),
    ],
)
def test_tables_have_the_mean_v_that_simplex_table_2_prints(name, index, v_bar, train, test):
    parts = datasets.split(real(name))
    assert (len(parts.y_train), len(parts.y_test)) == (train, test)
    sigma = np.exp(np.linspace(np.log(0.1), np.log(2), 20))[index]
    v = sigma * cdist(parts.X_test[:200], -parts.X_train[:2000]).mean()
    assert round(v, 1) == v_bar


@pytest.mark.parametrize(
    ("name", "rows", "columns"),
    [
        ("boston", 506, 13),
        ("concrete", 1030, 8),
        ("cpu", 209, 7),
        ("power", 9568, 4),
        ("airfoil", 1503, 5),
        ("energy", 768, 8),
        ("yacht", 308, 6),
        ("abalone", 4177, 10),
    ],
)
def test_shapes_for_regression(name, rows, columns):
    real(name)
    assert datasets.regression(name).X.shape == (rows, columns)


def test_cpu_predicts_performance_of_which_the_copy_has_the_logarithm():
    real("cpu")
    y = datasets.regression("cpu").y
    assert (y.min(), y.max()) == (6, 1150) and np.array_equal(y, np.rint(y))
    copy = gzip.decompress(storage.read(datasets.find("cpu").files[0])).decode().splitlines()
    logs = np.array([float(line.rsplit(",", 1)[1]) for line in copy])
    assert np.abs(np.log(y) - np.log(y).mean() - logs).max() < 1e-4  # five digits, of numbers up to 3


def test_abalone_predicts_rings():
    real("abalone")
    table = datasets.regression("abalone")
    assert table.y[:3].tolist() == [15, 7, 9]
    assert np.array_equal(table.X[:2, -3:], [[0, 0, 1], [0, 0, 1]]) and table.X[0, 0] == 0.455  # both male


def test_sensors_lie_near_where_they_are_said_to_be():
    t = real("traffic")
    lengths = {e: length for _, _, e, length in t.roads.edges(keys=True, data="length")}
    distance = []
    for sensor, road, offset in zip(t.sensors.tolist(), t.road.tolist(), t.offset, strict=True):
        a, b = (np.array(t.roads.nodes[i]["position"]) for i in t.ends[road].tolist())
        there = a + (b - a) * offset / lengths[road] - t.graph.nodes[sensor]["position"]
        metres = there * [111320 * np.cos(np.radians(37.3)), 110574]
        distance.append(np.linalg.norm(metres))
    assert np.median(distance) < 60  # metres; read from 1, a third of the sensors fall off their roads
    assert all(0 < offset < lengths[road] for road, offset in zip(t.road.tolist(), t.offset, strict=True))


# --- loaders on files that we can read


def test_mini_graph(miniature):
    gml = """graph [
      node [ id 7 label "a" gt "10" ] node [ id 3 label "a" gt "9" ] node [ id 5 label "c" ]
      edge [ source 7 target 3 value 2.0 ] edge [ source 5 target 5 ] edge [ source 3 target 5 ] ]"""
    miniature("graphs", "tiny", {"graphs/tiny.gml": gml.encode()})
    g = datasets.graph("tiny")
    assert list(g.nodes(data="class")) == [(0, 1), (1, 0), (2, -1)]  # 9 before 10: numbers, not words
    assert dict(g.nodes(data="label")) == {0: "a", 1: "a", 2: "c"}
    assert list(g.edges(data=True)) == [(0, 1, {"value": 2.0}), (1, 2, {})]
    assert g.graph == {"classes": ("9", "10"), "self_loops_dropped": 1, "name": "tiny", "source": "registry"}
    assert datasets.provenance() == {"graphs/tiny.gml": hashlib.sha256(gml.encode()).hexdigest()}


@pytest.mark.parametrize(
    ("labels", "names"),
    [(["10", "9", "100", "9"], ("9", "10", "100")), (["b", "c", "1", "a"], ("1", "a", "b", "c")), ([], ())],
)
def test_classes_are_numbered_by_value_or_alphabet(labels, names):
    codes, found = encode(labels)
    assert found == names and [names[code] for code in codes] == labels


def test_mini_mesh_is_merged(miniature):
    solid = trimesh.creation.box()
    stl = trimesh.Trimesh(solid.triangles.reshape(-1, 3), np.arange(36).reshape(-1, 3), process=False)
    miniature("meshes", "box", {"meshes/box.STL": stl.export(file_type="stl")})
    mesh = datasets.mesh("box")
    assert (len(mesh.vertices), len(mesh.faces)) == (8, 12) and mesh.is_watertight


def test_mini_classification(miniature):
    text = "M,0.5,1.5,10\r\nF,0.25,2,9\r\nM,1,0,9\r\nI,9,9,7\r\n"
    miniature("classification", "abalone", {"abalone.data": text.encode()})
    table = datasets.classification("abalone")
    # Numbers, then F and M; the last line, and with it sex I, is dropped.
    assert table.X.tolist() == [[0.5, 1.5, 0, 1], [0.25, 2, 1, 0], [1, 0, 0, 1]]
    assert table.y.tolist() == [1, 0, 0] and table.classes == ("9", "10")
    assert datasets.regression("abalone").y.tolist() == [10, 9, 9, 7]


def test_mini_classification_drops_names_of_rows_and_a_blank_last_line(miniature):
    miniature("classification", "yeast", {"y.data": b"A_B  1 2  CYT\nC_D  3 4  NUC\n\n"})
    table = datasets.classification("yeast")
    assert table.X.tolist() == [[1, 2], [3, 4]] and table.classes == ("CYT", "NUC")


@pytest.mark.parametrize(
    ("path", "content"),
    [("t.csv.gz", gzip.compress(b"1,2,3\n4,5,6\n", mtime=0)), ("t.txt", b"1 2\t3\n4 5\t6 \n")],
)
def test_mini_regression(miniature, path, content):
    miniature("regression", "tiny", {path: content})
    table = datasets.regression("tiny")
    assert table.X.tolist() == [[1, 2], [4, 5]] and table.y.tolist() == [3, 6]


def test_mini_traffic_cuts_roads_at_sensors_in_their_order(miniature):
    files = {
        "traffic/V.csv": b"id,x,y\n1,0,0\n2,1,0\n3,0,1\n",
        "traffic/E.csv": b"id,V1,V2,length\n1,1,2,100\n2,1,2,120\n3,3,2,50\n",
        "traffic/PtE.csv": b"E,length\n1,90\n1,30\n2,10\n",
        "traffic/Y.csv": b",11,12,13\n2017-01-02,1.5,2,3\n2017-01-09,4,5,6\n",
        "traffic/graph_sensor_locations_bay.csv": b"12,37,-122\n11,38,-121\n13,39,-120\n",
        "traffic/lines.shp": b"\xff\xfe not read",
    }
    miniature("traffic", "traffic", files)
    t = datasets.traffic()
    edges = {(min(u, v), max(u, v), length) for u, v, length in t.graph.edges(data="length")}
    assert edges == {(0, 1, 100.0), (0, 4, 30.0), (3, 4, 60.0), (1, 3, 30.0), (2, 5, 10.0), (1, 5, 40.0)}
    assert t.sensors.tolist() == [3, 4, 5] and t.sensor_ids == ("11", "12", "13")
    assert t.graph.nodes[3]["position"] == (-121.0, 38.0) and t.graph.nodes[1]["position"] == (1.0, 0.0)
    assert t.speeds.tolist() == [[1.5, 2, 3], [4, 5, 6]] and t.times == ("2017-01-02", "2017-01-09")
    assert t.ends.tolist() == [[0, 1], [0, 1], [2, 1]]
    assert t.roads.number_of_edges() == 3 and t.roads.number_of_edges(0, 1) == 2
    assert "traffic/lines.shp" not in datasets.provenance()


def test_mini_images(miniature):
    pixels = np.arange(2 * 2 * 3, dtype=np.uint8)
    images = b"\0\0\x08\x03" + np.array([2, 2, 3], ">u4").tobytes() + pixels.tobytes()
    labels = b"\0\0\x08\x01" + np.array([2], ">u4").tobytes() + b"\x05\x07"
    miniature("images", "mnist", {"i.gz": gzip.compress(images), "l.gz": gzip.compress(labels)})
    loaded = datasets.images("mnist")
    assert np.array_equal(loaded.images, pixels.reshape(2, 1, 2, 3)) and loaded.labels.tolist() == [5, 7]
    miniature("images", "mnist", {"i.gz": gzip.compress(images[:-1]), "l.gz": gzip.compress(labels)})
    with pytest.raises(ValueError, match="not IDX"):
        datasets.images("mnist")


def test_mini_sentences(miniature):
    miniature("text", "sst2", {"SST-2/dev.tsv": b'sentence\tlabel\na "fine film \t1\nno\t0\n'})
    loaded = datasets.sentences("dev")
    assert loaded.texts == ('a "fine film', "no") and loaded.labels.tolist() == [1, 0]


# --- the split


def test_split_is_that_of_the_public_code():
    table = datasets.Classification(np.arange(60.0).reshape(30, 2), np.arange(30), (), "t", "here")
    parts = datasets.split(table, seed=3, test_fraction=0.11)
    order = np.random.default_rng(3).permutation(30)
    assert parts.y_train.tolist() == order[:26].tolist() and parts.y_test.tolist() == order[-3:].tolist()
    X = table.X[order]
    assert np.allclose(parts.X_train.mean(axis=0), 0) and np.allclose(parts.X_train.std(axis=0), 1)
    assert np.allclose(parts.X_test, (X[-3:] - X[:26].mean(axis=0)) / X[:26].std(axis=0))


def test_split_leaves_a_constant_column_finite():
    table = datasets.Regression(np.column_stack([np.ones(20), np.arange(20.0)]), np.arange(20.0), "t", "here")
    assert np.array_equal(datasets.split(table, test_fraction=0.1).X_test[:, 0], [0, 0])


@pytest.mark.filterwarnings("ignore::companion.datasets.FallbackWarning")  # true of stand-ins, too
def test_a_split_that_is_not_standardised_has_the_rows_of_the_table():
    table = datasets.classification("banknote", fallback=True)
    raw, parts = (datasets.split(table, seed=3, standardised=flag) for flag in (False, True))
    mean, std = raw.X_train.mean(axis=0), raw.X_train.std(axis=0)
    assert np.array_equal((raw.X_test - mean) / std, parts.X_test)
    assert np.array_equal(raw.y_test, parts.y_test)
    assert {*map(tuple, raw.X_train), *map(tuple, raw.X_test)} <= {*map(tuple, table.X)}


@pytest.mark.parametrize("test_fraction", [0.0, 0.01, 1.0])
def test_split_refuses_an_empty_part(test_fraction):
    table = datasets.Regression(np.zeros((20, 1)), np.zeros(20), "t", "here")
    with pytest.raises(ValueError, match=f"test_fraction = {test_fraction} leaves"):
        datasets.split(table, test_fraction=test_fraction)


def test_resized_images_keep_what_is_flat_or_linear_and_their_mean():
    ramp = np.add.outer(np.arange(28.0), 2 * np.arange(28.0))
    for way in ("area", "bilinear", "antialiased"):
        flat = datasets.resize(np.full((2, 28, 28), 7.0), 8, way)
        assert flat.shape == (2, 8, 8)
        assert np.allclose(flat, 7.0, rtol=1e-14, atol=0)
        assert np.allclose(datasets.resize(ramp, 28, way), ramp, rtol=1e-14, atol=0)
    centres = 28 / 8 * (np.arange(8) + 0.5) - 0.5  # in pixels of the ramp
    linear = np.add.outer(centres, 2 * centres)
    assert np.allclose(datasets.resize(ramp, 8, "bilinear"), linear, rtol=1e-12, atol=0)
    assert np.isclose(datasets.resize(ramp, 8).mean(), ramp.mean(), rtol=1e-12, atol=0)
    noise = np.random.default_rng(0).normal(size=(32, 32))
    boxes = noise.reshape(8, 4, 8, 4)
    assert np.allclose(datasets.resize(noise, 8), boxes.mean(axis=(1, 3)), rtol=1e-12, atol=1e-15)
    assert np.allclose(datasets.resize(noise, 8, "bilinear"), boxes[:, 1:3, :, 1:3].mean(axis=(1, 3)), rtol=1e-12, atol=1e-15)


def test_antialiased_images_are_those_of_another_library():
    noise = np.random.default_rng(0).normal(size=(28, 28))
    theirs = jax.image.resize(noise, (8, 8), "linear", antialias=True)
    assert np.allclose(datasets.resize(noise, 8, "antialiased"), theirs, rtol=0, atol=1e-5)


def test_grey_images_have_the_brightness_of_white():
    white = np.ones((2, 3, 4, 4))
    for way in ("mean", "luma"):
        assert np.allclose(datasets.grey(white, way), 1, rtol=1e-14, atol=0)
        assert np.array_equal(datasets.grey(white[:, :1], way), white[:, 0])
    with pytest.raises(ValueError, match="pixels has shape"):
        datasets.grey(np.ones((2, 2, 4, 4)))
    with pytest.raises(ValueError, match="give square images"):
        datasets.resize(np.ones((4, 5)), 2)


def test_small_splits_share_no_row_and_are_scaled_by_the_training_part():
    X = np.random.default_rng(0).normal(3, 2, (40, 3))
    table = datasets.Regression(X, X.sum(axis=1), "t", "here")
    for scaling, centre, spread in (("standard", 0.0, 1.0), ("range", 0.0, 1.0), ("none", None, None)):
        parts = datasets.small_split(table, 5, largest=15, scaling=scaling)
        order = np.random.default_rng(5).permutation(40)
        raw = X[order[:15]]
        assert parts.X_train.shape == parts.X_test.shape == (15, 3)
        assert abs(parts.y_train.mean()) < 1e-12 and abs(parts.y_train.std() - 1) < 1e-12
        if scaling == "standard":
            assert np.allclose(parts.X_train.mean(axis=0), centre) and np.allclose(
                parts.X_train.std(axis=0), spread
            )
            assert np.allclose(parts.X_test, (X[order[15:30]] - raw.mean(axis=0)) / raw.std(axis=0))
        elif scaling == "range":
            assert np.allclose(parts.X_train.min(axis=0), -1) and np.allclose(parts.X_train.max(axis=0), 1)
        else:
            assert np.array_equal(parts.X_train, raw) and np.array_equal(parts.X_test, X[order[15:30]])
    assert len(datasets.small_split(table, 5).y_test) == 20
    both = datasets.small_split(table, 5, scaling="table")
    whole = np.concatenate([both.X_train, both.X_test])
    assert np.allclose(whole.mean(axis=0), 0) and np.allclose(whole.std(axis=0), 1)


def test_small_split_refuses_a_single_row():
    with pytest.raises(ValueError, match="table has 1 rows"):
        datasets.small_split(datasets.Regression(np.zeros((1, 1)), np.zeros(1), "t", "here"), 0)

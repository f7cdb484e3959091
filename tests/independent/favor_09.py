"""favor/09_cost_of_attention: relative errors of single heads at 512 positions with 256 features; no clocks.

The encoder, its maps and frequencies are those of favor_07.py beside this file: a forward pass of NumPy. Reviews, which
are measured and which maps are fitted to, are drawn anew; two heads of each layer, as on the page.
"""

import csv
import json
import os
import runpy
from pathlib import Path

import numpy as np

MEASURED, FITTED, LENGTH, M = 10, 8, 512, 256  # the page: 20 reviews, and 16 others
PAGE = "notebooks/favor/09_cost_of_attention.ipynb"
encoder = runpy.run_path(str(Path(__file__).with_name("favor_07.py")))
softmax, quotient = encoder["softmax"], encoder["quotient"]


def long_reviews(rng, count):
    """Word pieces of reviews that fill 512 positions, from the book's file of reviews."""
    mirror = Path(os.environ["RFCORE_DATA_MIRROR"]) / "text" / "movie_reviews.csv"
    path = mirror if mirror.exists() else Path(os.environ["RFCORE_DATA_CACHE"]) / "text" / "movie_reviews.csv"
    vocabulary = json.loads((encoder["model_folder"]() / "tokenizer.json").read_bytes())["model"]["vocab"]
    with path.open(encoding="utf-8", newline="") as lines:
        texts = [row["text"].replace("<br />", " ") for row in csv.DictReader(lines) if row["source"] == "imdb"]
    found = []
    for i in rng.permutation(len(texts)):
        ids = encoder["pieces"](texts[i], vocabulary, LENGTH)
        if len(ids) == LENGTH:
            found.append(ids)
        if len(found) == count:
            return found
    raise ValueError("too few long reviews")


def heads_of(w, ids):
    """Queries, keys and values of heads 0 and 6 of every layer, under exact attention."""
    seen = []

    def watched(layer, q, k, v):
        seen.extend((q[h], k[h], v[h]) for h in (0, 6))
        return softmax(layer, q, k, v)

    encoder["embedding"](w, ids, watched)
    return seen


def fitted(of_texts):
    """Maps of each head, of points as they come and of points less their means."""
    found = []
    for of_head in zip(*of_texts, strict=True):
        q, k = (np.concatenate([one[side] for one in of_head]).astype(float) for side in (0, 1))
        maps, means = encoder["maps_of"](q, k), (q.mean(axis=0), k.mean(axis=0))
        centred = encoder["maps_of"](q - means[0], k - means[1])
        for name in ("positive", "GERF", "SADERF", "SDERF"):
            maps[f"{name}, centred"] = (*centred[name][:3], *means)
        found.append(maps)
    return found


def relative(out, exact):
    return np.linalg.norm(out - exact) / np.linalg.norm(exact)


def errors(rng, of_text, maps):
    """Relative errors of all ways in one text, means over heads."""
    found = {}
    for (q, k, v), of_head in zip(of_text, maps, strict=True):
        q, k, v = (x[None] for x in (q, k, v))
        exact, omega = softmax(0, q, k, v), encoder["orthogonal"](rng, M)[None, None]
        outs = {"uniform": encoder["uniform"](0, q, k, v), "ELU + 1": encoder["elu"](0, q, k, v)}
        outs |= {name: encoder["prepared"]([[one]], omega)(0, q, k, v) for name, one in of_head.items()}
        for name, out in outs.items():
            found.setdefault(name, []).append(relative(out, exact))
    return {name: np.mean(values) for name, values in found.items()}


def numbers():
    """(what, place, pattern, own, error) of each."""
    rng, w = np.random.default_rng(0), encoder["weights"]()
    of_texts = [heads_of(w, ids) for ids in long_reviews(rng, MEASURED + FITTED)]
    maps = fitted(of_texts[MEASURED:])
    drawn = [errors(rng, of_text, maps) for of_text in of_texts[:MEASURED]]
    rows = []
    for name in drawn[0]:
        values = [one[name] for one in drawn]
        error = np.std(values, ddof=1) * np.sqrt(1 / MEASURED + 1 / 20)
        row = {"uniform": r"uniform [\d.]+ ", "ELU + 1": r"ELU \+ 1 [\d.]+ "}.get(name, rf"{name}, m = {M} [\d.]+ ")
        rows.append((f"relative error, {name}", PAGE, rf"(?<!\w){row}(0\.\d{{3}})", np.mean(values), error))
    of = {row[0].removeprefix("relative error, "): row for row in rows}
    for name, pattern in (("SDERF, centred", r"at a relative error of ([\d.]+) to"),
                          ("GERF", r"at a relative error of [\d.]+ to ([\d.]+)\.")):  # fmt: skip
        rows.append((f"lead: {name}", PAGE, pattern, *of[name][3:]))
    return rows

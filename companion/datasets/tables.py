"""Tables of the UCI repository, and the split that the papers make of them.

Without its file a loader returns, with ``fallback=True``, random points of the same shape.
"""

import gzip
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from companion.datasets import registry, stand_ins, storage
from companion.datasets.stand_ins import real_or_stand_in
from rfcore import checks

# Columns that hold words, not numbers: one-hot. The numbers of cmc stay numbers, as in the authors' loader.
_WORDS = {"abalone": (0,), "car": range(6), "nursery": range(8), "chess": range(6)}


class Classification(NamedTuple):
    """Rows with classes: ``classes[y[i]]`` names the class of ``X[i]``."""

    X: np.ndarray
    """Shape (n, d), float64; not standardised."""
    y: np.ndarray
    """Shape (n,), int64."""
    classes: tuple[str, ...]
    name: str
    source: str


class Regression(NamedTuple):
    """Rows with a number to predict."""

    X: np.ndarray
    """Shape (n, d), float64; not standardised."""
    y: np.ndarray
    """Shape (n,), float64; not standardised."""
    name: str
    source: str


class Split(NamedTuple):
    """A table cut in two; inputs standardised by the training part unless :func:`split` was told not to."""

    X_train: np.ndarray
    y_train: np.ndarray
    X_test: np.ndarray
    y_test: np.ndarray


def classification(name: str, *, fallback: bool = False) -> Classification:
    """Load one of the eight tables of Simplex Random Features, read as its authors' public code reads them.

    Columns of words become one-hot and follow the columns of numbers, which gives d = 10, 4, 21, 8, 9, 27, 7,
    40 for abalone, banknote, car, yeast, cmc, nursery, wifi and chess. The last line of every file is
    dropped: a slip in that code, kept because the published numbers carry it (nursery loses a blank line
    only).

    Source: the UCI repository; Simplex Random Features, Section 5.3.
    """
    entry = registry.find(name, "classification")

    def read():
        X, last = _table(storage.read(entry.files[0]).decode().splitlines()[:-1], entry.name)
        return X, *encode(last)

    (X, y, classes), source = real_or_stand_in(entry, read, stand_ins.classification, fallback)
    return Classification(X, y, classes, entry.name, source)


def regression(name: str, *, fallback: bool = False) -> Regression:
    """Load a regression table: the last column is the target, the others are inputs.

    The names are those of the family ``regression``, and ``"abalone"``: rings are counted there, with all
    4177 lines of the classification file and sex one-hot (d = 10). The means of all columns were taken off
    the tables before they were published in the registered form, except power and abalone. Of ``cpu``
    that form holds the logarithm of the performance; what is returned is the performance, whole numbers from
    6 to 1150.
    """
    entry = registry.find(name, "classification" if name == "abalone" else "regression")
    (file,) = entry.files

    def read():
        content = storage.read(file)
        text = (gzip.decompress(content) if file.path.endswith(".gz") else content).decode()
        X, last = _table([line for line in text.splitlines() if line.strip()], entry.name)
        y = last.astype(float)
        return X, np.rint(6 * np.exp(y - y.min())) if entry.name == "cpu" else y

    (X, y), source = real_or_stand_in(entry, read, stand_ins.regression, fallback)
    return Regression(X, y, entry.name, source)


def split(
    table: Classification | Regression, *, seed: int = 42, test_fraction: float = 0.05, standardised: bool = True
) -> Split:
    """Cut a table in two at random and standardise the inputs by the training part's mean and deviation.

    The first int(n (1 - test_fraction)) rows of ``numpy.random.default_rng(seed).permutation(n)`` train, the
    last int(n test_fraction) test; where both round down, one row is in neither. With the defaults this is
    the split of the public code of Simplex Random Features. A column that is constant in the training part
    becomes zero there. With ``standardised=False`` the columns stay as they are in the table.

    Source: Simplex Random Features, Section 5.3 and its public code.

    >>> from companion import datasets
    >>> parts = datasets.split(datasets.classification("banknote", fallback=True))
    >>> len(parts.y_train), len(parts.y_test), bool(abs(parts.X_train.mean()) < 1e-9)
    (1302, 68, True)
    """
    seed, test_fraction = checks.count(seed, "seed", least=0), checks.real(test_fraction, "test_fraction")
    n = len(table.y)
    train, test = int(n * (1 - test_fraction)), int(n * test_fraction)
    if train < 1 or test < 1:
        got = f"test_fraction = {test_fraction} leaves {train} rows to train and {test} to test of {n}"
        raise ValueError(f"{got}; give a number between 0 and 1 that leaves both at least one")
    order = np.random.default_rng(seed).permutation(n)
    X, y = table.X[order], table.y[order]
    if not standardised:
        return Split(X[:train], y[:train], X[n - test :], y[n - test :])
    mean, std = X[:train].mean(axis=0), X[:train].std(axis=0)
    X = (X - mean) / np.where(std == 0, 1.0, std)
    return Split(X[:train], y[:train], X[n - test :], y[n - test :])


def small_split(
    table: Classification | Regression, seed: int, *, largest: int = 256, scaling: str = "standard"
) -> Split:
    """Cut a table in two parts of few rows at random, and scale inputs and targets by the training part.

    Of ``numpy.random.default_rng(seed).permutation(n)`` the first rows train and the next test, ``largest``
    each, or half of the table each where it has fewer. A column that is constant in the training part becomes
    zero there. The numbers to predict are standardised by the training part; classes are left alone. The
    paper takes 20 splits, and prints neither how inputs are scaled nor how small tables are cut.

    ::

        standard   (X - mean) / deviation of the rows that train
        table      (X - mean) / deviation of the whole table
        range      (X - middle) / half the range of the rows that train, which then fill [-1, 1]
        none       X

    One row of ``cpu`` is 4000 deviations of the others away: where it does not train, "standard" leaves it
    there.

    Args:
        table, seed: what to cut, and a whole number.
        largest: rows of a part.
        scaling: "standard", "table", "range" or "none".

    Source: Variance-Reducing Couplings, Appendix B.1.
    """
    seed, largest = checks.count(seed, "seed", least=0), checks.count(largest, "largest")
    checks.choice(scaling, "scaling", ("standard", "table", "range", "none"))
    n = len(table.y)
    size = min(largest, n // 2)
    if size < 1:
        raise ValueError(f"table has {n} rows; give one of at least two, for a part each")
    order = np.random.default_rng(seed).permutation(n)
    train, test = order[:size], order[size : 2 * size]
    X, y = table.X, table.y
    if scaling in ("standard", "table"):
        known = X[train] if scaling == "standard" else X
        centre, spread = known.mean(axis=0), known.std(axis=0)
    else:
        low, high = X[train].min(axis=0), X[train].max(axis=0)
        centre, spread = (low + high) / 2, (high - low) / 2
    if scaling != "none":
        X = (X - centre) / np.where(spread == 0, 1.0, spread)
    if isinstance(table, Regression):
        y = (y - y[train].mean()) / (y[train].std() or 1.0)
    return Split(X[train], y[train], X[test], y[test])


def _table(lines: list[str], name: str) -> tuple[np.ndarray, np.ndarray]:
    """Inputs, numbers first, then one-hot words, and the last column as text."""
    cells = np.array([line.split("," if "," in line else None) for line in lines])
    if name == "yeast":
        cells = cells[:, 1:]  # the name of the sequence
    words = _WORDS.get(name, ())
    numbers = [j for j in range(cells.shape[1] - 1) if j not in words]
    blocks = [cells[:, numbers].astype(float)]
    for j in words:
        codes, values = encode(cells[:, j])
        blocks.append(np.eye(len(values))[codes])
    return np.concatenate(blocks, axis=1), cells[:, -1]


def encode(labels: ArrayLike) -> tuple[np.ndarray, tuple[str, ...]]:
    """Number the distinct labels, whole numbers by value and other words alphabetically.

    Returns:
        Codes, int64 (n,), and names, of which ``names[codes[i]]`` is the label i.
    """
    names, codes = np.unique(np.asarray(labels, dtype=str), return_inverse=True)
    if all(name.isdigit() for name in names):
        order = np.argsort(names.astype(int))
        names, codes = names[order], np.argsort(order)[codes]
    return codes.astype(np.int64), tuple(names.tolist())

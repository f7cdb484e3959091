"""Sparse feature matrices from the deposits of walks, in linear time and without ever holding them twice."""

from collections.abc import Iterable

import numpy as np
import scipy.sparse as sp


def assembled(entries: tuple[np.ndarray, np.ndarray, np.ndarray], shape: tuple[int, int]) -> sp.csr_array:
    """CSR array of entries (row, node, value); those of one row at one node are added.

    Pass the only reference to the entries. They are freed as soon as they have been read: sorting is limited
    by memory bandwidth, and the memory reused for the next copy is then still in the cache.
    """
    row, node, values = entries
    del entries
    n_cells = shape[0] * shape[1]
    if n_cells <= max(len(values), 4096):  # a small graph: dense sums are cheap, and need no sorting
        sums = np.bincount(row * np.intp(shape[1]) + node, values, n_cells)
        cells = np.flatnonzero(sums)
        indptr = cells.searchsorted(np.arange(0, n_cells + 1, shape[1]))
        parts = sums[cells], (cells % shape[1]).astype(np.int32), indptr.astype(np.int32)
        return sp.csr_array(parts, shape=shape)
    if len(values) < max(shape[1] // 8, 8192):  # few rows of a large graph, or few entries
        return sp.coo_array((values, (row, node)), shape=shape).tocsr()
    # Two counting sorts, by node and then by row, in place of a comparison sort of every row: a third of the time.
    by_node = sp.coo_array((values, (node, row)), shape=shape[::-1])
    del row, node, values
    by_node.has_canonical_format = True  # not yet, but there is no need to add duplicates here
    by_node = by_node.tocsr()
    matrix = by_node.T.tocsr()
    matrix.has_sorted_indices = True  # skips a check
    matrix.sum_duplicates()
    return matrix


def stacked(matrices: Iterable[sp.csr_array], n_nodes: int, n_entries: int) -> sp.csr_array:
    """CSR arrays stacked vertically, in one allocation whose size is first estimated as ``n_entries``."""
    indices, data = np.empty(n_entries, dtype=np.int32), np.empty(n_entries)  # no memory until it is written
    counts, size = [np.zeros(1, dtype=np.int64)], 0
    for matrix in matrices:
        new = slice(size, size := size + matrix.nnz)
        if size > len(data):
            indices.resize(size + size // 4, refcheck=False)
            data.resize(size + size // 4, refcheck=False)
        indices[new], data[new] = matrix.indices, matrix.data
        counts.append(np.diff(matrix.indptr))
    indices.resize(size, refcheck=False)
    data.resize(size, refcheck=False)
    indptr = np.cumsum(np.concatenate(counts), dtype=np.int32 if size < 2**31 else np.int64)
    return sp.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n_nodes))

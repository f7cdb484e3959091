"""Attention by features, and draws of frequencies, on an accelerator; prints, and keeps JSON in the file that is named.

Attention: 8 heads, d = 64, m = 256, milliseconds, forward / forward and backward, of bfloat16 inputs. Beside ``random_feature_attention``
stand cuDNN's exact attention and a plain program of features (tests/plain_attention.py), which has one exponent over all
keys and forms all chunks at once. Milliseconds are the least of three means of many calls. ::

    XLA_PYTHON_CLIENT_PREALLOCATE=false PYTHONPATH=.:tests python tests/benchmarks/accelerator.py FILE
"""

import json
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from itertools import product
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from plain_attention import plain

from rfcore import attention, couplings, features, kernels
from rfcore.couplings import directions

HEADS, D, M = 8, 64, 256
LENGTHS = {True: (1024, 4096, 16_384, 65_536), False: (4096, 65_536)}
BEYOND = 1_048_576  # positions of one head


def exact(q, k, v, omega, causal):
    """cuDNN's, which takes (batch, positions, heads, d)."""
    q, k, v = (jnp.swapaxes(x, 0, 1)[None] for x in (q, k, v))
    out = jax.nn.dot_product_attention(q, k, v, scale=1.0, is_causal=causal, implementation="cudnn")
    return jnp.swapaxes(out[0], 0, 1)


def ours(q, k, v, omega, causal):
    """FAVOR+ from the library."""
    return attention.random_feature_attention(q, k, v, omega, causal=causal)


def milliseconds(call):
    """Least of three means of as many calls as take a tenth of a second."""
    jax.block_until_ready(call())
    start = time.perf_counter()
    jax.block_until_ready(call())
    n = max(3, min(200, int(0.1 / (time.perf_counter() - start))))
    means = []
    for _ in range(3):
        start = time.perf_counter()
        jax.block_until_ready([call() for _ in range(n)][-1])
        means.append((time.perf_counter() - start) / n)
    return 1e3 * min(means)


def inputs(length, dtype, heads=HEADS):
    """Queries and keys times d^(-1/4), values, and frequencies of each head."""
    keys = jax.random.split(jax.random.key(0), 4)
    q, k, v = (jax.random.normal(key, (heads, length, D)) for key in keys[:3])
    return *((x / D**0.25).astype(dtype) for x in (q, k)), v.astype(dtype), jax.random.normal(keys[3], (heads, M, D))


def compiled(program, length, causal, backward, dtype, heads=HEADS):
    """Compiled call on shapes, and MiB of what it holds beside its inputs and outputs."""

    def run(*given):
        return program(*given, causal)

    def loss(*given):
        return jnp.sum(run(*given).astype(jnp.float32) ** 2)

    shapes = jax.eval_shape(lambda: inputs(length, dtype, heads))
    call = jax.jit(jax.grad(loss, (0, 1, 2)) if backward else run).lower(*shapes).compile()
    return call, call.memory_analysis().temp_size_in_bytes / 2**20


def attentions():
    """Rows of all programs, lengths and ways; compiled side by side, timed one after the other."""
    cases = [
        (program, length, causal, backward, jnp.bfloat16)
        for causal in LENGTHS
        for length, program, backward in product(LENGTHS[causal], (exact, plain, ours), (False, True))
    ]
    cases += [(ours, 65_536, causal, True, jnp.float32) for causal in LENGTHS]
    cases += [(ours, BEYOND, True, backward, jnp.bfloat16, 1) for backward in (False, True)]
    with ThreadPoolExecutor(8) as pool:
        for case, made in zip(cases, [pool.submit(compiled, *case) for case in cases], strict=True):
            program, length, causal, backward, dtype, *heads = case
            row = {"program": program.__name__, "length": length, "causal": causal, "backward": backward}
            row |= {"dtype": dtype.dtype.name, "heads": (heads or [HEADS])[0]}
            try:
                call, row["mebibytes"] = made.result()
                given = inputs(length, dtype, *heads)
                row["milliseconds"] = milliseconds(lambda call=call, given=given: call(*given))
            except jax.errors.JaxRuntimeError as error:
                row["failed"] = str(error).splitlines()[0][:200]
            print(row, flush=True)
            yield row


def draws():
    """Frequencies of all heads, and a large block, drawn by the library and by Householder's reflections."""
    keys = jax.random.split(jax.random.key(0), HEADS)
    blocks = jax.random.normal(jax.random.key(1), (16, 256, 256))
    found = {}
    for name, function, given in (
        (f"{HEADS} x {M} x {D}, orthogonal", jax.vmap(lambda key: couplings.orthogonal(key, M, D)), keys),
        (f"{HEADS} x {M} x {D}, normals alone", jax.vmap(lambda key: couplings.iid(key, M, D)), keys),
        ("4096 x 256, orthogonal", lambda key: couplings.orthogonal(key, 4096, 256), keys[0]),
        ("16 rotations of 256 dimensions, by Cholesky", directions._by_cholesky, blocks),
        ("16 rotations of 256 dimensions, by reflections", directions._by_reflections, blocks),
    ):
        call = jax.jit(function)
        found[name] = milliseconds(lambda call=call, given=given: call(given))
        print(name, found[name], flush=True)
    return found


def accuracy():
    """Largest errors against float64 on the host."""
    rng, found = np.random.default_rng(0), {}
    for d in (64, 512):
        x, omega = ((rng.normal(size=(n, d)) / root).astype(np.float32) for n, root in ((200, d**0.25), (256, 1.0)))
        wide, turns = x.astype(float), x.astype(float) @ omega.T.astype(float)
        positive = np.exp(turns - (wide**2).sum(axis=1, keepdims=True) / 2) / 16
        found[f"positive, relative, d = {d}"] = np.abs(np.asarray(features.positive(x, omega, kernel="softmax")) / positive - 1).max()
        fourier = np.concatenate([np.sin(turns), np.cos(turns)], axis=1) / 16
        found[f"fourier, of the largest, d = {d}"] = 16 * np.abs(np.asarray(features.fourier(x, omega)) - fourier).max()
        found[f"softmax kernel, relative, d = {d}"] = np.abs(np.asarray(kernels.softmax(x, x)) / np.exp(wide @ wide.T) - 1).max()
        for coupling in (couplings.orthogonal, couplings.orthogonal_fast):
            w = np.asarray(coupling(jax.random.key(0), d, d), float)
            w /= np.linalg.norm(w, axis=1, keepdims=True)
            found[f"{coupling.__name__}, cosines, d = {d}"] = np.abs(w @ w.T - np.eye(d)).max()
        w = np.asarray(couplings.simplex_plus(jax.random.key(0), d, d), float)
        found[f"simplex_plus, sum of rows over a row, d = {d}"] = np.linalg.norm(w.sum(axis=0)) / np.sqrt(d)
    for causal in (False, True):
        narrow = inputs(1024, jnp.bfloat16)
        wide = np.asarray(ours(*(x.astype(jnp.float32) for x in narrow), causal))
        error = np.asarray(ours(*narrow, causal).astype(jnp.float32)) - wide
        found[f"bfloat16 {'causal ' * causal}attention, of the root mean square"] = np.sqrt(np.mean(error**2) / np.mean(wide**2))
    for name, value in found.items():
        print(f"{name}: {value:.2g}", flush=True)
    return {name: float(value) for name, value in found.items()}


def main():
    """Measure, print and keep."""
    kept = {"device": jax.devices()[0].device_kind, "jax": jax.__version__, "date": time.strftime("%Y-%m-%d")}
    print(kept, flush=True)
    kept |= {"draws": draws(), "accuracy": accuracy(), "attention": []}
    for row in attentions():
        kept["attention"].append(row)
        Path(sys.argv[1]).write_text(f"{json.dumps(kept, indent=1)}\n", encoding="utf-8")


if __name__ == "__main__":
    main()

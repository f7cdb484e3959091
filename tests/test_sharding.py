"""Points that are shared out over devices stay so through couplings, maps and products: four devices of one processor."""

import os
import subprocess
import sys

PROGRAM = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import AxisType, NamedSharding, PartitionSpec
from rfcore import couplings, features
from rfcore import attention

assert len(jax.devices()) == 4
mesh = jax.make_mesh((4,), ("points",), axis_types=(AxisType.Auto,))
by_rows = NamedSharding(mesh, PartitionSpec("points"))
x = jax.random.normal(jax.random.key(0), (64, 8)) / 4
shared = jax.device_put(x, by_rows)


def is_shared(array):
    return array.sharding.is_equivalent_to(by_rows, array.ndim) and len(array.addressable_shards) == 4


for coupling in (couplings.iid, couplings.simplex, couplings.orthogonal_pnc, couplings.sobol, couplings.orthogonal_fast):
    omega = coupling(jax.random.key(1), 16, 8)
    for a_map in (features.fourier, features.positive, features.log_positive):
        phi, alone = a_map(shared, omega), a_map(x, omega)
        assert is_shared(phi), (coupling, a_map, phi.sharding)
        np.testing.assert_allclose(phi, alone, rtol=0, atol=1e-5)
phi, alone = features.positive(shared, omega), features.positive(x, omega)
assert is_shared(phi @ (phi.T @ shared))  # a product with the kernel: of sums over devices, m numbers travel
np.testing.assert_allclose(phi @ (phi.T @ shared), alone @ (alone.T @ x), rtol=1e-4, atol=1e-5)
log_phi = features.log_positive(shared, omega, kernel="softmax")
assert is_shared(attention.linear_of_logs(log_phi, log_phi, shared))
heads = jax.device_put(jnp.stack([x] * 4), by_rows)
log_heads = jax.vmap(lambda x: features.log_positive(x, omega, kernel="softmax"))(heads)
out = attention.linear_of_logs(log_heads, log_heads, heads, causal=True)
assert is_shared(out), out.sharding
print("shared")
"""


def test_points_stay_where_they_are():
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count=4".strip()
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=300, check=False,
        env={**os.environ, "XLA_FLAGS": flags, "JAX_USE_SHARDY_PARTITIONER": "true"},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("shared\n")

"""What a stranger writes on the first day, with a type checker running: ``make types`` holds the package against it."""

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np

import rfcore
from rfcore import attention, couplings, features, kernels
from rfcore.estimators import RandomFeatures
from rfcore.graphs import Graph

key = jax.random.key(0)
x = jax.random.normal(key, (40, 4)) / 2

# A coupling of frequencies times a feature map estimates a kernel.
coupling = couplings.compose("orthogonal", "antithetic")
chosen = rfcore.choose(m=64, d=4)
for draw in (couplings.iid, couplings.orthogonal_fast, coupling, chosen.coupling):
    omega = draw(key, 64, 4)
    for a_map in (features.fourier, features.positive):
        phi = a_map(x, omega)
        error = float(jnp.abs(phi @ phi.T - kernels.gaussian(x, x)).max())
        print(f"{error:.2f}")
logs: jax.Array = features.log_positive(x, couplings.simplex(key, 64, 4), kernel="softmax")
print(rfcore.theory.mse_ratio(coupling, "fourier", 1.0, m=64, d=4), chosen.rmse_over_iid[1.0])
print(rfcore.couplings is couplings, kernels.matern(x, x, nu=1.5).shape)

# Attention, as a function and as a layer.
out: jax.Array = attention.linear_of_logs(logs, logs, x, causal=True)
exact = eqx.nn.MultiheadAttention(2, 4, key=key)
layer = attention.FeatureAttention(exact, 32, key=key).calibrated(x, x, x)
print(out.shape, layer(x, x, x).shape, attention.softmax(x, x, x).shape)

# The same on a graph, where walks are the frequencies, and a modulation is the map.
graph = Graph.from_edges([[0, 1, 2, 3], [1, 2, 3, 0]]).normalised()
diffusion = kernels.Diffusion(1.0)
walks = features.walk_features(key, graph, features.modulation.of_kernel(diffusion), n_walks=8, p_halt=0.3)
print(np.abs(walks @ (walks.T @ np.ones(4)) - diffusion.dense(graph) @ np.ones(4)).max() < 1)
print(float(jax.grad(lambda sigma: kernels.Diffusion(sigma)(jnp.array(0.5)))(1.0)))

# And in a pipeline of scikit-learn.
Z: np.ndarray = np.asarray(RandomFeatures(20, gamma=0.1, coupling="simplex", random_state=0).fit_transform(np.asarray(x)))
print(Z.shape)

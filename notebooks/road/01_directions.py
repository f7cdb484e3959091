# %% [markdown]
# # Where should frequencies point?
#
# A random feature looks at a point along a random direction, the *frequency*. You may draw the frequencies one by one, and everybody
# starts like that. But nothing says that they must not know of each other: as long as each frequency by itself is normal, the
# estimate of the kernel is right on average. Does it matter how they point?
#
# Take as many frequencies as there are dimensions, and three ways to draw them. *Independent* ones cluster by chance. *Orthogonal*
# ones are turned to stand at right angles. A *simplex* pushes them as far apart as they can go: in the plane to opposite sides,
# in space to the corners of a triangle, in $d$ dimensions to $d$ corners.

# %% tags=["parameters"]
d = 16  # dimensions, and frequencies in a set
n_repeats = 4000

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import couplings, features, kernels, theory

draws = {
    "independent": couplings.iid,
    "orthogonal": couplings.orthogonal,
    "simplex": couplings.simplex,
}

# %%
keys = jax.random.split(jax.random.key(0), n_repeats)


def error(draw, x, y):
    """The mean squared error of the kernel of two points."""
    omega = jax.vmap(lambda key: draw(key, d, d))(keys)
    phi, psi = (jax.vmap(lambda w, p=p: features.positive(p, w))(omega) for p in (x, y))
    return ((phi @ psi.mT - kernels.gaussian(x, y)) ** 2).mean()


# %% [markdown]
# Now move two points away from the origin, and watch the error of each set as a share of the independent one's. Dots are measured; the
# lines are a formula, to which we come below. (The dots stop early because far out the squared error is so seldom large, and then so
# huge, that 4,000 repeats say little. A formula needs no repeats.)

# %%
v = jnp.linspace(0.01, 4, 100)  # the length of x + y
dots = [jnp.zeros((1, d)).at[0, 0].set(length / 2) for length in (0.2, 0.5, 0.8, 1.1)]
base = jnp.array([error(couplings.iid, x, x) for x in dots])
for i, (name, draw) in enumerate(draws.items()):
    measured = jnp.array([error(draw, x, x) for x in dots])
    plt.plot([2 * x[0, 0] for x in dots], measured / base, f"oC{i}")
    formula = theory.positive_mse_ratio(v, d, d, name.replace("independent", "iid"))
    plt.plot(v, formula, f"C{i}", label=name)
plt.gca().set(
    xlabel="length of x + y", ylabel="error / independent error", ylim=(0, 1.1)
)
plt.legend()
plt.show()

# %% [markdown]
# Near the origin the simplex wipes out nearly all of the error. Far out, no arrangement helps. {verdict}`simplex/fig-6/order`
#
# ## Why
#
# Write $z_i$ for what frequency $i$ contributes to the estimate. The error is a sum over single frequencies, which no coupling can
# change, and over pairs. A uniform rotation averages away everything about a pair but one number, the length of the sum
# $\omega_i + \omega_j$. **The shorter the sum, the smaller the error.** Look at those lengths:

# %%
for i, (name, draw) in enumerate(draws.items()):
    omega = draw(jax.random.key(1), 200 * d, d).reshape(200, d, d)  # 200 sets
    sums = jnp.linalg.norm(omega[:, :, None] + omega[:, None], axis=-1)
    pairs = sums[:, ~jnp.eye(d, dtype=bool)].ravel()
    plt.hist(pairs, bins=60, density=True, histtype="step", color=f"C{i}", label=name)
plt.gca().set(xlabel="length of the sum of two frequencies", ylabel="density")
plt.legend()
plt.show()

# %% [markdown]
# Here is the surprise. In 16 dimensions the corners of a simplex stand at 94 degrees, hardly more than a right angle, and its
# histogram is hardly to the left of the blue one. Yet at the left end of the first picture its error is a thirtieth. A simplex wins not
# because one pair stands farther apart, but because *all pairs* do, by just the amount that makes the corners sum to zero: and near the
# origin the error of the average is, to first order, the length of that sum. {verdict}`simplex/thm-3.2/mse`
#
# ## Two exercises
#
# **With a pen.** The corners of a simplex in $d$ dimensions are $d$ unit vectors that sum to zero. What is the cosine between two of
# them?
#
# :::{dropdown} Solution
# $0 = |\sum_i u_i|^2 = d + d(d - 1) \cos$, so $\cos = -1 / (d - 1)$: $-1$ in the plane, $-1/15$ in 16 dimensions.
# :::
#
# **To run.** Set $d = 2$ and run all cells again, then $d = 64$. How far out does the simplex still halve the error? Is there a
# distance at which it does harm?
#
# :::{dropdown} What you should see
# Up to a length of about 0.7 in the plane, 1.3 in 16 dimensions and 1.5 in 64. And it never does harm: that the simplex is ahead of
# right angles at every distance, and these of independent draws, is a theorem ({doc}`/notebooks/simplex/01_conformity_and_error`).
# :::

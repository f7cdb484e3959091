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
n_repeats = 10_000

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

# %% [markdown]
# In the plane, five sets of two frequencies, a colour for each set:

# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(5.2, 1.9), sharex=True, sharey=True)
angles = {}
for ax, (name, draw) in zip(axes, draws.items()):
    pairs = draw(jax.random.key(2), 10, 2).reshape(5, 2, 2)
    pairs /= jnp.linalg.norm(pairs, axis=-1, keepdims=True)  # directions alone
    for i, pair in enumerate(pairs):
        colour = plt.cm.viridis(i / 5)
        ax.plot(*jnp.stack([pair[0], jnp.zeros(2), pair[1]]).T, color=colour)
        ax.plot(*pair.T, "o", color=colour, markersize=5)
    ax.set(title=name, aspect="equal")
    ax.axis("off")
    angles[name] = (pairs[:, 0] * pairs[:, 1]).sum(-1)
plt.show()
assert jnp.allclose(angles["orthogonal"], 0, atol=1e-5)
assert jnp.allclose(angles["simplex"], -1, atol=1e-5)
assert jnp.ptp(angles["independent"]) > 0.5

# %%
keys = jax.random.split(jax.random.key(0), n_repeats)
v = jnp.linspace(0.01, 4, 100)  # the length of x + y
lines = {
    name: theory.mse_ratio(coupling, "positive", v, m=d, d=d)
    for name, coupling in draws.items()
}


def squared_errors(draw, x):
    """Of the kernel of a point with itself, which is 1: one a set of frequencies."""
    omega = jax.vmap(lambda key: draw(key, d, d))(keys)
    phi = jax.vmap(lambda w: features.positive(x, w))(omega)
    return ((phi @ phi.mT - kernels.gaussian(x, x)) ** 2).ravel()


# %% [markdown]
# Now move two points away from the origin, and watch the error of each set as a share of the independent one's. Dots are measured, with
# two standard errors; the lines are a formula, which comes below. (The dots stop early: far out the squared error is so seldom
# large, and then so huge, that 10,000 repeats say little.)

# %%
away = []  # of the dots from the lines, in standard errors
for i, (name, draw) in enumerate(draws.items()):
    plt.plot(v, lines[name], f"C{i}", label=name)
    for length in (0.2, 0.5, 0.8):
        x = jnp.zeros((1, d)).at[0, 0].set(length / 2)
        share = squared_errors(draw, x) / theory.positive_mse(x[0], x[0], d, "iid")
        mean, error = share.mean(), share.std() / n_repeats**0.5
        plt.errorbar(length, mean, 2 * error, fmt=f"oC{i}", capsize=2)
        away.append((mean - jnp.interp(length, v, lines[name])) / error)
plt.gca().set(
    xlabel="length of x + y", ylabel="error / independent error", ylim=(0, 1.1)
)
plt.legend()
plt.show()
# %% tags=["hide-input"]
orthogonal, simplex = lines["orthogonal"], lines["simplex"]
assert max(map(abs, away)) < 5, away
assert (simplex <= orthogonal + 1e-6).all() and (orthogonal <= 1).all()
if d == 16:  # what the text and the description of the picture say
    assert abs(1 / simplex[0] - 32.5) < 0.5 and orthogonal[0] > 0.99
    assert abs(orthogonal.min() - 0.77) < 0.005
    assert abs(v[orthogonal.argmin()] - 1.2) < 0.05
    assert abs(jnp.interp(2.5, v, simplex) - 0.98) < 0.005 and simplex[-1] > 0.999

# %% [markdown]
# At every distance the simplex is ahead of right angles, and these of independent draws. {verdict}`simplex/fig-6/order` Near the origin
# the simplex wipes out nearly all of the error. Far out, no arrangement helps.
#
# ## Why
#
# The error is a sum over single frequencies, which no coupling can change, and over pairs. With $v = |x + y|$ it is
#
# $$
# \tfrac1m\, e^{-2|x|^2 - 2|y|^2} \left[ e^{2 v^2} - e^{v^2} + (m - 1) \bigl( \rho - e^{v^2} \bigr) \right], \qquad
# \rho = \mathbb E\, e^{(\omega_i + \omega_j) \cdot (x + y)},
# $$
#
# and simulated errors agree. {verdict}`simplex/thm-3.2/mse` A uniform rotation averages away everything about a pair but one number, the
# length of the sum $\omega_i + \omega_j$. **The shorter the sum, the smaller $\rho$.** Look at those lengths:

# %%
spread = {}
for i, (name, draw) in enumerate(draws.items()):
    omega = draw(jax.random.key(1), 200 * d, d).reshape(200, d, d)  # 200 sets
    sums = jnp.linalg.norm(omega[:, :, None] + omega[:, None], axis=-1)
    pairs = sums[:, ~jnp.eye(d, dtype=bool)].ravel()
    plt.hist(pairs, bins=60, density=True, histtype="step", color=f"C{i}", label=name)
    spread[name] = pairs.mean(), pairs.std()
plt.gca().set(xlabel="length of the sum of two frequencies", ylabel="density")
plt.legend()
plt.show()
# %% tags=["hide-input"]
if d == 16:
    (_, wide), (middle, one), (left, other) = spread.values()
    assert 0.1 < middle - left < 0.3 < one < 0.8 * wide and other < 0.8 * wide
    assert all(abs(mean - 5.5) < 0.2 for mean, _ in spread.values())
    assert round(float(jnp.degrees(jnp.arccos(-1 / 15)))) == 94

# %% [markdown]
# Here is the surprise. In 16 dimensions the corners of a simplex stand at 94 degrees, hardly more than a right angle, and its
# histogram is hardly to the left of the blue one. Yet at the left end of the first picture its error is a thirtieth. A simplex wins not
# because one pair stands farther apart, but because *all pairs* do, by just the amount that makes the corners sum to zero: and near the
# origin the error of the average is, to first order, proportional to the length of that sum.
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
#
# ```python
# d = 2  # and all cells again
# for dimensions, reach in ((2, 0.7), (16, 1.3), (64, 1.5)):
#     ratio = theory.mse_ratio("simplex", "positive", v, m=dimensions, d=dimensions)
#     assert abs(v[ratio < 0.5].max() - reach) < 0.05
#     assert (ratio <= 1).all()
# ```
# :::

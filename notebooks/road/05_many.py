# %% [markdown]
# # What if there are many more frequencies than dimensions?
#
# The papers draw as many frequencies as there are dimensions, $m = d$. You will draw thousands. At most $d$ vectors can stand at right
# angles to each other, so they come in *blocks* of $d$, each turned on its own, and one block knows nothing of the next. Can blocks make
# up for each other as well?
#
# In the plane a block is a cross. Here are six. Independent lengths leave gaps and crowds; *shells* give each cross one length, and let
# the lengths of the crosses share out the radii evenly.

# %% tags=["parameters"]
d = 8  # dimensions
distance = 0.5  # of the two points, in lengthscales

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import couplings, features
from rfcore.couplings import compose, directions, norms

shells = compose(directions.orthogonal, norms.coupled("stratified", over="blocks"))
shown = {
    "independent": couplings.iid,
    "orthogonal": couplings.orthogonal,
    "shells": shells,
}
# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2), sharex=True, sharey=True)
for ax, (name, draw) in zip(axes, shown.items()):
    omega = draw(jax.random.key(1), 12, 2)
    for block, two in enumerate(omega.reshape(6, 2, 2)):
        colour = plt.cm.viridis(block / 6)
        for w in two:
            ax.annotate(
                "", w, (0, 0), arrowprops={"arrowstyle": "-|>", "color": colour}
            )
    ax.set(title=name, aspect="equal", xticks=[], yticks=[])
axes[0].set(xlim=(-2.7, 2.7), ylim=(-2.7, 2.7))
plt.show()

# %% [markdown]
# Now the race. All errors are shares of the error of as many independent frequencies.

# %%
point = jnp.full((1, d), distance / d**0.5)  # along no axis, which would favour some


def error(draw, m, n_draws=200):
    """The root mean squared error of the kernel of the origin and a point."""
    keys = jax.random.split(jax.random.key(0), n_draws)
    omega = jax.lax.map(lambda key: draw(key, m, d), keys)
    phi, psi = (
        jax.vmap(lambda w, x=x: features.fourier(x, w))(omega)
        for x in (point, 0 * point)
    )
    return ((phi @ psi.mT - jnp.exp(-(distance**2) / 2)) ** 2).mean() ** 0.5


# %%
sizes = [d * 4**k for k in range(5)]
racing = {
    "orthogonal": (couplings.orthogonal, "C1"),
    "long with short": (couplings.orthogonal_pnc, "C4"),
    "shells": (shells, "C2"),
    "Sobol'": (couplings.sobol, "C3"),
}
base = jnp.array([error(couplings.iid, m) for m in sizes])
for name, (draw, colour) in racing.items():
    share = jnp.array([error(draw, m) for m in sizes]) / base
    plt.loglog(sizes, share, "o-", base=2, color=colour, label=name)
plt.axhline(1, color="C0")
plt.gca().set(xlabel="frequencies", ylabel="error / independent frequencies")
plt.legend()
plt.show()

# %% [markdown]
# At the left end, with one block, long with short is best and shells are worst, as bad as independent frequencies: a lone shell has one random
# length. Then the picture turns over. What works within blocks stays where it is, since more independent blocks divide *everybody's* error
# by the same number. What works across blocks gains with every block. Sobol' points, which spread evenly over the whole space, begin as
# the worst and have caught up with the shells at the right end. Beyond, they win, in few dimensions.
# {verdict}`couplings/extra-many-frequencies/sobol-low-dimension` In more dimensions, shells stay in front for longer than you can pay for.
# {verdict}`couplings/extra-shells/floor`
#
# ## Why
#
# The estimate averages over the direction of a frequency and over its length. Blocks at right angles settle the directions; what is
# left to chance is how many lengths are long. Strata leave no room for that: with $n$ blocks, exactly one length falls into each
# $n$-th part of its law.
#
# Nobody has to remember who wins where. The library does:

# %%
for m in (8, 64, 1024):
    print(m, couplings.choose(d, m).name)

# %% [markdown]
# ## Two exercises
#
# **With a pen.** An average of $n$ numbers, one uniform in each interval $[k/n, (k+1)/n]$, estimates $1/2$. What is its variance, and how
# many independent uniform numbers would you need for the same?
#
# :::{dropdown} Solution
# A uniform number on an interval of length $1/n$ has variance $1 / (12 n^2)$, so the mean of $n$ has $1 / (12 n^3)$. Independent numbers
# have $1 / (12 N)$: it takes $N = n^3$, and 16 strata do the work of 4,096.
# :::
#
# **To run.** Set `distance = 2`, then `d = 2`. Where do all couplings lose most of what they gained, and who wins in the plane?
#
# :::{dropdown} What you should see
# Far points see only the long frequencies, and there couplings of lengths gain little; Sobol' points alone keep gaining. In the plane
# shells and Sobol' points run neck and neck, and leave the others far behind.
# :::

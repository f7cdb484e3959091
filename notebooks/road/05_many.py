# %% [markdown]
# # What if there are many more frequencies than dimensions?
#
# The papers draw as many frequencies as there are dimensions, $m = d$. You will draw thousands. At most $d$ vectors can stand at right
# angles to each other, so they come in *blocks* of $d$, each turned on its own, and one block knows nothing of the next. Can blocks make
# up for each other as well?
#
# In the plane a block is two arrows at a right angle. Here are six blocks. Independent lengths leave gaps and crowds; *shells* give each
# block one length, and let the lengths of the blocks share out the radii evenly.

# %% tags=["parameters"]
d = 8  # dimensions
distance = 0.5  # of the two points, in lengthscales

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import choose, couplings, features, theory

shells = couplings.compose("orthogonal", "stratified", across="blocks")
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
        if name == "shells":
            radius = jnp.linalg.norm(two[0])
            assert jnp.allclose(radius, jnp.linalg.norm(two[1]), rtol=1e-4)
            circle = plt.Circle((0, 0), radius, fill=False, color=colour, alpha=0.5)
            ax.add_patch(circle)
    ax.set(title=name, aspect="equal", xticks=[], yticks=[])
axes[0].set(xlim=(-2.7, 2.7), ylim=(-2.7, 2.7))
plt.show()

# %% [markdown]
# Now the race. All errors are shares of the error of as many independent frequencies. All but those of Sobol' points, which spread evenly
# over the whole space, have a closed form.


# %%
def sobol(m, n_draws=400):
    """Mean squared error over that of independent draws, and its standard error."""

    def squared_error(key):
        one, other = jax.random.split(key)
        x = jax.random.normal(one, (1, d))  # in any direction, since axes are special
        x = distance * x / jnp.linalg.norm(x)
        omega = couplings.sobol(other, m, d)
        phi, psi = features.fourier(x, omega), features.fourier(0 * x, omega)
        return (phi @ psi.T - jnp.exp(-(distance**2) / 2))[0, 0] ** 2

    errors = jax.lax.map(squared_error, jax.random.split(jax.random.key(0), n_draws))
    shares = errors * 2 * m / (1 - jnp.exp(-(distance**2))) ** 2
    return shares.mean(), shares.std() / n_draws**0.5


# %%
sizes = [d * 4**k for k in range(6)]
exact = {
    "orthogonal": couplings.orthogonal,
    "long with short": couplings.orthogonal_pnc,
    "shells": shells,
}
squares = {
    name: [theory.mse_ratio(coupling, "fourier", distance, m=m, d=d) for m in sizes]
    for name, coupling in exact.items()
}
# %%
race = {name: jnp.sqrt(jnp.array(values)) for name, values in squares.items()}
mean, error = jnp.array([sobol(m) for m in sizes]).T
race["Sobol'"], bars = jnp.sqrt(mean), error / jnp.sqrt(mean)  # two standard errors
for (name, values), colour in zip(race.items(), ("C1", "C4", "C2", "C3")):
    bar = bars if name == "Sobol'" else None
    plt.errorbar(sizes, values, bar, fmt="o-", color=colour, capsize=2, label=name)
plt.axhline(1, color="C0")
plt.xscale("log", base=2)
plt.yscale("log")
ticks = (1, 0.5, 0.2, 0.1, 0.05, 0.02)
plt.yticks(ticks, ticks)
plt.minorticks_off()
plt.gca().set(xlabel="frequencies", ylabel="error / independent frequencies")
plt.legend()
plt.show()
# %% tags=["hide-input"]
chosen = [choose(m=m, d=d, distance=distance).name for m in (8, 64, 2048)]
if (d, distance) == (8, 0.5):  # what the text and the description of the picture say
    _, paired, on_shells, spread = race.values()
    assert min(race, key=lambda name: race[name][0]) == "long with short"
    assert abs(on_shells[0] - 1) < 1e-3 and abs(spread[0] - 1) < 2.5 * bars[0]
    assert abs(race["orthogonal"] - 0.52).max() < 0.005
    assert abs(paired - 0.42).max() < 0.005
    assert (on_shells < paired)[1:].all() and abs(on_shells[-1] - 0.06) < 0.005
    assert spread[1] > on_shells[1] + 2 * bars[1] and abs(spread[-1] - 0.05) < 0.006
    assert (spread + 2 * bars < on_shells)[-2:].all() and spread[3] > on_shells[3]
    assert chosen == ["strata over all", "shells", "Sobol'"]
for dimensions, m in ((8, 363), (16, 1449), (32, 5793)):
    assert choose(m=m, d=dimensions).name == "Sobol'"
    assert choose(m=m - 1, d=dimensions).name == "shells"

# %% [markdown]
# At the left end, with one block, long with short is best and shells are as bad as independent frequencies: a lone shell has one random
# length. {verdict}`couplings/extra-shells/worst-of-one-block` Then the picture turns over. What works within blocks stays where it is, since
# more independent blocks divide *everybody's* error by the same number. What works across blocks gains with every block: from four blocks
# on, shells are ahead of long with short. Sobol' points begin no better than shells, and win at the right end.
#
# In fewer dimensions they win sooner: in 2 and 4, they are ahead of long with short from 64 frequencies on.
# {verdict}`couplings/extra-many-frequencies/sobol-low-dimension` In more dimensions they take longer. Where nothing is known of the
# distances, the library takes them from 363 frequencies on in 8 dimensions, from 1,449 in 16 and from 5,793 in 32.
#
# ## Why
#
# The estimate averages over the direction of a frequency and over its length. Blocks at right angles settle the directions; what is
# left to chance is how many lengths are long. Strata leave no room for that: with $n$ blocks, exactly one length falls into each
# $n$-th part of its distribution.
#
# Nobody has to remember who wins where. The library does:

# %%
for m in (8, 64, 2048):
    print(m, choose(m=m, d=d, distance=distance).name)

# %% [markdown]
# (*Strata over all* give each frequency, not each block, a part of its own. With one block that is as good as long with short.)
#
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
# **To run.** Set `distance = 2`. Where do the couplings lose most of what they gained? Then set it back to 0.5, and `d = 2`. Who wins in the
# plane?
#
# :::{dropdown} What you should see
# Far points see only the long frequencies, and there couplings of lengths gain little; Sobol' points alone keep gaining. In the plane
# shells and Sobol' points run neck and neck up to 512 frequencies, and leave the others far behind; then Sobol' points pull ahead.
#
# ```python
# distance = 2.0  # and all cells again
# assert min(race["long with short"].min(), race["shells"].min()) > 0.7
# assert (jnp.diff(race["Sobol'"])[2:] < 0).all() and race["Sobol'"][-1] < 0.45
# ```
#
# ```python
# d = 2  # and all cells again
# spread, on_shells = race["Sobol'"], race["shells"]
# assert (abs(jnp.log2(spread / on_shells))[1:5] < 0.6).all()  # 8 to 512 frequencies
# assert (jnp.maximum(spread, on_shells) < 0.4 * race["long with short"])[2:].all()
# assert spread[-1] < 0.7 * on_shells[-1]
# ```
# :::

# %% [markdown]
# # More frequencies than dimensions
#
# The papers draw as many frequencies as there are dimensions, $m = d$. You will draw thousands. At most $d$ vectors can stand at right
# angles to each other, so they come in *blocks* of $d$, each turned on its own, and one block knows nothing of the next. Can blocks make
# up for each other as well? And what if $m$ is no multiple of $d$, and the last block is cut?
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
# How much is left of the error of as many independent frequencies? First for a few blocks, the last of which may be cut. What a tight
# frame is comes below.


# %%
def left(coupling, m):
    """Error over that of m independent frequencies."""
    return theory.mse_ratio(coupling, "fourier", distance, m=m, d=d) ** 0.5


few = range(d, 6 * d + 1)
cut = {
    "orthogonal": couplings.orthogonal,
    "shells": shells,
    "tight frame": couplings.tight,
}
teeth = {name: jnp.array([left(draw, m) for m in few]) for name, draw in cut.items()}
for (name, values), colour in zip(teeth.items(), ("C1", "C2", "C5")):
    plt.plot(few, values, ".-", color=colour, label=name)
plt.gca().set(xlabel="frequencies", ylabel="error / independent frequencies")
plt.gca().set(xticks=few[::d], ylim=(0, 1.05))
plt.legend()
plt.show()
# %% tags=["hide-input"]
if (d, distance) == (8, 0.5):  # what the text and the description of the picture say
    right_angles, saw, frame = (dict(zip(few, of.tolist())) for of in teeth.values())
    assert all(abs(right_angles[m] - 0.52) < 0.005 for m in few[::d])
    assert abs(saw[16] - 0.62) < 0.005 and abs(saw[17] - 0.74) < 0.005
    assert saw[17] / 17**0.5 > saw[16] / 16**0.5  # the error itself
    assert abs(saw[20] - 0.62) < 0.005 and abs(right_angles[20] - 0.6) < 0.005
    assert abs(frame[20] - 0.1) < 0.005
    assert abs(frame[8] - 0.42) < 0.005 and abs(saw[48] - 0.31) < 0.005
    assert max(frame[m] for m in few[8:]) < 0.14 and frame[17] < frame[16] + 0.01

# %% [markdown]
# Shells gain with each whole block. One frequency more, and the last block is cut: what is left goes up from 0.62 with 16 to 0.74 with 17.
# The error itself grows, though there is one frequency more to average over. With 20, two blocks and a half, shells still leave 0.62, and
# blocks with independent lengths 0.60. The frame's curve has hardly a tooth: it leaves 0.10.
#
# ## What right angles are good for
#
# Write the frequencies as rows of a matrix $W$. For points that are close, $\cos(\omega^\top z) \approx 1 - (\omega^\top z)^2 / 2$, and the
# estimate depends on little more than $|W z|^2$, a sum of squares along one direction. A whole block of one length has the same sum along
# every direction. A cut one favours those in which it has arrows. So ask for that alone, and forget right angles:
#
# $$W^\top W = c\, I, \qquad c = (w_1^2 + \dots + w_m^2) / d,$$
#
# with $w_i$ the lengths. Such rows are a *tight frame*. Blocks at right angles, each of one length, are the case $m = k d$. But three
# arrows of one length in the plane are one as well, at angles of 120°; there is one for any $m \geq d$ and all lengths of which no $w_i^2$
# is greater than $c$. `couplings.tight` draws lengths that share out the radii evenly, and moves the rows, each at its length, until the
# formula nearly holds. It takes turns: multiply by a matrix that makes a tight frame and spoils the lengths, and put the lengths back, four
# times. One rotation of all, and each row is as normal as it was.
#
# Now the race, up to a thousand blocks. All but Sobol' points, which spread evenly over the whole space, have a formula; the frame's is
# corrected by a table of draws.


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
exact = cut | {"long with short": couplings.orthogonal_pnc}
race = {name: jnp.array([left(draw, m) for m in sizes]) for name, draw in exact.items()}
mean, error = jnp.array([sobol(m) for m in sizes]).T
race["Sobol'"], bars = jnp.sqrt(mean), error / jnp.sqrt(mean)  # two standard errors
# %% tags=["hide-input"]
for (name, values), colour in zip(race.items(), ("C1", "C2", "C5", "C4", "C3")):
    bar = bars if name == "Sobol'" else None
    plt.errorbar(sizes, values, bar, fmt="o-", color=colour, capsize=2, label=name)
plt.axhline(1, color="C0")
plt.xscale("log", base=2)
plt.yscale("log")
ticks = (1, 0.5, 0.2, 0.1, 0.05, 0.02)
plt.yticks(ticks, ticks)
plt.minorticks_off()
plt.gca().set(xlabel="frequencies", ylabel="error / independent frequencies")
plt.legend(loc="lower left")
plt.show()
chosen = [choose(m=m, d=d, distance=distance).name for m in (8, 100, 2048)]
if (d, distance) == (8, 0.5):  # what the text and the description of the picture say
    _, on_shells, framed, paired, spread = race.values()
    assert abs(on_shells[0] - 1) < 1e-3 and abs(spread[0] - 1) < 2.5 * bars[0]
    assert abs(race["orthogonal"] - 0.52).max() < 0.005
    assert abs(paired - 0.42).max() < 0.005 and abs(framed[0] - 0.42) < 0.005
    assert (on_shells < paired)[1:].all() and abs(on_shells[-1] - 0.06) < 0.005
    assert abs(framed[1] - 0.07) < 0.005 and abs(framed[-1] - 0.06) < 0.005
    assert (framed < on_shells).all() and framed[1] < left(shells, 1024)
    assert (framed < spread - 2 * bars)[1:4].all()
    assert spread[1] > on_shells[1] + 2 * bars[1] and abs(spread[-1] - 0.05) < 0.006
    assert (spread + 2 * bars < framed)[-2:].all() and spread[3] > on_shells[3]
    assert chosen == ["tight frame", "tight frame", "Sobol'"]
    assert choose(m=4096, d=16, distance=0.5).name == "tight frame"

# %% [markdown]
# At the left end, with one block, shells are as bad as independent frequencies: a lone shell has one random length.
# {verdict}`couplings/extra-shells/worst-of-one-block` The frame is still a block at right angles, and as good as long with short. Then the
# picture turns over. A coupling within blocks saves a fixed share, because every further independent block helps all of them equally.
# A coupling across blocks gains with every block: from four blocks on, shells are ahead of long with short. The frame does not wait
# for blocks: with 32 frequencies it leaves 0.07, for which shells need more than a thousand. Sobol' points begin no better than shells, and
# win at the right end.
#
# Few dimensions suit them: in 2 and 4, they are ahead of long with short from 64 frequencies on.
# {verdict}`couplings/extra-many-frequencies/sobol-low-dimension` In 16 the frame is still ahead of them with 4,096.
#
# ## Why
#
# The estimate averages over the direction of a frequency and over its length. Right angles, or a tight frame, settle the directions; what
# is left to chance is how many lengths are long. Strata leave no room for that: with $n$ blocks on shells, exactly one length falls into
# each $n$-th part of its distribution. A frame has $m$ lengths to share out, $d$ times as many.
#
# Nobody has to remember who wins where. The library does:

# %%
for m in (8, 100, 2048):
    print(m, choose(m=m, d=d, distance=distance).name)

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
# **To run.** Set `distance = 2`. Where do the couplings lose most of what they gained? Then set it back to 0.5, and `d = 2`. Who wins in
# the plane?
#
# :::{dropdown} What you should see
# Far points see only the long frequencies, and there couplings of lengths gain little, and frames no more; Sobol' points alone keep
# gaining. In the plane the frame leads from 8 frequencies to 512, with shells and Sobol' points neck and neck behind it, and long with
# short far behind; then Sobol' points pull ahead.
#
# ```python
# distance = 2.0  # and all cells again
# names = "long with short", "shells", "tight frame"
# assert min(race[name].min() for name in names) > 0.7
# assert (jnp.diff(race["Sobol'"])[2:] < 0).all() and race["Sobol'"][-1] < 0.45
# ```
#
# ```python
# d = 2  # and all cells again
# spread, on_shells = race["Sobol'"], race["shells"]
# assert (abs(jnp.log2(spread / on_shells))[1:5] < 0.6).all()  # 8 to 512 frequencies
# assert (race["tight frame"] < jnp.minimum(spread, on_shells))[1:5].all()
# assert (jnp.maximum(spread, on_shells) < 0.4 * race["long with short"])[2:].all()
# assert spread[-1] < 0.7 * race["tight frame"][-1]
# ```
# :::

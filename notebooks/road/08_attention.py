# %% [markdown]
# # A worse kernel, a better attention?
#
# In a transformer each position looks at all others and takes an average of their values. The weights are kernel values divided by
# their sum, and with $n$ positions there are $n^2$ of them. Replace the kernel by products of features, and the sums can be rearranged
# so that the cost grows with $n$ alone. That is a *Performer*, and it is what many of these features were invented for.
#
# Below is one head of attention, made up but typical: each position looks near itself. Left the exact weights, then what features
# make of them.

# %% tags=["parameters"]
n = 48  # positions
d = 8
m = 64  # frequencies

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import attention, couplings, features, kernels, solvers, theory

time = 2 * jnp.pi * jnp.arange(n) / n
waves = jnp.stack([f(k * time) for k in (1, 2, 3) for f in (jnp.cos, jnp.sin)], 1)
noise = 0.3 * jax.random.normal(jax.random.key(0), (2, n, d))
q, k = (1.1 * jnp.pad(waves, ((0, 0), (0, d - 6))) + noise) / d**0.25


# %%
def weights(omega, parameters=None):
    """The matrix of attention, which one would never form."""
    plain = features.dense(jnp.zeros(d), jnp.eye(d))
    phi, psi = (
        features.exponential(x, omega, parameters or plain, side, kernel="softmax")
        for x, side in ((q, "x"), (k, "y"))
    )
    return attention.linear(phi, psi, jnp.eye(n))


# %%
omega = couplings.orthogonal(jax.random.key(1), m, d)
shown = {
    "exact": attention.softmax(q, k, jnp.eye(n)),
    "plain": weights(omega),
    "fitted, centred": weights(omega, solvers.exponential.aderf(q, k, centred=True)),
}
# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2.1), sharey=True)
for ax, (name, a) in zip(axes, shown.items()):
    ax.imshow(a, vmin=0, vmax=shown["exact"].max(), cmap="viridis")
    ax.set(title=name, xticks=[], yticks=[], xlabel="keys")
axes[0].set_ylabel("queries")
plt.show()
plain, fitted = (((a - shown["exact"]) ** 2).mean() for a in list(shown.values())[1:])
assert fitted < plain  # of the draw in the picture

# %% [markdown]
# Plain features get the broad outline. Features that were fitted to queries and keys whose means were subtracted, as in the
# {doc}`last lesson <07_the_mean>`, come closer at the same price.
#
# ## The paradox
#
# Now couple the lengths of the frequencies, as in {doc}`lesson 3 <03_lengths>`. Long with short was best for the kernel. Equal lengths
# were worst, as bad as no coupling at all. Which is best for *attention*?

# %%
q, k = 0.5 * jax.random.normal(jax.random.key(2), (2, 32, d)) / d**0.25  # short ones
eye, keys = jnp.eye(32), jax.random.split(jax.random.key(3), 20_000)


def errors(draw):
    """Mean squared errors of attention from d frequencies, draw by draw."""

    def one(key):
        omega = draw(key, d, d)
        phi, psi = (features.positive(x, omega, kernel="softmax") for x in (q, k))
        return ((attention.linear(phi, psi, eye) - exact) ** 2).mean()

    return jax.lax.map(one, keys)


exact = attention.softmax(q, k, eye)

# %% [markdown]
# The error of the kernel is so seldom large, and then so huge, that even 20,000 draws do not settle it. It has a closed form, which
# depends on the length $v$ of the sum of a query and a key.

# %%
v = jnp.linalg.norm(q[:, None] + k, axis=-1)
squares = (q**2).sum(1)[:, None] + (k**2).sum(1)
independent = jnp.exp(2 * v**2 - squares) - kernels.softmax(q, k) ** 2
grid = jnp.linspace(0.05, v.max() + 0.05, 24)
pnc = theory.mse_ratio(couplings.orthogonal_pnc, "positive", grid, m=d, d=d)
ratios = {
    "no change": theory.mse_ratio("orthogonal", "positive", v, m=d, d=d),
    "long with short": jnp.interp(v, grid, pnc),
    "equal": jnp.ones_like(v),  # exactly that of independent frequencies
    "simplex": theory.mse_ratio("simplex", "positive", v, m=d, d=d),
}
kernel = {name: (ratio * independent).mean() for name, ratio in ratios.items()}
lengths = {
    "long with short": couplings.orthogonal_pnc,
    "equal": couplings.orthogonal_pm,
}
# %% tags=["hide-input"]
base, change, bar = errors(couplings.orthogonal), {}, {}
for i, (name, draw) in enumerate(lengths.items()):
    paired = 100 * (errors(draw) - base) / base.mean()  # by the same keys
    change[name] = 100 * (kernel[name] / kernel["no change"] - 1), paired.mean()
    bar[name] = 2 * paired.std() / len(paired) ** 0.5
    widths, colours = jnp.array(change[name]), ["C0", "C1"]
    error = [0, bar[name]]
    plt.barh([i + 0.2, i - 0.2], widths, 0.35, xerr=error, color=colours)
    for y, width, word in zip((0.2, -0.2), widths, ("kernel", "attention")):
        x = max(width, 0) + 3
        plt.text(x, i + y, f"{word} {width:+.0f} %".replace("-", "−"), va="center")
plt.yticks(range(len(lengths)), lengths)
plt.axvline(0, color="k", lw=1)
plt.gca().set(xlabel="change of the squared error, in per cent", xlim=(-40, 40))
plt.show()
(short_kernel, short_attention), (equal_kernel, equal_attention) = (
    change[name] for name in ("long with short", "equal")
)
assert abs(short_kernel + 1.1) < 0.1 and abs(equal_kernel - 12.5) < 0.05
assert abs(equal_attention + 24) < 2 * bar["equal"]
assert abs(short_attention - 3) < 2 * bar["long with short"]
assert short_attention > 0.75 * bar["long with short"]

# %% [markdown]
# It is upside down. Equal lengths make the kernel worse, by an eighth, and attention better, by nearly a quarter. The authors call it "a
# remarkable, counterintuitive finding", and it holds. {verdict}`couplings/fig-7/pm-attention`
#
# ## Why
#
# Attention is a quotient. If all estimates in a row are too large by the same factor, the numerator is too large, the denominator is too
# large, and the factor cancels. **Only what differs within a row is an error.** Equal lengths make the contributions of a block swell and
# shrink together: more variance, and more of it shared.
#
# ## And compared to what?
#
# A cheap rival: give every key the same weight, and call it attention. In one of the two readings of the paper's setting, that beats
# sixteen independent features. {verdict}`couplings/extra-no-attention/few`
#
# ## Two exercises
#
# **With a pen.** Two estimates have small relative errors $\varepsilon_a$ and $\varepsilon_b$. What is the relative error of their
# quotient? Compare variances of 1 with a covariance of .9, and variances of .5 with none.
#
# :::{dropdown} Solution
# $\frac{a (1 + \varepsilon_a)}{b (1 + \varepsilon_b)} \approx \frac ab (1 + \varepsilon_a - \varepsilon_b)$, with variance
# $\operatorname{Var} \varepsilon_a + \operatorname{Var} \varepsilon_b - 2 \operatorname{Cov}$. That is $2 - 1.8 = .2$ in the first
# case and 1 in the second: twice the variance, a fifth of the error.
# :::
#
# **To run.** Add `"simplex": couplings.simplex` to `lengths`: its *directions* are coupled more closely. Which of its two bars is longer?
#
# :::{dropdown} What you should see
# A simplex lowers both: the kernel's error by 16 per cent, and attention's by nearly a third, more than equal lengths do. A coupling of
# directions may do both; one of lengths has to choose.
#
# ```python
# paired = 100 * (errors(couplings.simplex) - base) / base.mean()
# bar = 2 * paired.std() / len(paired) ** 0.5
# assert abs(100 * (kernel["simplex"] / kernel["no change"] - 1) + 16.2) < 0.1
# assert abs(paired.mean() + 32) < 2 * bar
# assert paired.mean() + 2 * bar < change["equal"][1]
# ```
# :::

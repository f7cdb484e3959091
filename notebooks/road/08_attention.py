# %% [markdown]
# # Can a worse kernel give better attention?
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

from rfcore import attention, couplings, features, kernels, solvers

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

# %% [markdown]
# Plain features get the broad outline, and exaggerate where a query is long. Features that were fitted to queries and keys whose means
# were subtracted, as in the {doc}`last lesson <07_the_mean>`, do better at the same price.
#
# ## The paradox
#
# Now couple the lengths of the frequencies, as in {doc}`lesson 3 <03_lengths>`. Long with short was best for the kernel. Equal lengths
# were worst, as bad as no coupling at all. Which is best for *attention*?

# %%
q, k = 0.5 * jax.random.normal(jax.random.key(2), (2, 32, d)) / d**0.25  # short ones
eye, keys = jnp.eye(32), jax.random.split(jax.random.key(3), 20_000)


def errors(draw):
    """Squared errors of the kernel, and of attention, over many draws."""

    def both(key):
        phi, psi = (
            features.positive(x, draw(key, d, d), kernel="softmax") for x in (q, k)
        )
        kernel, rows = (
            phi @ psi.T - kernels.softmax(q, k),
            attention.linear(phi, psi, eye),
        )
        return (kernel**2).mean(), ((rows - attention.softmax(q, k, eye)) ** 2).mean()

    return jnp.stack(jax.lax.map(both, keys)).mean(1)


# %% tags=["hide-input"]
base = errors(couplings.orthogonal)
lengths = {
    "long with short": couplings.orthogonal_pnc,
    "equal": couplings.orthogonal_pm,
}
for i, draw in enumerate(lengths.values()):
    share = 100 * (errors(draw) / base - 1)
    bars = plt.barh([i + 0.2, i - 0.2], share, 0.35, color=["C0", "C1"])
    plt.bar_label(bars, ["kernel", "attention"], padding=4)
plt.yticks([0, 1], lengths)
plt.axvline(0, color="k", lw=1)
plt.gca().set(xlabel="change of the squared error, in per cent", xlim=(-40, 25))
plt.show()

# %% [markdown]
# It is upside down. Equal lengths make the kernel worse and attention better, by nearly a quarter. The authors call it "a remarkable,
# counterintuitive finding", and it holds. {verdict}`couplings/fig-7/pm-attention`
#
# ## Why
#
# Attention is a quotient. If all estimates in a row are too large by the same factor, the numerator is too large, the denominator is too
# large, and the factor cancels. **Only what differs within a row is an error.** Equal lengths make the contributions of a block swell and
# shrink together: more variance, and more of it shared.
#
# ## And compared to what?
#
# A cheap rival: give every key the same weight, and call it attention. In the paper's setting, that beats features from eight frequencies,
# whatever their coupling. {verdict}`couplings/extra-no-attention/few`
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
# **To run.** Add `couplings.simplex` to `lengths`, whose *directions* are coupled more closely. Which of its two bars is longer?
#
# :::{dropdown} What you should see
# A simplex lowers both, and attention by about as much as equal lengths do. Directions may do both; lengths have to choose.
# :::

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


# %% tags=["hide-input"]
omega = couplings.orthogonal(jax.random.key(1), m, d)
fitted = solvers.exponential.aderf(q, k, centred=True)
shown = {
    "exact": attention.softmax(q, k, jnp.eye(n)),
    "plain": weights(omega),
    "fitted, centred": weights(omega, fitted),
}
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2.1), sharey=True)
for ax, (name, a) in zip(axes, shown.items()):
    ax.imshow(a, vmin=0, vmax=shown["exact"].max(), cmap="viridis")
    ax.set(title=name, xticks=[], yticks=[], xlabel="keys")
axes[0].set_ylabel("queries")
plt.show()


# %% tags=["hide-input"]
def errors_of_weights(parameters):
    """Mean squared error of the weights, one for each of 400 draws."""

    def one(key):
        found = weights(couplings.orthogonal(key, m, d), parameters)
        return ((found - shown["exact"]) ** 2).mean()

    return jax.lax.map(one, jax.random.split(jax.random.key(5), 400))


plain, better = errors_of_weights(None), errors_of_weights(fitted)
print(f"root mean squared error, plain:           {plain.mean() ** 0.5:.4f}")
print(f"root mean squared error, fitted, centred: {better.mean() ** 0.5:.4f}")
if (n, d, m) == (48, 8, 64):
    away = plain - better
    assert away.mean() > 3 * away.std() / 20
    assert 0.6 < (better.mean() / plain.mean()) ** 0.5 < 0.9

# %% [markdown]
# Plain features get the broad outline, and exaggerate where a query is long. Features that were fitted to queries and keys whose means
# were subtracted, as in the {doc}`last lesson <07_the_mean>`, do better at the same price: a quarter less error, over 400 draws.
#
# ## The paradox
#
# Now couple the lengths of the frequencies, as in {doc}`lesson 3 <03_lengths>`. Long with short was best for the kernel. Equal lengths
# were worst, as bad as no coupling at all. Which is best for *attention*?

# %%
q, k = 0.5 * jax.random.normal(jax.random.key(2), (2, 32, d)) / d**0.25  # short ones
keys, rows = jax.random.split(jax.random.key(3), 20_000), jnp.eye(32)
lengths = {
    "independent": ("independent", couplings.orthogonal),
    "long with short": ("reversal", couplings.orthogonal_pnc),
    "equal": ("comonotone", couplings.orthogonal_pm),
}


def errors(draw):
    """Mean squared error of the weights, one for each draw."""

    def one(key):
        omega = draw(key, d, d)
        phi, psi = (features.positive(x, omega, kernel="softmax") for x in (q, k))
        found = attention.linear(phi, psi, rows)
        return ((found - attention.softmax(q, k, rows)) ** 2).mean()

    return jax.lax.map(one, keys)


# %% [markdown]
# The error of the kernel is so seldom large, and then so huge, that draws say little of it. It has a closed form, as in
# {doc}`lesson 1 <01_directions>`: that of independent frequencies times a ratio that hangs on $v = |x + y|$ alone.

# %%
v = jnp.linalg.norm(q[:, None] + k, axis=-1)
nodes = jnp.linspace(0.1, 2.5, 25)  # of v, between which the ratio is interpolated


def kernel_error(ratios):
    """Mean over queries and keys of the exact squared error of the kernel."""
    of_iid = kernels.softmax(q, k) ** 2 * jnp.expm1(v**2) / d
    return (of_iid * jnp.interp(v, nodes, jnp.array(ratios))).mean()


exact, drawn = {}, {}
for name, (law, draw) in lengths.items():
    of_law = [theory.norm_coupling_ratio(z, d, d, law, "positive") for z in nodes]
    exact[name], drawn[name] = kernel_error(of_law), errors(draw)


# %% tags=["hide-input"]
def change(one):
    """Of attention's error, in per cent, and its standard error, draw by draw."""
    base = drawn["independent"]
    ratio = one.mean() / base.mean()
    error = (one - ratio * base).std() / base.mean() / len(keys) ** 0.5
    return 100 * (ratio - 1), 100 * error


for i, name in enumerate(("long with short", "equal")):
    kernel = 100 * (exact[name] / exact["independent"] - 1)
    attended, error = change(drawn[name])
    plt.barh(i + 0.2, kernel, 0.35, color="C0")
    plt.barh(i - 0.2, attended, 0.35, color="C1", xerr=2 * error, capsize=3)
    for height, value, what in ((0.2, kernel, "kernel"), (-0.2, attended, "attention")):
        text = f"{what} {value:+.0f} %"
        plt.text(max(value, 0) + 3, i + height, text, va="center")
    shift = {"long with short": (-1.15, 3), "equal": (12.5, -24)}[name]
    if (d, n) == (8, 48):
        assert abs(kernel - shift[0]) < 0.1 and abs(attended - shift[1]) < 4 * error
plt.yticks([0, 1], ("long with short", "equal"))
plt.axvline(0, color="k", lw=1)
plt.gca().set(xlabel="change of the squared error, in per cent", xlim=(-30, 40))
plt.show()

# %% [markdown]
# It is upside down. Equal lengths make the kernel worse, by an eighth, and attention better, by nearly a quarter. The authors call it "a
# remarkable, counterintuitive finding", and in their setting too attention is better with equal lengths.
# {verdict}`couplings/fig-7/pm-attention`
#
# ## Why
#
# Attention is a quotient. If all estimates in a row are too large by the same factor, the numerator is too large, the denominator is too
# large, and the factor cancels. **Only what differs within a row is an error.** Equal lengths make the contributions of a block swell and
# shrink together: more variance, and more of it shared.
#
# ## And compared to what?
#
# A cheap rival: give every key the same weight, and call it attention. In the paper's setting, with keys of standard deviation
# $1 / \sqrt d$, that beats features from 16 independent frequencies. {verdict}`couplings/extra-no-attention/few`
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
# **To run.** Add `couplings.simplex`, whose *directions* are coupled more closely: `errors(couplings.simplex)` for attention, and for the
# kernel `kernel_error(theory.positive_mse_ratio(nodes, d, d, "simplex"))`. What does it do to the two errors?
#
# :::{dropdown} What you should see
# A simplex lowers both, the kernel's by a sixth and attention's by nearly a third, more than equal lengths do. Directions may do both;
# lengths have to choose.
#
# ```python
# kernel = kernel_error(theory.positive_mse_ratio(nodes, d, d, "simplex"))
# assert abs(kernel / exact["independent"] - 5 / 6) < 0.01
# attended, error = change(errors(couplings.simplex))
# assert abs(attended + 32) < 4 * error
# assert attended + 4 * error < change(drawn["equal"])[0]
# ```
# :::

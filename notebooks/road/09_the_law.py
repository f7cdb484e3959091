# %% [markdown]
# # Which frequencies are worth drawing?
#
# A frequency is drawn from a normal distribution because then the average of the features is the kernel. But one may draw from *any* other, and put
# the balance right with weights: draw twice as often where it matters, and count each draw half. That is *importance sampling*.
# So which distribution is best?
#
# For positive features the fifth paper has an answer that takes one line of code: pick one of your points, $x$, with probability
# proportional to $k(x, x)$, and add $2x$ to a normal frequency. In the picture, grey is the normal distribution, orange the best one. It looks
# where the features are large, which is far out in the direction of the longest points.

# %% tags=["parameters"]
m = 64  # frequencies
size = 1.0  # of the points

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import couplings, features, kernels, solvers

middle = jnp.repeat(jnp.array([[1.2, 0.2], [-0.4, 0.9], [-0.5, -0.7]]), 30, 0)
x = size * (middle + 0.15 * jax.random.normal(jax.random.key(0), (90, 2)))


def best(key, draw=couplings.iid, law=None):
    """Frequencies of the best distribution, which carry their weights."""
    one, other = jax.random.split(key)
    return solvers.importance.sample_mixture(
        one, draw(other, m, 2), x, kernel="softmax", copula=law
    )


# %% tags=["hide-input"]
plt.figure(figsize=(4, 3.6))
keys = [jax.random.key(k) for k in range(5)]
clouds = (
    jnp.concatenate([couplings.iid(key, m, 2) for key in keys]),
    jnp.concatenate([best(key).matrix for key in keys]),
)
for omega, colour in zip(clouds, ("C0", "C2")):
    plt.scatter(*omega.T, s=12, color=colour, alpha=0.5)
plt.scatter(*(2 * x).T, s=8, color="k", marker="x", linewidths=0.7)
plt.gca().set(aspect="equal", title="crosses: the points, doubled")
plt.show()
share = jax.nn.softmax((x**2).sum(1)).reshape(3, 30).sum(1)
lengths = jnp.linalg.norm(x, axis=1).reshape(3, 30).mean(1)
assert share.argmax() == lengths.argmax() and share.max() < 0.7
if size == 1.0:
    assert (clouds[1] ** 2).sum(1).mean() > 2 * (clouds[0] ** 2).sum(1).mean()

# %% [markdown]
# What is it worth? Take the mean squared error over the whole Gram matrix, as a share of what the paper calls "the lowest possible" one.
# For the normal distribution simulation would not do: the squared error is so seldom large, and then so huge, that thousands of draws
# miss most of it. But one frequency's estimate of $e^{x \cdot y}$ has a second moment in closed form,
# $e^{2 |x + y|^2 - |x|^2 - |y|^2}$.

# %%
gram, squares = kernels.softmax(x, x), (x**2).sum(1)
lowest = (jnp.diag(gram).mean() ** 2 - (gram**2).mean()) / m
second = jnp.exp(2 * ((x[:, None] + x) ** 2).sum(-1) - squares[:, None] - squares)
normal = (second - gram**2).mean() / m / lowest


def errors(draw, n_draws=2000):
    """Mean squared errors of the Gram matrix, over the lowest possible, by draw."""

    def one(key):
        phi = features.positive(x, draw(key), kernel="softmax")
        return ((phi @ phi.T - gram) ** 2).mean() / lowest

    return jax.lax.map(one, jax.random.split(jax.random.key(1), n_draws))


print(f"normal distribution: {normal:.0f} (exact)")
print(f"best one:            {errors(best).mean():.2f}")

# %% [markdown]
# The best distribution meets the bound and does the work of nearly five hundred times as many frequencies. The bound is a theorem, and it
# is the same for every feature map: under its own best distribution, no map is better than another. Hence the paper's title, *All Random
# Features Representations are Equivalent*.
#
# ## Is it the end?
#
# The theorem says for which draws it holds: *independent* ones. Independent draws repeat each other by chance, and nobody forces us to repeat
# ourselves. Let the frequencies form a simplex before $2x$ is added. Or spread the points over the data: one from each $m$-th part of
# them, a *stratum*.

# %%
tried = {
    "best, independent": best,
    "and a simplex": lambda key: best(key, couplings.simplex),
    "and strata of the data": lambda key: best(key, couplings.iid, "stratified"),
    "and both": lambda key: best(key, couplings.simplex, "stratified"),
}
drawn = jnp.stack([errors(draw) for draw in tried.values()])
means, bars = drawn.mean(1), 2 * drawn.std(1) / drawn.shape[1] ** 0.5
plt.barh(list(tried), means, xerr=bars, capsize=3, color=["C0", "C2", "C3", "C4"])
for i, (mean, bar) in enumerate(zip(means, bars)):
    plt.text(mean + bar + 0.03, i, f"{mean:.2f}", va="center")
plt.axvline(1, color="k", ls="--", lw=1)
plt.gca().set(xlabel="error / “the lowest possible”", xlim=(0, 1.25))
plt.gca().invert_yaxis()
plt.show()
# %% tags=["hide-input"]
near = 2 * bars  # four standard errors
assert abs(means[0] - 1) < near[0]  # theorem: equal
if size == 1.0:  # what the text and the description of the picture say
    assert 450 < normal < 500
    assert (abs(means - jnp.array([1.0, 0.96, 0.31, 0.28])) < near + 0.01).all()
    assert (means + bars < 1)[2:].all() and (means < 1 / 3)[2:].all()
    paired = drawn[2] - drawn[3]  # by the same keys
    assert paired.mean() > 4 * paired.std() / len(paired) ** 0.5

# %% [markdown]
# **Draws made together go below "the lowest possible"**, here to between a quarter and a third of it. It holds on real data too.
# {verdict}`equivalence/extra-couplings/data` Each single draw still follows the best distribution, so the theorem is as true as before; it
# was never about draws made together. Most of the gain comes from the strata, which help by themselves.
# {verdict}`equivalence/extra-couplings/strata`
#
# ## Two exercises
#
# **With a pen.** You estimate $\sum_x a(x)$ by $a(X) / p(X)$ from one draw $X$ of a distribution $p$. Which $p$ has the smallest variance, and what is
# left of it?
#
# :::{dropdown} Solution
# $p(x) \propto |a(x)|$, by the Cauchy-Schwarz inequality. If all $a$ are positive, the ratio is constant, and no variance is left. With
# features it is: one distribution has to serve all pairs of points at once.
# :::
#
# **To run.** Set `size = 0.3`. How much is the best distribution worth now, and the simplex?
#
# :::{dropdown} What you should see
# For short points the normal distribution is nearly the best one, within a factor of 1.4, and it is the simplex that gains most: more than
# half of the error. For long points it is the other way round: there is little for a simplex to balance, and much to gain from the
# distribution.
#
# ```python
# size = 0.3  # and all cells again
# assert 1.3 < normal < 1.4
# assert means[1] < 0.5 < means[2] - bars[2]
# ```
# :::

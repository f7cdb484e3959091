# %% [markdown]
# # Which frequencies are worth drawing?
#
# A frequency is drawn from a normal law because then the average of the features is the kernel. But one may draw from *any* law and put
# the balance right with weights: draw twice as often where it matters, and count each draw half. That is *importance sampling*.
# So which law is best?
#
# For positive features the fifth paper has an answer that takes one line of code: pick one of your points, $x$, with probability
# proportional to $k(x, x)$, and add $2x$ to a normal frequency. In the picture, grey is the normal law, orange the best one. It looks
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
    """Frequencies of the best law, which carry their weights."""
    one, other = jax.random.split(key)
    return solvers.sampling.of_points(
        one, draw(other, m, 2), x, kernel="softmax", law=law
    )


# %% tags=["hide-input"]
plt.figure(figsize=(4, 3.6))
for k in range(5):
    omega = best(jax.random.key(k)).frequencies.matrix
    plt.scatter(*couplings.iid(jax.random.key(k), m, 2).T, s=12, color="C0", alpha=0.5)
    plt.scatter(*omega.T, s=12, color="C2", alpha=0.5)
plt.scatter(*(2 * x).T, s=8, color="k", marker="x", linewidths=0.7)
plt.gca().set(aspect="equal", title="crosses: the points, doubled")
plt.show()

# %% [markdown]
# What is it worth? Take the mean squared error over the whole Gram matrix, as a share of what the paper calls "the lowest possible" one.

# %%
gram = kernels.softmax(x, x)
lowest = (jnp.diag(gram).mean() ** 2 - (gram**2).mean()) / m


def error(draw, n_draws=2000):
    """Mean squared error of the Gram matrix, in units of the lowest possible one."""

    def one(key):
        phi = features.positive(x, draw(key), kernel="softmax")
        return ((phi @ phi.T - gram) ** 2).mean()

    return (
        jax.lax.map(one, jax.random.split(jax.random.key(1), n_draws)).mean() / lowest
    )


print(f"normal law: {error(lambda key: couplings.iid(key, m, 2)):.0f}")
print(f"best law:   {error(best):.2f}")

# %% [markdown]
# The best law meets the bound and does the work of nearly a hundred times as many frequencies. The bound is a theorem, and it is the
# same for every feature map: under its own best law, no map is better than another. Hence the paper's title, *All Random Features
# Representations are Equivalent*.
#
# ## Is it the end?
#
# Read the small print: *independent* draws. Independent draws repeat each other by chance, and nobody forces us to repeat ourselves. Let the
# frequencies form a simplex before $2x$ is added. Or let the points be drawn without repeating: one from each $m$-th part of the data,
# a *stratum*.

# %%
tried = {
    "best law, independent": best,
    "and a simplex": lambda key: best(key, couplings.simplex),
    "and strata of the data": lambda key: best(key, couplings.iid, "stratified"),
    "and both": lambda key: best(key, couplings.simplex, "stratified"),
}
values = [error(draw) for draw in tried.values()]
bars = plt.barh(list(tried), values, color=["C0", "C2", "C3", "C4"])
plt.bar_label(bars, [f"{value:.2f}" for value in values], padding=4)
plt.axvline(1, color="k", ls="--", lw=1)
plt.gca().set(xlabel="error / “the lowest possible”", xlim=(0, 1.2))
plt.gca().invert_yaxis()
plt.show()

# %% [markdown]
# **Draws made together go below "the lowest possible"**, here to a quarter of it. Each single draw still follows the best law, so the
# theorem is as true as before; it was never about draws made together.
# {verdict}`equivalence/extra-couplings/strata` {verdict}`equivalence/extra-trace/floor`
#
# ## Two exercises
#
# **With a pen.** You estimate $\sum_x a(x)$ by $a(X) / p(X)$ from one draw $X$ of a law $p$. Which $p$ has the smallest variance, and what is
# left of it?
#
# :::{dropdown} Solution
# $p(x) \propto |a(x)|$, by the Cauchy-Schwarz inequality. If all $a$ are positive, the ratio is constant, and no variance is left. With
# features it is: one law has to serve all pairs of points at once.
# :::
#
# **To run.** Set `size = 0.3`. How much is the best law worth now, and the simplex?
#
# :::{dropdown} What you should see
# For short points the normal law is nearly the best one, and it is the simplex that gains most. For long points it is the other way round:
# their features hardly overlap, so there is little for a simplex to balance, and much to find for the law.
# :::

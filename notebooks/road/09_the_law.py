# %% [markdown]
# # Which frequencies are worth drawing?
#
# A frequency is drawn from a normal distribution because then the average of the features is the kernel. But one may draw from *any*
# distribution and put the balance right with weights: draw twice as often where it matters, and count each draw half. That is *importance
# sampling*. So which distribution is best?
#
# For positive features the fifth paper has an answer that takes one line of code: pick one of your points, $x$, with probability
# proportional to $k(x, x)$, and add $2x$ to a normal frequency. In the picture, grey is the normal distribution, orange the best one. It
# looks where the features are large, which is far out in the direction of the longest points.

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
    return solvers.sampling.of_points(
        one, draw(other, m, 2), x, kernel="softmax", law=law
    )


# %% tags=["hide-input"]
plt.figure(figsize=(4, 3.6))
seeds = jax.random.split(jax.random.key(0), 5)
wide = jnp.concatenate([best(key).frequencies.matrix for key in seeds])
normal = jnp.concatenate([couplings.iid(key, m, 2) for key in seeds])
plt.scatter(*normal.T, s=12, color="C0", alpha=0.5, label="normal")
plt.scatter(*wide.T, s=12, color="C2", alpha=0.5, label="best")
plt.scatter(*(2 * x).T, s=8, color="k", marker="x", lw=0.7, label="points, doubled")
plt.gca().set(aspect="equal", xlabel="frequency, first", ylabel="second")
plt.legend(loc="upper left", bbox_to_anchor=(1, 1))
plt.show()
chance = jnp.exp((x**2).sum(1)).reshape(3, 30).sum(1)  # of each group, up to a factor
assert chance.argmax() == jnp.linalg.norm(middle[::30], axis=1).argmax() == 0
if size == 1.0:
    assert (normal**2).sum(1).mean() < 3 < 5 < (wide**2).sum(1).mean()

# %% [markdown]
# What is it worth? Take the mean squared error over the whole Gram matrix, as a share of what the paper calls "the lowest possible" one.
# Under the normal distribution it has a closed form, and needs it: the squared error is so seldom large, and then so huge, that thousands
# of draws would mislead. For one frequency it is, over pairs, the mean of $e^{2 |x + y|^2 - |x|^2 - |y|^2} - k(x, y)^2$.

# %%
gram = kernels.softmax(x, x)
lowest = (jnp.diag(gram).mean() ** 2 - (gram**2).mean()) / m
squares = (x**2).sum(1)
normal = jnp.exp(squares[:, None] + squares) * gram**4 - gram**2  # the same


def errors(draw, n_draws=2000):
    """Mean squared errors of the Gram matrix in units of the lowest possible one, by draw."""

    def one(key):
        phi = features.positive(x, draw(key), kernel="softmax")
        return ((phi @ phi.T - gram) ** 2).mean() / lowest

    return jax.lax.map(one, jax.random.split(jax.random.key(1), n_draws))


print(f"normal distribution: {normal.mean() / m / lowest:.1f}, exactly")
print(f"best distribution:   {errors(best).mean():.2f}")

# %% [markdown]
# The best distribution meets the bound and does the work of nearly five hundred times as many frequencies. The bound is a theorem, and it
# is the same for every feature map of one number per frequency: under its own best distribution, no map is better than another. Hence the
# paper's title, *All Random Features Representations are Equivalent*.
#
# ## Is it the end?
#
# The theorem is about *independent* draws. These repeat each other by chance, and nobody forces us to repeat ourselves. Let the frequencies
# form a simplex before $2x$ is added. Or let the points be drawn without repeating: one from each $m$-th part of the data, a *stratum*.

# %%
tried = {
    "best, independent": best,
    "and a simplex": lambda key: best(key, couplings.simplex),
    "and strata of the data": lambda key: best(key, couplings.iid, "stratified"),
    "and both": lambda key: best(key, couplings.simplex, "stratified"),
}
drawn = {name: errors(draw) for name, draw in tried.items()}
mean = jnp.array([values.mean() for values in drawn.values()])
bars = jnp.array([2 * values.std() / len(values) ** 0.5 for values in drawn.values()])
colours = ["C0", "C2", "C3", "C4"]
plt.barh(list(tried), mean, xerr=bars, color=colours, capsize=3)
plt.axvline(1, color="k", ls="--", lw=1)
plt.gca().set(xlabel="error / “the lowest possible”", xlim=(0, 1.25))
plt.gca().invert_yaxis()
plt.show()
# %% tags=["hide-input"]
error = bars / 2
assert abs(mean[0] - 1) < 4 * error[0]
assert (mean + 4 * error < 1)[2:].all() and mean[3] + 4 * error[3] < mean[2]
if (size, m) == (1.0, 64):  # what the text and the description of the picture say
    assert 480 < normal.mean() / m / lowest < 481
    assert (abs(mean - jnp.array([1, 0.97, 0.31, 0.28])) < 4 * error + 0.005).all()

# %% [markdown]
# **Draws made together go below "the lowest possible"**, here to little more than a quarter of it. On data sets, too, draws from strata
# with coupled offsets do. {verdict}`equivalence/extra-couplings/data` The strata help by themselves
# {verdict}`equivalence/extra-couplings/strata`; the simplex alone hardly does here. Each single draw still follows the best distribution,
# so the theorem is as true as before.
#
# ## Two exercises
#
# **With a pen.** You estimate $\sum_x a(x)$ by $a(X) / p(X)$ from one draw $X$ with probabilities $p$. Which $p$ has the smallest variance, and what is
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
# For short points the normal distribution is nearly the best one, a third above the bound, and it is the simplex that gains most. For long
# points it is the other way round: their features hardly overlap, so there is little for a simplex to balance, and much for the best
# distribution to find.
#
# ```python
# size = 0.3  # and all cells again
# assert abs(normal.mean() / m / lowest - 4 / 3) < 0.05
# assert mean[1] + 4 * error[1] < 0.5 < mean[2] - 4 * error[2]
# ```
# :::

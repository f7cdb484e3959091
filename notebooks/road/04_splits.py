# %% [markdown]
# # What does ± leave out?
#
# A table in a paper says $0.7229 \pm 0.0012$. You run the same method and get $0.69$. Is one of you wrong? This page is not about random
# features. It is about the most common mistake in tables of them, and anybody who compares methods should meet it once.
#
# Take a classifier, many draws of its frequencies, and a few hundred points to test it on. Then cut the same data *again* into points to
# learn from and points to test on, and repeat.

# %% tags=["parameters"]
n = 400  # points
n_test = 100  # of them, to test on
n_splits = 12
n_draws = 600

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import couplings, features

d, m = 4, 8
x = jax.random.normal(jax.random.key(0), (n, d))
noise = 0.8 * jax.random.normal(jax.random.key(1), n)
y = jnp.sign(x[:, 0] * x[:, 1] + x[:, 2] + noise)


def accuracy(draw, split, key):
    """Share of right answers on the test points of one split, from one draw."""
    order = jax.random.permutation(jax.random.key(split), n)
    test, train = order[:n_test], order[n_test:]
    phi = features.fourier(x, draw(key, m, d))
    return (jnp.sign(phi[test] @ (phi[train].T @ y[train])) == y[test]).mean()


# %%
def table(draw):
    """Accuracies, a row for each split and a column for each draw."""
    keys = jax.random.split(jax.random.key(2), n_draws)
    row = jax.jit(jax.vmap(lambda split, key: accuracy(draw, split, key), (None, 0)))
    return jnp.stack([row(split, keys) for split in range(n_splits)])


independent, orthogonal = table(couplings.iid), table(couplings.orthogonal)
mean, error = independent.mean(1), independent.std(1) / n_draws**0.5
plt.errorbar(jnp.arange(n_splits) + 1, mean, 2 * error, fmt="oC0", capsize=3)
plt.gca().set(xlabel="split", ylabel="accuracy, mean over draws")
plt.show()
# %% tags=["hide-input"]
first, second = jnp.triu_indices(n_splits, 1)
apart = abs(mean[first] - mean[second]) > 2 * (error[first] + error[second])
if (n, n_test, n_splits, n_draws) == (400, 100, 12, 600):  # what the text says
    assert apart.mean() > 0.5

# %% [markdown]
# Each bar is what a paper prints: the mean over draws, give or take two standard errors. Most pairs of them do not overlap. The bar answers
# one question, *how well do we know the mean over random features, on these test points?*, and it says nothing of the next hundred points.

# %%
print(f"standard error over draws, one split: {error.mean():.4f}")
print(f"scatter of splits:                    {mean.std():.4f}")

# %% [markdown]
# In the paper's Table 2 the accuracy of simplex features scatters over splits by at least five times its printed error, on each of eight
# data sets.
# {verdict}`simplex/extra-split-scatter/many-times-the-printed-error`
#
# ## What survives
#
# Is there nothing to be learned from such a table? There is. Give both methods the *same* split, take the difference, and most of
# what the split does cancels.

# %%
paired = orthogonal - independent  # split by split, draw by draw
difference = paired.mean(1)
rows = ((mean - mean.mean(), error), (difference, paired.std(1) / n_draws**0.5))
for i, (values, bar) in enumerate(rows):
    height = i + 0.02 * jnp.arange(n_splits)
    plt.errorbar(values, height, xerr=2 * bar, fmt=f"oC{i}", capsize=2, elinewidth=0.8)
plt.yticks([0.1, 1.1], ["one accuracy", "a paired difference"])
plt.gca().set(xlabel="accuracy, or its difference, by split", ylim=(-0.4, 1.6))
plt.show()
# %% tags=["hide-input"]
if (n, n_test, n_splits, n_draws) == (400, 100, 12, 600):
    assert difference.std() < mean.std() / 2 and difference.min() > 0
    assert mean.std() > 4 * error.mean()

# %% [markdown]
# The paired difference scatters less than half as much, and it is above zero on every split: a small advantage shows. That is why
# comparisons in this book are paired wherever they can be, and why an accuracy of ours that differs from a printed one is no accusation.
# Of the paper's simplex+ and simplex the *differences* agree with ours, all eight. {verdict}`simplex/table-2/gain-of-plus`
#
# ## Two exercises
#
# **With a pen.** An accuracy of 0.7 is measured on 68 test points. What is its standard error, for a fixed classifier? How many test
# points would bring it down to $0.0012$?
#
# :::{dropdown} Solution
# $\sqrt{.7 \cdot .3 / 68} = .056$, forty-six times what is printed above. For $.0012$ it takes $.21 / .0012^2 \approx 146{,}000$ points.
# :::
#
# **To run.** Let `n_draws` fall from 600 to 60. Then, with 600 again, take four times the points, `n = 1600` and `n_test = 400`. Which of the
# two printed numbers moves, and which would you pay for?
#
# :::{dropdown} What you should see
# A tenth of the draws make the first number $\sqrt{10}$ times as large, and leave the second about where it is. Four times the points halve
# the second. What the next points will say, only more test points or more splits can tell.
#
# ```python
# n_draws = 60  # and all cells again
# assert 2.5 < error.mean() / 0.0023 < 4
# assert 0.012 < mean.std() < 0.025
# ```
#
# ```python
# n = 1600
# n_test = 400  # and all cells again
# assert mean.std() < 0.7 * 0.018
# ```
# :::

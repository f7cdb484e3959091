# %% [markdown]
# # What does ± leave out?
#
# A table in a paper says $0.7229 \pm 0.0012$. You run the same method and get $0.69$. Is one of you wrong? This page is not about random
# features. It is about the most common mistake in tables of them, and anybody who compares methods should meet it once.
#
# Take a classifier, many draws of its frequencies, and a few hundred points to test it on. Then cut the same data *again* into points to
# learn from and points to test on, and repeat.

# %% tags=["parameters"]
n_splits = 12
n_draws = 60
n_test = 100

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import couplings, features

d, m, n = 4, 8, 400
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
mean = independent.mean(1)
error = independent.std(1) / n_draws**0.5
plt.errorbar(jnp.arange(n_splits) + 1, mean, 2 * error, fmt="oC0", capsize=3)
plt.gca().set(xlabel="split", ylabel="accuracy, mean over draws")
plt.show()

# %% [markdown]
# Each bar is what a paper prints: the mean over draws, give or take two standard errors. They do not overlap. The bar answers one
# question, *how well do we know the mean over random features, on these test points?*, and it says nothing of the next hundred points.

# %%
print("standard error over draws, one split:", error.mean().round(4))
print("scatter of splits:                   ", mean.std().round(4))

# %% [markdown]
# In the paper's Table 2 another split moves every accuracy by 15 to 120 times its printed error.
# {verdict}`simplex/extra-split-scatter/many-times-the-printed-error`
#
# ## What survives
#
# Is there nothing to be learned from such a table? There is. Give both methods the *same* split, take the difference, and most of
# what the split does cancels.

# %%
difference = orthogonal.mean(1) - mean
for i, values in enumerate((mean - mean.mean(), difference)):
    plt.plot(values, jnp.full(n_splits, i), f"oC{i}", alpha=0.7)
plt.yticks([0, 1], ["one accuracy", "a paired difference"])
plt.gca().set(xlabel="accuracy, or its difference, by split", ylim=(-0.5, 1.5))
plt.show()

# %% [markdown]
# The paired difference scatters much less, so a small advantage shows. That is why comparisons in this book are paired wherever they can
# be, and why an accuracy of ours that differs from a printed one is no accusation: the paper's *differences* agree with ours, all
# eight. {verdict}`simplex/table-2/gain-of-plus`
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
# **To run.** Let `n_draws` grow from 60 to 600, and then `n_test` from 100 to 300. Which of the two printed numbers moves, and which
# would you pay for?
#
# :::{dropdown} What you should see
# Ten times the draws shrink the first number by $\sqrt{10}$ and leave the second where it is. Only more test points, or more splits, bring the
# second one down.
# :::

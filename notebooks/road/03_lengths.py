# %% [markdown]
# # Can lengths be coupled too?
#
# So far we have arranged *directions*. A frequency also has a length, and in the plane lengths vary a lot: some frequencies are short and
# see only the broad outline, some are long and see detail. Draw the length independently for each direction, and by chance a set may
# be all short or all long. Could one make up for the other?
#
# The idea of the third paper: keep the directions at right angles, and give the long one a short partner. In the picture, each cross is a
# pair of frequencies. On the left the two lengths do not know of each other. In the middle long goes with short. On the right
# both are equal.

# %% tags=["parameters"]
d = 2  # dimensions
n_pairs = 40

# %%
import jax
import jax.numpy as jnp
import matplotlib.pyplot as plt

from rfcore import couplings, theory

draws = {
    "independent": couplings.orthogonal,
    "long with short": couplings.orthogonal_pnc,
    "equal": couplings.orthogonal_pm,
}
# %% tags=["hide-input"]
fig, axes = plt.subplots(1, 3, figsize=(5.2, 2), sharex=True, sharey=True)
for ax, (name, draw) in zip(axes, draws.items()):
    pairs = draw(jax.random.key(0), 2 * n_pairs, 2).reshape(n_pairs, 2, 2)
    first, second = jnp.linalg.norm(pairs, axis=-1).T
    ax.scatter(first, second, s=14, color=f"C{'045'[list(draws).index(name)]}")
    ax.set(
        title=name, xlabel="one length", aspect="equal", xlim=(0, 3.5), ylim=(0, 3.5)
    )
axes[0].set_ylabel("the other")
plt.show()

# %% [markdown]
# Seen from below or from the left, all three clouds are spread alike: the law of *one* length has not changed, so the kernel is still
# right on average. Which cloud has the smallest error?

# %%
distance = jnp.linspace(0.1, 3, 60)
laws = {"independent": "C0", "reversal": "C4", "comonotone": "C5"}
names = {
    "independent": "independent",
    "reversal": "long with short",
    "comonotone": "equal",
}
for law, colour in laws.items():
    mse = [theory.norm_coupling_ratio(float(z), d, d, law, "fourier") for z in distance]
    plt.plot(distance, jnp.sqrt(jnp.array(mse)), colour, label=names[law])
plt.axhline(1, color="k", ls="--", lw=1)
plt.gca().set(xlabel="distance of two points", ylabel="error / independent frequencies")
plt.legend()
plt.show()

# %% [markdown]
# Long with short wins, as promised, for points up to about two lengthscales apart. {verdict}`couplings/cor-3.4/fourier` And here is the
# surprise: with *equal* lengths, frequencies at right angles are exactly as bad as independent ones. The two couplings cancel.
# {verdict}`couplings/extra-positive-monotone/as-iid`
#
# ## Why
#
# Integrate out the rotation, and the error of a pair at right angles depends on its lengths only through $w_1^2 + w_2^2$. The dependence
# is convex: a large sum costs more than a small one saves. A convex cost is least when the sum varies least, so the longest should
# meet the shortest. That is *optimal transport* in one line: among all joint laws with given marginals, find the one with the least
# expected cost. For two lengths the answer is known in closed form. For more, coupling them in such pairs gets nearly all there is.
#
# ## How much is there to get?
#
# As dimensions grow, all lengths come close to $\sqrt d$. So there should be less and less to couple. Is there?

# %%
for dimension in (2, 4, 8, 16, 64):
    mse = [
        theory.norm_coupling_ratio(0.5, dimension, dimension, law, "fourier")
        for law in ("independent", "reversal")
    ]
    gain = 1 - (mse[1] / mse[0]) ** 0.5
    print(f"d = {dimension:2}: {100 * gain:4.1f} % off the error")

# %% [markdown]
# No: the gain grows to a fifth and stays. Each length varies less, and there are more pairs to which that matters; the two just balance.
#
# ## Two exercises
#
# **With a pen.** Two lengths take the values 1 and 3 with probability one half each, and the cost is $(w_1^2 + w_2^2)^2$. What does it cost
# on average when they are independent, equal, and opposite?
#
# :::{dropdown} Solution
# The sums are 2, 10 or 18. Independent: $\frac14 \cdot 4 + \frac12 \cdot 100 + \frac14 \cdot 324 = 132$. Equal: $\frac12 (4 + 324) = 164$.
# Opposite: always $100$.
# :::
#
# **To run.** Repeat the second picture with `"positive"` in place of `"fourier"`, for which `distance` is the length of $x + y$. Is there
# still a distance at which long with short loses?
#
# :::{dropdown} What you should see
# No: for positive features the cost is convex everywhere, and the corollary holds without a limit on the distance.
# :::

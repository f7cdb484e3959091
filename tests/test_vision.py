"""The small vision transformer: its patches, pairs of seeds, redrawn frequencies, and attention swapped afterwards."""

from functools import partial

import equinox as eqx
import jax
import jax.numpy as jnp
import numpy as np
import pytest

from companion import datasets
from companion.papers.simplex import vision
from rfcore import couplings
from rfcore.attention import random_feature_attention, softmax

SIZES = vision.Sizes(width=8, n_heads=2, n_layers=2, n_features=8, n_epochs=2, batch=16, rate=1e-2)
ONE_LAYER = SIZES._replace(n_layers=1)
TOKENS, PIXELS, N, N_TEST = 6, 3, 50, 30


def made(n_train=N, n_test=N_TEST, rng=0):
    """Random patches; the label says whether their first pixels are positive in the mean."""
    rng = np.random.default_rng(rng)
    x = rng.normal(size=(n_train + n_test, TOKENS, PIXELS)).astype(np.float32)
    y = (x[:, :, 0].mean(axis=1) > 0).astype(np.int32)
    return vision.Task(*map(jnp.asarray, (x[:n_train], y[:n_train], x[n_train:], y[n_train:])))


TASK = made()
MODEL = vision.initial(jax.random.key(0), TASK, SIZES)
EXACT = vision.exact(None, SIZES)


def test_patches_are_squares_of_the_image_row_by_row():
    image = np.arange(2 * 4 * 4, dtype=np.uint8).reshape(1, 2, 4, 4)
    cut = vision.patches(image, 2)
    raw = np.asarray(cut * image.std() + image.mean())
    assert cut.shape == (1, 4, 8) and cut.dtype == np.float32
    np.testing.assert_allclose(raw[0, 0], [0, 1, 4, 5, 16, 17, 20, 21], atol=1e-4)
    np.testing.assert_allclose(raw[0, 1], [2, 3, 6, 7, 18, 19, 22, 23], atol=1e-4)
    np.testing.assert_allclose(raw[0, 2], [8, 9, 12, 13, 24, 25, 28, 29], atol=1e-4)
    assert abs(cut.mean()) < 1e-6 and abs(cut.std() - 1) < 1e-6


def test_a_task_is_the_first_images_and_the_next():
    rng = np.random.default_rng(0)
    images = datasets.Images(rng.integers(256, size=(9, 1, 4, 4), dtype=np.uint8), np.arange(9, dtype=np.uint8), "digits", "")
    task = vision.task(images, 2, 5, 3)
    assert task.y.tolist() == [0, 1, 2, 3, 4] and task.y_test.tolist() == [5, 6, 7]
    cut = vision.patches(images.images, 2)
    assert np.array_equal(task.x, cut[:5]) and np.array_equal(task.x_test, cut[5:8])
    with pytest.raises(ValueError, match=r"n_train \+ n_test = 10; give at most 9, all of digits"):
        vision.task(images, 2, 7, 3)


@pytest.mark.parametrize("kind", [vision.exact, vision.uniform, vision.performer(couplings.simplex)])
def test_patches_may_be_permuted_with_their_places(kind):
    attentions, order = kind(jax.random.key(1), SIZES), np.random.default_rng(1).permutation(TOKENS)
    moved = eqx.tree_at(lambda model: model.positions, MODEL, 10 * MODEL.positions[order])
    still = eqx.tree_at(lambda model: model.positions, MODEL, 10 * MODEL.positions)
    out, both = still(TASK.x, attentions), moved(TASK.x[:, order], attentions)
    assert out.shape == (N, 10) and out.dtype == jnp.float32
    np.testing.assert_allclose(both, out, atol=1e-4)
    assert np.abs(still(TASK.x[:, order], attentions) - out).max() > 1e-2


def test_heads_have_frequencies_of_their_own():
    omega = vision.frequencies(jax.random.key(0), couplings.orthogonal, SIZES)
    assert omega.shape == (2, 2, 8, 4) and omega.dtype == jnp.float32
    flat = np.asarray(omega.reshape(4, 8, 4))
    assert all(np.abs(flat[i] - flat[j]).min(axis=0).max() > 1e-3 for i in range(4) for j in range(i))
    gram = flat[:, :4] @ flat[:, :4].swapaxes(1, 2)
    np.testing.assert_allclose(gram, gram * np.eye(4), atol=1e-5)
    keys = jax.random.split(jax.random.key(3), 2)
    drawn = vision.draws(keys, couplings.orthogonal, SIZES)
    np.testing.assert_allclose(drawn[1], vision.frequencies(keys[1], couplings.orthogonal, SIZES), atol=1e-6)


def test_every_step_and_every_test_draws_frequencies():
    seen = []

    def coupling(key, m, d):
        jax.debug.callback(lambda data: seen.append(tuple(np.ravel(data)[:2])), jax.random.key_data(key))
        return couplings.iid(key, m, d)

    jax.block_until_ready(vision.trained(jax.random.key(0), TASK, vision.performer(coupling), ONE_LAYER))
    jax.effects_barrier()
    draws = SIZES.n_epochs * (N // SIZES.batch + 1)
    assert len(set(seen)) == draws * SIZES.n_heads


def disguised(coupling):
    """Exact attention that draws frequencies and makes nothing of them."""

    def kind(key, sizes):
        nothing = 0 * vision.frequencies(key, coupling, sizes).sum()
        return [lambda q, k, v, mask=None: softmax(q, k, v) + nothing] * sizes.n_layers

    return kind


def test_runs_of_one_key_share_initial_weights_and_batches():
    one, two = (
        vision.trained(jax.random.key(5), TASK, kind, ONE_LAYER).model
        for kind in (vision.exact, disguised(couplings.simplex))
    )
    for leaf, other in zip(jax.tree.leaves(one), jax.tree.leaves(two), strict=True):
        assert leaf.dtype == jnp.float32
        np.testing.assert_allclose(leaf, other, atol=1e-5)
    other = vision.trained(jax.random.key(6), TASK, vision.exact, ONE_LAYER).model
    assert np.abs(other.out.weight - one.out.weight).max() > 0.1


def test_an_epoch_sees_every_image_once_in_an_order_of_its_own():
    epochs = [np.asarray(vision.batches(jax.random.key(0), i, 48, 16)) for i in range(2)]
    assert all(sorted(epoch.ravel()) == list(range(48)) and epoch.shape == (3, 16) for epoch in epochs)
    assert not np.array_equal(*epochs)
    assert len(np.unique(vision.batches(jax.random.key(0), 0, 50, 16))) == 48


def test_training_learns_and_tests_on_other_images():
    task, kind, sizes = made(n_train=640), vision.performer(couplings.orthogonal), ONE_LAYER._replace(n_epochs=6)
    run = vision.trained(jax.random.key(0), task, kind, sizes)
    assert run.accuracy.shape == (6,) and run.accuracy.dtype == jnp.float32
    assert run.accuracy[-1] > 0.8 > 0.7 > max(task.y_test.mean(), 1 - task.y_test.mean())
    wrong = vision.trained(jax.random.key(0), task._replace(y_test=1 - task.y_test), kind, sizes)
    np.testing.assert_allclose(wrong.accuracy + run.accuracy, 1, atol=0.1)  # labels of the test teach nothing


def test_with_many_features_the_swapped_model_is_the_exact_one():
    x = 0.3 * TASK.x  # so near 0 that errors fall as those of sums do

    def errors_and_logits(m):
        keys = jax.random.split(jax.random.key(2), 4)
        omega = vision.draws(keys, couplings.orthogonal, SIZES._replace(n_features=m))
        swapped = vision.swapped(MODEL, x, TASK.y, omega)
        attentions = [partial(random_feature_attention, omega=of_layer) for of_layer in omega[0]]
        return swapped.error.mean(axis=0), np.abs(MODEL(x, attentions) - MODEL(x, EXACT)).mean()

    (few, off_few), (many, off_many) = errors_and_logits(16), errors_and_logits(4096)
    assert np.all(many < few / 4) and off_many < off_few / 4 and off_many < 0.05


def test_errors_are_of_the_exact_models_states():
    omega = vision.draws(jax.random.split(jax.random.key(2), 3), couplings.iid, SIZES)
    found = vision.swapped(MODEL, TASK.x, TASK.y, omega)
    assert found.error.shape == (3, 2) and found.accuracy.shape == (3,)
    states = MODEL.patches(TASK.x) + MODEL.positions
    for i, layer in enumerate(MODEL.layers):
        heads = layer.heads(states)
        out, wanted = random_feature_attention(*heads, omega[1, i]), softmax(*heads)
        np.testing.assert_allclose(found.error[1, i], np.sqrt(np.sum((out - wanted) ** 2) / np.sum(wanted**2)), rtol=1e-4)
        states = layer(states)
    attentions = [partial(random_feature_attention, omega=of_layer) for of_layer in omega[1]]
    hits = np.argmax(MODEL(TASK.x, attentions), axis=1) == np.asarray(TASK.y)
    np.testing.assert_allclose(found.accuracy[1], hits.mean(), atol=1e-6)
    np.testing.assert_allclose(vision.output_errors(MODEL, TASK.x, EXACT), 0, atol=1e-6)


def test_uniform_attention_is_the_mean_of_the_values():
    q, k, v = np.random.default_rng(0).normal(size=(3, 2, 2, 5, 4))
    (attention, _) = vision.uniform(None, SIZES)
    np.testing.assert_allclose(attention(q, k, v), np.repeat(v.mean(axis=2, keepdims=True), 5, axis=2))
    np.testing.assert_allclose(softmax(0 * q, k, v), attention(q, k, v))

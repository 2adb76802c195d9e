# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import metaops as mo
import numpy as np
import pytest
from tiers import draws
from util import close, floats, same, same_bits

X = np.arange(2 * 3 * 4 * 5, dtype="float32").reshape(2, 3, 4, 5)

KEYS = {
    "integer": np.s_[1],
    "negative integer": np.s_[-1, -2],
    "all integers": np.s_[1, 2, 3, 4],
    "slice": np.s_[:, 1:3],
    "open slices": np.s_[1:, :2, ::],
    "step": np.s_[:, ::2, 1::2],
    "negative step": np.s_[::-1, :, ::-2, 3:0:-1],
    "negative bounds": np.s_[:, -2:, :-1],
    "beyond the end": np.s_[:, 1:100, -100:2],
    "empty": np.s_[:, 2:1],
    "empty backwards": np.s_[:, 1:2:-1],
    "new axes": np.s_[None, :, None, 1],
    "ellipsis": np.s_[..., 2],
    "ellipsis in the middle": np.s_[1, ..., ::2],
    "ellipsis of nothing": np.s_[:, :, ..., :, 1],
    "only ellipsis": np.s_[...],
    "everything": np.s_[1, None, ::-1, ..., -1],
    "no key": (),
}


@pytest.mark.parametrize("name", KEYS)
def test_get(name):
    same(mo.array(X)[KEYS[name]], X[KEYS[name]])


@pytest.mark.parametrize("name", KEYS)
def test_set(rng, name):
    key = KEYS[name]
    expected = X.copy()
    value = floats(rng, X[key].shape)
    expected[key] = value
    x = mo.array(X)
    before = x + 0
    x[key] = value
    same(x, expected)
    same(before, X)


def test_set_broadcasts_and_casts(rng):
    expected, x = X.copy(), mo.array(X)
    expected[:, 1] = 7
    x[:, 1] = 7
    row = floats(rng, (5,))
    expected[0, :, ::2] = row
    x[0, :, ::2] = row
    expected[1, 2, 3] = np.float32(2.5)
    x[1, 2, 3] = mo.array(2.5)
    same(x, expected)
    n = mo.array(np.arange(4))
    n[1:3] = mo.array([8, 9], "int32")
    same(n, np.array([0, 8, 9, 3]))


def test_operators_in_place_through_a_key():
    expected, x = X.copy(), mo.array(X)
    expected[1, :, 2] *= 2
    x[1, :, 2] *= 2
    same(x, expected)


def test_gradients_of_set_and_get(rng):
    x, y = mo.array(floats(rng, (4, 5))), mo.array(floats(rng, (2, 5)))
    z = x * 1
    z[1:3] = y * 3
    weight = floats(rng, (4, 5))
    gx, gy = mo.grad((z * weight).sum(), [x, y])
    expected = weight.copy()
    expected[1:3] = 0
    close(gx, expected)
    close(gy, 3 * weight[1:3])
    g = mo.grad((x[::-2, 1] * 2).sum(), x)
    expected = np.zeros((4, 5), "float32")
    expected[::-2, 1] = 2
    close(g, expected)


def test_a_moving_slice_compiles_once():
    x = mo.array(np.arange(40, dtype="float32"))
    for i in range(3):
        same(x[i : i + 4] * 2, np.arange(i, i + 4, dtype="float32") * 2)
    before = mo.stats()["programs_compiled"]
    for i in range(3, 36):
        same(x[i : i + 4] * 2, np.arange(i, i + 4, dtype="float32") * 2)
    assert mo.stats()["programs_compiled"] == before


def test_length_and_iteration():
    x = mo.array(X)
    assert len(x) == 2
    for row, expected in zip(x, X, strict=True):
        same(row, expected)
    with pytest.raises(TypeError):
        len(mo.array(1.0))


def test_errors_and_the_session_goes_on():
    x = mo.array(X)
    with pytest.raises(IndexError, match="5"):
        x[5]
    with pytest.raises(IndexError):
        x[0, 0, 0, 0, 0]
    with pytest.raises(IndexError):
        x[..., ...]
    with pytest.raises(TypeError):
        x["a"]
    with pytest.raises(TypeError):
        x[1.5]
    with pytest.raises(ValueError):
        x[::0]
    with pytest.raises(ValueError, match=r"\(7,\)"):
        x[0] = np.zeros(7, "float32")
    same(x, X)


def test_shapes():
    x = mo.array(X)
    same(x.reshape(6, 20), X.reshape(6, 20))
    same(x.reshape((-1, 10)), X.reshape(-1, 10))
    same(x.reshape([120]), X.reshape(120))
    same(mo.reshape(X[:0], (0, 7)), X[:0].reshape(0, 7))
    same(mo.array(3.0).reshape(1, 1), np.float32([[3]]))
    same(x.flatten(), X.reshape(-1))
    same(x.flatten(1, 2), X.reshape(2, 12, 5))
    same(x.unsqueeze(1), X[:, None])
    same(x.unsqueeze(-1), X[..., None])
    same(x.unsqueeze(0).squeeze(0), X)
    same(x[:1].squeeze(), X[0])
    same(x.transpose(), X.T)
    same(x.T, X.T)
    same(x.transpose(0, 2, 3, 1), X.transpose(0, 2, 3, 1))
    same(x.permute((3, 0, 1, 2)), X.transpose(3, 0, 1, 2))
    same(x.swapaxes(1, -1), X.swapaxes(1, -1))
    same(mo.flip(x, (0, 2)), np.flip(X, (0, 2)))
    same(mo.flip(x), np.flip(X))


def test_pad():
    widths = [(1, 0), (0, 2), (0, 0), (3, 1)]
    same(mo.pad(X, widths), np.pad(X, widths))
    same(mo.pad(X, widths, value=2.5), np.pad(X, widths, constant_values=2.5))
    same(
        mo.pad(X, [(0, 0), (-1, 0), (0, -2), (1, 0)]),
        np.pad(X[:, 1:, :-2], [(0, 0)] * 3 + [(1, 0)]),
    )


def test_concat_stack(rng):
    a, b, c = floats(rng, (2, 3)), floats(rng, (2, 0)), floats(rng, (2, 4))
    a[0, 0] = -0.0
    a[1, 1] = np.nan
    joined = mo.concat([a, b, c], 1)
    same(joined, np.concatenate([a, b, c], 1))
    assert np.signbit(joined.numpy()[0, 0])
    same(mo.concat([a], -1), a)
    same(mo.concat([a, mo.zeros((1, 3), "float64")]), np.concatenate([a, np.zeros((1, 3))]))
    same(mo.concat([a > 0, c > 0], 1), np.concatenate([a > 0, c > 0], 1))
    for dim in [0, 1, 2, -1]:
        same(mo.stack([a, a + 1], dim), np.stack([a, a + 1], dim))


def test_ranges():
    for arguments in [(5,), (2, 9), (2, 9, 3), (9, 2, -2), (3, 3), (5, 1)]:
        same(mo.arange(*arguments), np.arange(*arguments))
    close(mo.arange(0, 1, 0.1), np.arange(0, 1, 0.1))
    same(mo.arange(3, dtype="float16"), np.arange(3, dtype="float16"))
    close(mo.linspace(-1, 2, 7), np.linspace(-1, 2, 7))
    close(mo.linspace(3, 4, 1), np.linspace(3, 4, 1))
    assert mo.linspace(0.1, 0.7, 9).numpy()[-1] == np.float32(0.7)
    same(mo.iota((2, 3), 1, "int32"), np.broadcast_to(np.arange(3, dtype="int32"), (2, 3)))


def test_one_hot():
    labels = np.array([[0, 2], [1, 2]])
    expected = np.eye(3, dtype="float32")[labels]
    same(mo.one_hot(labels, 3), expected)
    same(mo.one_hot(labels.astype("uint8"), 3, "bool"), expected.astype("bool"))
    same(mo.one_hot(1, 2), np.float32([0, 1]))
    for label in [3, -1]:
        with pytest.raises(IndexError, match=f"label {label} is out of range for 3 classes"):
            mo.one_hot([label, 0], 3).numpy()
    with pytest.raises(TypeError, match="float32"):
        mo.one_hot(mo.zeros((2,)), 3)


def test_one_hot_of_as_many_classes_as_there_are(rng):
    labels = rng.integers(0, 9, (3, 2))
    expected = np.eye(labels.max() + 1, dtype="int64")[labels]
    same(mo.one_hot(labels, dtype="int64"), expected)
    same(mo.one_hot(mo.array(labels) + 0, -1, "int64"), expected)
    with pytest.raises(IndexError, match="label -2 is out of range for 4 classes"):
        mo.one_hot([3, -2]).numpy()
    with pytest.raises(ValueError, match="num_classes is -1, expected 0 or more of no labels"):
        mo.one_hot(mo.zeros((0,), "int64"))
    with pytest.raises(ValueError, match="num_classes is -2, expected 0 or more"):
        mo.one_hot(labels, -2)
    with pytest.raises(TypeError, match=r"num_classes is 2\.5, expected an integer"):
        mo.one_hot(labels, 2.5)


def test_random_numbers():
    mo.seed(7)
    a = mo.random((1000,)).numpy()
    b = mo.random((1000,)).numpy()
    mo.seed(7)
    same(mo.random((1000,)), a)
    assert not np.array_equal(a, b)
    assert a.min() >= 0 and a.max() < 1
    assert abs(a.mean() - 0.5) < 0.05
    n = mo.randn(100, 50).numpy()
    assert abs(n.mean()) < 0.05 and abs(n.std() - 1) < 0.05
    k = mo.randint(-3, 4, (1000,)).numpy()
    assert k.dtype == np.int64
    assert set(k.tolist()) == set(range(-3, 4))
    u = mo.nn.init.uniform((1000,), 2, 5).numpy()
    assert 2 <= u.min() < 2.1 and 4.9 < u.max() < 5
    share = mo.bernoulli(0.25, (4000,)).numpy().mean()
    assert 0.2 < share < 0.3


def words(key, count):
    """Return the first random words of a key."""
    mo.seed(key)
    return mo.random((count,), "uint32").numpy()


def test_random_words_are_those_of_philox():
    for key in [0, 5, -3, 2**40 + 7]:
        counter = np.arange(1000, dtype="uint64")
        left, right = counter, np.full_like(counter, (key >> 32) % 2**32)
        for number in range(10):
            product = left * np.uint64(0xD256D193)
            weyl = np.uint64((key + number * 0x9E3779B9) % 2**32)
            left, right = (product >> np.uint64(32)) ^ weyl ^ right, product % np.uint64(2**32)
        same(words(key, 1000), left.astype("uint32"))


@pytest.mark.parametrize("key", draws([0, 1, 12345, 2**32, -1]))
def test_random_words_are_uniform_and_independent(key):
    count = 1 << 16
    bits = np.unpackbits(words(key, count).view("uint8")).reshape(count, 32)
    deviation = 0.5 / np.sqrt(count)
    assert np.abs(bits.mean(0) - 0.5).max() < 5 * deviation
    # Of a bit and any other, of this element and of others.
    signs = bits * np.float32(2) - 1
    for lag in [0, 1, 2, 16, 17, 4096]:
        products = signs[: count - lag].T @ signs[lag:] / (count - lag)
        if lag == 0:
            np.fill_diagonal(products, 0)
        assert np.abs(products).max() < 6 / np.sqrt(count - lag)
    # Pairs of neighbours: as many in each part of the square.
    u = words(key, 16 * count) / 2.0**32
    for x, y in [(u[:-1], u[1:]), (u[:-16], u[16:])]:
        squares = np.histogram2d(x, y, 32, [[0, 1], [0, 1]])[0]
        expected = x.size / squares.size
        chi_square = ((squares - expected) ** 2 / expected).sum()
        assert abs(chi_square - (squares.size - 1)) < 5 * np.sqrt(2 * squares.size)


def test_random_words_of_other_keys_are_others():
    count = 1 << 16
    rows = np.stack([words(key, count) / 2.0**32 for key in [0, 1, 2, 2**31, 2**32, -1]])
    correlations = np.corrcoef(rows) - np.eye(len(rows))
    assert np.abs(correlations).max() < 5 / np.sqrt(count)


def test_random_numbers_do_not_depend_on_how_they_are_computed(compiled):
    def numbers(shape, use):
        def record():
            mo.seed(3)
            return use(mo.random(shape))

        return same_bits(record).reshape(-1)

    expected = numbers((370 * 530,), lambda x: x)
    assert len(np.unique(expected)) > 190000
    for shape in [(370, 530), (185, 1060), (37, 53, 100), (1, 196100, 1)]:
        same(numbers(shape, lambda x: x), expected)
        same(numbers(shape, lambda x: x * 1), expected)
    swapped = numbers((370, 530), lambda x: x.transpose(1, 0))
    same(swapped, expected.reshape(370, 530).T.reshape(-1))
    part = numbers((370, 530), lambda x: x[5:360:2, 1:-3])
    same(part, expected.reshape(370, 530)[5:360:2, 1:-3].reshape(-1))


def test_conversions():
    x = mo.array([[1.5, 2.0]])
    same(np.asarray(x), np.float32([[1.5, 2]]))
    same(np.asarray(x, dtype="float64"), np.float64([[1.5, 2]]))
    same(np.add(X[0, 0, 0, :2], x[0].numpy()), X[0, 0, 0, :2] + np.float32([1.5, 2]))
    assert x.shape == (1, 2) and x.ndim == 2 and x.size == 2
    assert x[0, 0].item() == float(x[0, 0]) == 1.5
    assert int(mo.array(7)) == 7
    assert bool(mo.array(0)) is False
    assert "1.5" in repr(x) and "float32" in repr(x)
    assert hash(x) == hash(x)
    with pytest.raises(ValueError):
        bool(x)
    original = np.ones(3, "float32")
    copy = mo.array(original)
    original[:] = 5
    same(copy, np.ones(3, "float32"))
    exported = copy.numpy()
    copy.update(copy * 2)
    same(copy, np.full(3, 2, "float32"))
    same(exported, np.ones(3, "float32"))


# Assignments to parts of parts.


def assign_twice(z):
    z[1][2] = 5


def assign_in_place(z):
    z[1][2] += 5


def assign_to_a_result(z):
    (z + 1)[0] = 5


def assign_to_a_slice(z):
    z[:, 1][0] = 5


def assign_by_a_tensor(z):
    z[1][[0, 2]] = 5


def assign_to_a_call(z):
    z.reshape(-1)[0] = 5


def assign_in_a_tuple(z):
    z[1][2], _ = 5, 6


def assign_in_a_loop(z):
    for z[1][2] in (5, 6):
        pass


@pytest.mark.parametrize(
    "action",
    [
        assign_twice,
        assign_in_place,
        assign_to_a_result,
        assign_to_a_slice,
        assign_by_a_tensor,
        assign_to_a_call,
        assign_in_a_tuple,
        assign_in_a_loop,
    ],
    ids=lambda action: action.__name__,
)
def test_assignments_that_nobody_would_see(action):
    z = mo.array(X[0, 0])
    with pytest.raises(TypeError, match=r"write x\[i, j\] = y for x\[i\]\[j\] = y"):
        action(z)
    same(z, X[0, 0])


def test_assignments_that_somebody_sees():
    z = mo.array(X[0, 0])
    row = z[1]
    row[2] = 5
    row[1] += 1
    assert row.numpy().tolist() == [5, 7, 5, 8, 9]
    same(z, X[0, 0])

    class Holder:
        def __init__(self):
            self.part = z[0]

        @property
        def alias(self):
            return self.part

        def get(self):
            return self.part

    holder = Holder()
    holder.part[0] = 1
    holder.alias[1] = 2
    holder.get()[2] = 3
    Holder.get(holder)[3] = 4
    assert holder.part.numpy().tolist() == [1, 2, 3, 4, 4]
    parts = [z[0], z[1]]
    parts[0][0] = 9
    {"a": parts[1]}["a"][0] = 8
    (parts[0] if parts else z)[1] = 7
    (seen := z[2])[0] = 6
    assert [part.numpy()[0] for part in (*parts, seen)] == [9, 8, 6]
    assert parts[0].numpy()[1] == 7

    def generate():
        part = z[0]
        yield part
        assert part.numpy()[0] == 3

    for part in generate():
        part[0] = 3

    def closure():
        part = z[0]

        def write():
            part[0] = 2

        write()
        return part

    assert closure().numpy()[0] == 2
    # The one reference is the caller's, who may look at it afterwards.
    exec("own = z[0]\nown[0] = 1\nassert own.numpy()[0] == 1", {"z": z})
    same(z, X[0, 0])


def test_a_value_may_be_a_temporary():
    z = mo.array(X[0, 0])
    z[1] = z[2] + z[3]
    z[0, 1:3] = z[0][2:4]
    expected = X[0, 0].copy()
    expected[1] = expected[2] + expected[3]
    expected[0, 1:3] = expected[0][2:4]
    same(z, expected)


@pytest.mark.parametrize("shape", [(), (3,)])
@pytest.mark.parametrize("is_computed", [False, True])
def test_large_unsigned_indices_are_not_from_behind(shape, is_computed):
    x = mo.array(np.arange(5.0, dtype="float32"))
    numbers = mo.array(np.full(shape, 2**64 - 1, dtype="uint64"))
    if is_computed:
        numbers = numbers - mo.array(np.ones(shape, dtype="uint64"))
    with pytest.raises(IndexError, match="is out of range for dimension 0 of extent 5"):
        x[numbers].numpy()
    with pytest.raises(IndexError, match="is out of range for dimension 0 of extent 5"):
        x.at[numbers].set(1.0).numpy()
    np.testing.assert_array_equal(x[mo.array(np.full(shape, 4, dtype="uint64"))].numpy(), 4)

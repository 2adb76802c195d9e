# Part of MetaOps, under the Apache License v2.0 with LLVM Exceptions.
# See LICENSE for license information.
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Random numbers against the functions and moments of their distributions."""

import collections
import math
import statistics

import metaops as mo
import numpy as np
import pytest
from metaops.ops.elementwise._normal import normal_quantile
from metaops.random.keys import Key
from util import close, on_processor, same

COUNT = 1 << 15
erf = np.vectorize(math.erf)


def phi(x):
    return 0.5 * (1 + erf(np.asarray(x) / math.sqrt(2)))


def gamma_share(a, x):
    """Return the lower incomplete gamma function over the whole, by its series."""
    term = np.full(np.shape(x), 1 / a)
    total = term.copy()
    for k in range(1, 400):
        term = term * x / (a + k)
        total += term
    return total * np.exp(a * np.log(np.maximum(x, 1e-300)) - x - math.lgamma(a))


def integrated(density, low, high, x):
    """Return the share below x of a density, by the trapezoidal rule."""
    grid = np.linspace(low, high, 20001)
    values = density(grid)
    sums = np.concatenate([[0], np.cumsum((values[1:] + values[:-1]) / 2)])
    return np.interp(x, grid, sums / sums[-1])


def beta_share(a, b, x):
    def density(angle):
        return np.sin(angle) ** (2 * a - 1) * np.cos(angle) ** (2 * b - 1)

    return integrated(density, 1e-9, math.pi / 2 - 1e-9, np.arcsin(np.sqrt(x)))


def student_share(df, x):
    def density(angle):  # of x = sqrt(df) * tan(angle)
        return np.cos(angle) ** (df - 1)

    return integrated(density, -math.pi / 2, math.pi / 2, np.arctan(x / math.sqrt(df)))


def triangular_share(a, c, b, x):
    up, down = (x - a) ** 2 / ((b - a) * (c - a)), 1 - (b - x) ** 2 / ((b - a) * (b - c))
    return np.where(x < c, up, down)


def truncated_share(a, b, x):
    return (phi(x) - phi(a)) / (phi(b) - phi(a))


#: Makers of numbers from a shape and options, and the shares of these below x.
CONTINUOUS = {
    "random": (lambda s, **o: mo.random(s, **o), lambda x: x),
    "uniform": (lambda s, **o: mo.uniform(s, -2, 3, **o), lambda x: (x + 2) / 5),
    "normal": (lambda s, **o: mo.normal(s, 1, 2, **o), lambda x: phi((x - 1) / 2)),
    "lognormal": (
        lambda s, **o: mo.lognormal(s, 0.3, 0.5, **o),
        lambda x: phi((np.log(x) - 0.3) / 0.5),
    ),
    "exponential": (lambda s, **o: mo.exponential(s, 3, **o), lambda x: 1 - np.exp(-x / 3)),
    "weibull": (lambda s, **o: mo.weibull(s, 1.5, 2, **o), lambda x: 1 - np.exp(-((x / 2) ** 1.5))),
    "rayleigh": (lambda s, **o: mo.rayleigh(s, 2, **o), lambda x: 1 - np.exp(-x * x / 8)),
    "pareto": (lambda s, **o: mo.pareto(s, 2.5, **o), lambda x: 1 - (1 + x) ** -2.5),
    "gumbel": (lambda s, **o: mo.gumbel(s, 1, 2, **o), lambda x: np.exp(-np.exp((1 - x) / 2))),
    "laplace": (
        lambda s, **o: mo.laplace(s, 1, 2, **o),
        lambda x: np.where(x < 1, np.exp(-abs(x - 1) / 2) / 2, 1 - np.exp(-abs(x - 1) / 2) / 2),
    ),
    "logistic": (lambda s, **o: mo.logistic(s, 1, 2, **o), lambda x: 1 / (1 + np.exp((1 - x) / 2))),
    "cauchy": (
        lambda s, **o: mo.cauchy(s, 1, 2, **o),
        lambda x: 0.5 + np.arctan((x - 1) / 2) / math.pi,
    ),
    "triangular": (
        lambda s, **o: mo.triangular(s, -1, 0.5, 2, **o),
        lambda x: triangular_share(-1, 0.5, 2, x),
    ),
    "truncated normal": (
        lambda s, **o: mo.truncated_normal(s, -0.5, 2.5, 1, 2, **o),
        lambda x: truncated_share(-0.75, 0.75, (x - 1) / 2),
    ),
    "normal of one tail": (
        lambda s, **o: mo.truncated_normal(s, 4, math.inf, **o),
        lambda x: 1 - (1 - phi(x)) / (1 - phi(4)),
    ),
    "gamma": (lambda s, **o: mo.gamma(s, 3.7, 2, **o), lambda x: gamma_share(3.7, x / 2)),
    "gamma of one": (lambda s, **o: mo.gamma(s, 1.0, **o), lambda x: 1 - np.exp(-x)),
    "small gamma": (lambda s, **o: mo.gamma(s, 0.2, **o), lambda x: gamma_share(0.2, x)),
    "chisquare": (lambda s, **o: mo.chisquare(s, 5, **o), lambda x: gamma_share(2.5, x / 2)),
    "student_t": (
        lambda s, **o: mo.student_t(s, 4, 1, 2, **o),
        lambda x: student_share(4, (x - 1) / 2),
    ),
    "beta": (lambda s, **o: mo.beta(s, 2, 0.7, **o), lambda x: beta_share(2, 0.7, x)),
}


def distance(numbers, share):
    """Return Kolmogorov and Smirnov's distance, in units of 1 / sqrt(count)."""
    x = np.sort(numbers.astype("float64"))
    below = share(x)
    steps = np.arange(len(x) + 1) / len(x)
    return math.sqrt(len(x)) * max((steps[1:] - below).max(), (below - steps[:-1]).max())


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(name, dtype):
    make, share = CONTINUOUS[name]
    numbers = make((COUNT,), dtype=dtype)
    assert numbers.dtype == dtype
    values = numbers.numpy()
    assert np.isfinite(values).all()
    # One of 10000 samples is as far away as 2.2.
    assert distance(values, share) < 2.2
    # Neighbours have nothing to do with each other.
    ranks = share(values.astype("float64")) - 0.5
    assert abs((ranks[1:] * ranks[:-1]).mean() * 12) < 4 / math.sqrt(COUNT)


@pytest.mark.parametrize("name", CONTINUOUS)
def test_halves_and_shapes(name):
    make, _ = CONTINUOUS[name]
    half = make((40,), dtype="float16")
    assert half.dtype == "float16" and not np.isnan(half.numpy()).any()
    assert make((0, 3)).numpy().shape == (0, 3)
    assert make(()).numpy().shape == ()
    if name not in ("random", "uniform", "normal"):
        with pytest.raises(TypeError, match="given int32, expected a float type"):
            make((3,), dtype="int32")


def test_numbers_of_53_bits():
    for make in [mo.random, lambda s, d, key: mo.random(s, d, key=key)]:
        u = make((4096,), "float64") if make is mo.random else make((4096,), "float64", mo.Key(1))
        parts = u.numpy() * 2.0**53
        same(parts, np.floor(parts))
        assert 0.4 < (parts % 2).mean() < 0.6
    # The tails of float32 go on behind 2**-24, too.
    assert mo.exponential((1 << 20,)).numpy().min() > 0
    small = mo.exponential((1 << 22,)).numpy()
    small = small[small < 2.0**-12] * 2.0**36
    assert len(np.unique(small % 4096)) > 0.9 * len(small)


def test_the_quantiles_of_normal_numbers():
    shares = np.concatenate([np.linspace(0.001, 0.999, 301), 10.0 ** -np.arange(4, 280, 7)])
    expected = [statistics.NormalDist().inv_cdf(share) for share in shares]
    close(normal_quantile(mo.array(shares)), expected, rtol=1e-14, atol=1e-15)


def test_truncated_normal_stays_within():
    for low, high in [(-1.0, 1.0), (6.0, 6.5), (-7.0, -6.9), (-math.inf, -3.0), (-0.1, math.inf)]:
        x = mo.truncated_normal((2000,), low, high).numpy()
        assert low <= x.min() and x.max() <= high and x.std() > 0
    low = mo.array(np.linspace(-3, 3, 7))
    x = mo.truncated_normal((500, 7), low, low + 1.0).numpy()
    assert (x >= np.linspace(-3, 3, 7) - 1e-6).all() and (x <= np.linspace(-2, 4, 7) + 1e-6).all()
    for k in range(7):
        share = lambda x, k=k: truncated_share(k - 3, k - 2, x)  # noqa: E731
        assert distance(x[:, k], share) < 2.2


@pytest.mark.parametrize("alpha", [0.01, 0.5, 1.0, 1.3, 20.0, 1e4, 1e9])
def test_moments_of_gamma(alpha):
    for parameter in [alpha, mo.array(alpha, "float64")]:
        dtype = "float64" if alpha == 1e9 else "float32"
        x = mo.gamma((COUNT,), parameter, 3, dtype).numpy().astype("float64") / 3
        assert abs(x.mean() - alpha) < 5 * math.sqrt(alpha / COUNT)
        # The fourth central moment is 3 a**2 + 6 a.
        assert abs(x.var() - alpha) < 5 * math.sqrt((2 * alpha**2 + 6 * alpha) / COUNT)


def test_beta_and_dirichlet():
    # So small that gamma numbers would be 0.
    x = mo.beta((4000,), 0.001, 0.001).numpy()
    assert np.isfinite(x).all() and abs(x.mean() - 0.5) < 0.05
    alpha = np.array([0.5, 1.0, 3.0])
    y = mo.dirichlet((COUNT,), alpha, "float64").numpy()
    close(y.sum(1), np.ones(COUNT), rtol=1e-12)
    for k, a in enumerate(alpha):
        assert distance(y[:, k], lambda x, a=a: beta_share(a, alpha.sum() - a, x)) < 2.2
    assert mo.dirichlet((2, 3), [1, 2]).shape == (2, 3, 2)


# Discrete numbers.


def chi_square(values, masses):
    """Return how far counts are from those expected, in deviations; rare ones are joined."""
    counts = np.bincount(values, minlength=len(masses)).astype("float64")
    assert len(counts) == len(masses) or counts[len(masses) :].sum() == 0
    expected = masses * len(values)
    often = expected >= 10
    pairs = [*zip(counts[: len(masses)][often], expected[often], strict=True)]
    rest = counts[: len(masses)][~often].sum(), len(values) - expected[often].sum()
    if rest[1] > 1:
        pairs.append(rest)
    total = sum((count - mean) ** 2 / mean for count, mean in pairs)
    freedom = max(len(pairs) - 1, 1)
    return (total - freedom) / math.sqrt(2 * freedom)


def poisson_masses(rate):
    k = np.arange(int(rate + 12 * math.sqrt(rate) + 25))
    return np.exp(k * math.log(rate) - rate - np.vectorize(math.lgamma)(k + 1.0))


def binomial_masses(n, p):
    k = np.arange(n + 1.0)
    lgamma = np.vectorize(math.lgamma)
    logarithms = math.lgamma(n + 1) - lgamma(k + 1) - lgamma(n - k + 1)
    return np.exp(logarithms + k * math.log(p) + (n - k) * math.log(1 - p))


@pytest.mark.parametrize("rate", [0.2, 4.0, 9.99, 10.0, 47.5, 800.0])
def test_poisson(rate):
    masses = poisson_masses(rate)
    for given in [rate, mo.array(np.float32(rate)), mo.array(np.full(COUNT, rate))]:
        values = mo.poisson((COUNT,), given)
        assert values.dtype == "int64"
        assert chi_square(values.numpy(), masses) < 5


@pytest.mark.parametrize("rate", [1e5, 3e6, 1e12])
def test_poisson_of_large_rates(rate):
    x = (mo.poisson((COUNT,), rate).numpy() - rate) / math.sqrt(rate)
    assert distance(x, phi) < 2.2 + 1 / math.sqrt(rate) * math.sqrt(COUNT)


def test_poisson_of_many_rates():
    rates = np.array([0.0, 1e-3, 2.5, 9.0, 15.0, 1000.0])
    count = COUNT if on_processor(mo.zeros(())) else COUNT // 8
    x = mo.poisson((count, 6), mo.array(rates), "int32").numpy().astype("float64")
    assert (abs(x.mean(0) - rates) <= 5 * np.sqrt(rates / count)).all()
    assert (abs(x.var(0) - rates) <= 5 * np.sqrt((2 * rates**2 + rates) / count)).all()
    same(mo.poisson((3,), 0), np.zeros(3, "int64"))


@pytest.mark.parametrize("n, p", [(1, 0.3), (10, 0.5), (300, 0.02), (4000, 0.9)])
def test_binomial(n, p):
    masses = binomial_masses(n, p)
    assert chi_square(mo.binomial((COUNT,), n, p).numpy(), masses) < 5
    few = mo.binomial((4000,), n, mo.array(np.float64(p))).numpy()
    assert chi_square(few, masses) < 5


def test_binomial_of_certain_trials():
    same(mo.binomial((3,), 7, 0.0), np.zeros(3, "int64"))
    same(mo.binomial((3,), 7, 1.0), np.full(3, 7))
    same(mo.binomial((3,), 0, 0.5), np.zeros(3, "int64"))
    x = mo.binomial((COUNT,), 10**9, 0.25).numpy()
    deviation = math.sqrt(10**9 * 0.1875)
    assert distance((x - 10**9 * 0.25) / deviation, phi) < 2.2


def test_waiting():
    k = np.arange(400)
    for p in [0.2, mo.array(0.2, "float64")]:
        masses = np.where(k > 0, 0.2 * 0.8 ** (k - 1.0), 0)
        assert chi_square(mo.geometric((COUNT,), p).numpy(), masses) < 5
    same(mo.geometric((5,), 1.0), np.ones(5, "int64"))
    lgamma = np.vectorize(math.lgamma)
    for n in [3.5, mo.array(np.float64(3.5))]:
        logarithms = lgamma(k + 3.5) - lgamma(k + 1.0) - math.lgamma(3.5)
        masses = np.exp(logarithms + 3.5 * math.log(0.3) + k * math.log(0.7))
        assert chi_square(mo.negative_binomial((COUNT,), n, 0.3).numpy(), masses) < 5


def test_categories():
    p = np.array([0.1, 0.0, 0.6, 0.25, 0.05])
    with np.errstate(divide="ignore"):
        logits = np.log(p) + 7
    assert chi_square(mo.categorical(logits, (COUNT,)).numpy(), p) < 5
    rows = mo.categorical(np.stack([logits, np.zeros(5)]), (COUNT,)).numpy()
    assert rows.shape == (COUNT, 2) and rows.dtype == np.int64
    assert chi_square(rows[:, 0], p) < 5 and chi_square(rows[:, 1], np.full(5, 0.2)) < 5
    counts = mo.multinomial(20, p, (2000,)).numpy()
    assert (counts.sum(1) == 20).all() and counts.dtype == np.int64
    for k in range(5):
        masses = binomial_masses(20, p[k]) if p[k] else np.eye(21)[0]
        assert chi_square(counts[:, k], masses) < 5
    assert mo.multinomial(3, p).numpy().sum() == 3


def test_choices():
    p = np.array([0.5, 0.0, 0.2, 0.3])
    values = np.array([[1, 2], [3, 4], [5, 6], [7, 8]])
    chosen = mo.choice(values, (COUNT,), p=p).numpy()
    assert chosen.shape == (COUNT, 2)
    same(chosen[:, 1] - chosen[:, 0], np.ones(COUNT, "int64"))
    assert chi_square((chosen[:, 0] - 1) // 2, p) < 5
    assert chi_square(mo.choice(4, (COUNT,)).numpy(), np.full(4, 0.25)) < 5
    assert mo.choice(values).shape == (2,)


def test_bernoulli_of_many_probabilities():
    p = np.array([0.0, 0.1, 0.9, 1.0])
    x = mo.bernoulli(mo.array(p), (COUNT, 4)).numpy()
    assert x.dtype == bool
    assert (abs(x.mean(0) - p) <= 5 * np.sqrt(p * (1 - p) / COUNT)).all()


INTERVALS = [
    (-3, 4, "int64"),
    (0, 256, "uint8"),
    (-128, 128, "int8"),
    (-(2**63), 2**63, "int64"),
    (0, 2**64, "uint64"),
    (7, 2**63, "int64"),
    (0, 3 * 2**61, "int64"),
    (2**63, 2**64, "uint64"),
    (-(2**40), 2**40, "int64"),
    (0, 2, "bool"),
    (-5, 5, "float32"),
]


@pytest.mark.parametrize("low, high, dtype", INTERVALS)
def test_randint(low, high, dtype):
    x = mo.randint(low, high, (COUNT,), dtype)
    assert x.dtype == dtype
    numbers = [int(n) for n in x.numpy()]
    assert low <= min(numbers) and max(numbers) < high
    shares = np.array([(n - low) / (high - low) for n in numbers])
    step = 1 / min(high - low, 2**60)
    mean, deviation = 0.5 - step / 2, math.sqrt((1 - step * step) / 12 / COUNT)
    assert abs(shares.mean() - mean) < 5 * deviation
    if high - low < 1000:
        assert chi_square(np.array([n - low for n in numbers]), np.full(high - low, step)) < 5
    else:
        assert distance(shares, lambda x: x) < 2.2


def test_randint_refuses():
    for low, high, dtype in [(0, 300, "uint8"), (-1, 3, "uint32"), (0, 2**63 + 1, "int64")]:
        with pytest.raises(ValueError, match=f"is not within {dtype}"):
            mo.randint(low, high, (3,), dtype)
    with pytest.raises(ValueError, match=r"the interval \[3, 3\) is empty"):
        mo.randint(3, 3)


# Keys.


def test_keyed_words_are_those_of_the_generator():
    for value in [0, 5, 2**63 + 12345]:
        for dtype in ["uint32", "float32", "float64", "float16", "bfloat16"]:
            mo.seed(value - 2**64 if value >= 2**63 else value)
            expected = mo.random((500,), dtype).numpy()
            same(mo.random((500,), dtype, key=Key._of(value)), expected)


#: Everything that takes a key, of a shape.
KEYED = {name: make for name, (make, _) in CONTINUOUS.items()}
KEYED |= {
    "dirichlet": lambda s, **o: mo.dirichlet(s, [1.0, 2.0], **o),
    "randint": lambda s, **o: mo.randint(0, 100, s, **o),
    "large randint": lambda s, **o: mo.randint(0, 2**63, s, **o),
    "bernoulli": lambda s, **o: mo.bernoulli(0.5, s, **o),
    "poisson": lambda s, **o: mo.poisson(s, 3.0, **o),
    "binomial": lambda s, **o: mo.binomial(s, 9, 0.4, **o),
    "geometric": lambda s, **o: mo.geometric(s, 0.1, **o),
    "negative_binomial": lambda s, **o: mo.negative_binomial(s, 2, 0.1, **o),
    "categorical": lambda s, **o: mo.categorical(np.zeros(9), s, **o),
    "multinomial": lambda s, **o: mo.multinomial(50, [0.5, 0.5], s, **o),
    "choice": lambda s, **o: mo.choice(50, s, **o),
}


@pytest.mark.parametrize("name", KEYED)
def test_keys(name):
    make = KEYED[name]
    key, other = mo.Key(3).split()
    first = make((50,), key=key).numpy()
    mo.random((7,)).sync()
    same(make((50,), key=key), first)
    assert not np.array_equal(make((50,), key=other).numpy(), first)
    # The session's numbers are not moved on.
    mo.seed(1)
    make((50,), key=key).sync()
    after = mo.random((5,)).numpy()
    mo.seed(1)
    same(mo.random((5,)), after)
    with pytest.raises(TypeError, match=r"key is 3, expected a mo\.Key or None"):
        make((50,), key=3)


def test_other_keys_and_numbers_make_no_program(compiled):
    calls = [
        lambda n: mo.normal((60,), n, n, key=mo.Key(n)),
        lambda n: mo.gamma((60,), n + 1.5, key=mo.Key(n)),
        lambda n: mo.poisson((60,), 5 + n / 8, key=mo.Key(n)),
        lambda n: mo.randint(-n - 1, 100 + n, (60,), key=mo.Key(n)),
    ]
    for call in calls:
        call(1).sync()
        before = mo.stats()["programs_compiled"]
        for n in range(2, 6):
            call(n).sync()
        assert mo.stats()["programs_compiled"] == before


def test_other_names_take_keys():
    key = mo.Key(1)
    for x in [mo.rand(3, 4, key=key), mo.rand_like(np.zeros((3, 4), "float32"), key=key)]:
        same(x, mo.random((3, 4), key=key).numpy())
    for x in [mo.randn(3, 4, key=key), mo.randn_like(np.zeros((3, 4), "float32"), key=key)]:
        same(x, mo.normal((3, 4), key=key).numpy())


@pytest.mark.parametrize("name", ["normal", "gamma", "student_t", "beta"])
def test_keyed_numbers_are_of_their_distribution(name):
    make, share = CONTINUOUS[name]
    assert distance(make((COUNT,), key=mo.Key(5)).numpy(), share) < 2.2


def test_keys_differ():
    key = mo.Key(0)
    parts = key.split(100)
    folded = [key.fold_in(number) for number in range(100)]
    seeds = [mo.Key(seed) for seed in [0, 1, -1, 2**40, 2**63]]
    assert len({*parts, *folded, *seeds}) == 205
    assert key == mo.Key(0) and hash(key) == hash(mo.Key(0)) and key != mo.Key(1)
    assert parts == mo.Key(0).split(100) and folded[3] == mo.Key(0).fold_in(3)
    assert repr(key).startswith("<Key ") and key.split(0) == ()
    words = np.stack([mo.random((1000,), "uint32", key=part).numpy() for part in parts[:8]])
    correlations = np.corrcoef(words.astype("float64")) - np.eye(8)
    assert abs(correlations).max() < 5 / math.sqrt(1000)
    with pytest.raises(TypeError, match=r"Key: seed is 1\.5, expected an integer"):
        mo.Key(1.5)
    with pytest.raises(OverflowError, match="expected an integer of 64 bits"):
        mo.Key(2**64)
    with pytest.raises(ValueError, match=r"Key\.split: num is -1"):
        key.split(-1)


# Parameters.


def test_parameters_broadcast():
    scale = mo.array(np.array([[1.0], [100.0]], "float32"))
    for make in [mo.exponential, mo.rayleigh]:
        x = make((2, 2000), scale).numpy()
        assert 50 < x[1].mean() / x[0].mean() < 200
    with pytest.raises(ValueError, match=r"scale has shape \(2, 1\), which does not broadcast"):
        mo.exponential((3, 4), scale)


@pytest.mark.parametrize("name", ["gumbel", "laplace", "logistic", "cauchy", "normal", "lognormal"])
def test_gradients_by_location_and_scale(name):
    loc, scale = (mo.array(np.array(value)) for value in (0.5, 2.0))
    make = getattr(mo, name)
    x = make((50,), loc, scale, "float64", key=mo.Key(1))
    if name == "lognormal":
        x = mo.log(x)
    one = (x.numpy() - 0.5) / 2
    for gradient, expected in zip(mo.grad(x, [loc, scale]), [50, one.sum()], strict=True):
        close(gradient, expected, rtol=1e-9)
    y = mo.gamma((50,), 2.0, scale, "float64", key=mo.Key(1))
    close(mo.grad(y, scale), y.numpy().sum() / 2, rtol=1e-12)


WRONG = {
    "scale": (lambda: mo.exponential((3,), 0), "exponential: scale is 0, expected a positive"),
    "nan": (lambda: mo.gumbel((3,), math.nan), "gumbel: loc is nan, expected a finite number"),
    "infinite": (lambda: mo.gamma((3,), math.inf), "gamma: alpha is inf, expected a positive"),
    "std": (lambda: mo.lognormal((3,), 0, -1.0), "lognormal: std is -1.0, expected 0 or more"),
    "triangle": (lambda: mo.triangular((3,), 2, 1, 3), "expected rising numbers"),
    "bounds": (lambda: mo.truncated_normal((3,), 2.0, 1.0), "expected to rise"),
    "df": (lambda: mo.chisquare((3,), -1), "chisquare: df is -1, expected a positive number"),
    "dirichlet": (lambda: mo.dirichlet((3,), [[1.0]]), "expected one dimension and elements"),
    "rate": (lambda: mo.poisson((3,), -1), r"poisson: rate is -1\.0, expected 0 to 2\*\*53"),
    "trials": (lambda: mo.binomial((3,), -1, 0.5), "binomial: n is -1, expected 0 or more"),
    "many trials": (lambda: mo.binomial((3,), 5000, mo.array(0.5)), "expected at most 4096"),
    "variance": (lambda: mo.binomial((3,), 2**60, 0.5), r"expected a variance of at most 2\*\*32"),
    "probability": (lambda: mo.binomial((3,), 1, 1.5), "probability is 1.5, expected one in"),
    "never": (lambda: mo.geometric((3,), 0.0), r"probability is 0.0, expected one in \(0, 1\]"),
    "bernoulli": (lambda: mo.bernoulli(1.5, (3,)), r"bernoulli: probability is 1\.5"),
    "classes": (lambda: mo.categorical(np.zeros((2, 0))), r"expected \(\.\.\., classes\)"),
    "sum": (lambda: mo.multinomial(3, [0.5, 0.6]), "expected probabilities that add up to 1"),
    "replace": (lambda: mo.choice(3, (4,), replace=False), "4 of 3 elements asked for"),
    "once": (lambda: mo.choice(3, 3, False, [0.5, 0.5, 0]), "3 of 2 elements asked for"),
    "nothing": (lambda: mo.choice(0, (2,)), "choice: x has no elements"),
    "other p": (lambda: mo.choice(3, (2,), p=[0.5, 0.5]), "p has 2 elements, expected 3"),
}


@pytest.mark.parametrize("name", WRONG)
def test_errors(name):
    call, message = WRONG[name]
    with pytest.raises(ValueError, match=rf"{message}.*test_distributions\.py:"):
        call()


def test_permutation_and_choice_without_replacement():
    """All orders are as likely as they should be."""
    mo.seed(3)
    x = np.arange(10.0).reshape(5, 2)
    shuffled = mo.permutation(x).numpy()
    assert sorted(map(tuple, shuffled)) == sorted(map(tuple, x))
    counts = collections.Counter(tuple(mo.permutation(3).tolist()) for _ in range(1200))
    assert len(counts) == 6
    # Each 200 in the mean, with a deviation of 13.
    assert max(abs(count - 200) for count in counts.values()) < 65
    key = mo.Key(5)
    assert mo.permutation(9, key=key).tolist() == mo.permutation(9, key=key).tolist()
    p = np.array([0.5, 0.3, 0.2, 0.0])
    draws = np.array([mo.choice(4, (2,), False, p).tolist() for _ in range(1200)])
    assert (draws[:, 0] != draws[:, 1]).all()
    assert not (draws == 3).any()
    first = np.bincount(draws[:, 0], minlength=4) / 1200
    assert np.abs(first - p).max() < 0.06
    # The second: of the shares that are left.
    second = np.bincount(draws[:, 1], minlength=4) / 1200
    expected = [0.3 * 0.5 / 0.7 + 0.2 * 0.5 / 0.8, 0.5 * 0.3 / 0.5 + 0.2 * 0.3 / 0.8]
    assert np.abs(second[:2] - expected).max() < 0.06


def test_integers_of_a_shape_behind_the_bound():
    """As PyTorch has it: the second argument is a shape where it is no integer."""
    for shape in [(2, 3), [2, 3], mo.ones((2, 3)).shape, ()]:
        x = mo.randint(10, shape, key=mo.Key(1))
        same(x, mo.randint(0, 10, shape, key=mo.Key(1)).numpy())
        assert x.shape == tuple(shape)
    assert mo.randint(10).shape == (1,) and mo.randint(5, 10, (2,)).shape == (2,)
    for bounds in [(0.5, 2), (0, "x"), ("x",), ((2, 3),), (0, (2, 3), (2, 3))]:
        with pytest.raises(TypeError, match=r"randint: (low|high) is .*, expected an integer"):
            mo.randint(*bounds)


@pytest.mark.parametrize("made", [mo.array, np.asarray, list])
def test_booleans_of_the_shape_of_their_probabilities(made):
    x = mo.bernoulli(made([0.0, 1.0, 0.0]))
    same(x, np.array([False, True, False]))
    assert mo.bernoulli(made([[0.0], [1.0]]), (2, 3)).shape == (2, 3)
    assert mo.bernoulli(0.5).shape == () and mo.bernoulli(1).item() is True

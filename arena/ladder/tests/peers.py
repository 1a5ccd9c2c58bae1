"""Computes anew what `cargo run --example peers` prints, with other people's programs.

    peers.py FILE

numpy, SciPy, choix and openskill are pinned in xtask/src/tools.rs. Every line of
the file is a case: its kind, what was given, what we found. What is estimated by
drawing at random must agree within a few standard errors, all else in six digits.
"""

import itertools
import json
import math
import os
import sys

# The matrices are small: threads would only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import choix
import numpy as np
from openskill.models import BradleyTerryFull, PlackettLuce
from scipy import optimize, stats

ELO = 400 / math.log(10)
NELO = 800 / math.log(10)
Z = stats.norm.ppf(0.975)


def near(what, found, expected, within=1e-6):
    if found is None or expected is None:
        assert found is expected, f"{what}: {found}, not {expected}"
    else:
        off = abs(found - expected)
        assert off <= within * max(1, abs(expected)), f"{what}: {found}, not {expected}"


def two(counts, found):
    """Elo by root finding, everything else from the samples written out."""
    games = len(counts) // 2
    sample = np.repeat(np.arange(len(counts)) / (2 * games), counts)
    score, error = sample.mean(), sample.std() / math.sqrt(len(sample))

    def elo(score):
        return optimize.brentq(lambda x: 1 / (1 + 10 ** (-x / 400)) - score, -5000, 5000, xtol=1e-10)

    near("score", found["score"], score)
    near("elo", found["elo"]["value"], elo(score))
    bar = (elo(score + Z * error) - elo(score - Z * error)) / 2
    near("elo error", found["elo"]["error"], bar)
    t = (score - 0.5) / (sample.std() * math.sqrt(games))
    near("nelo", found["nelo"]["value"], t * NELO)
    near("nelo error", found["nelo"]["error"], Z * NELO / math.sqrt(games * len(sample)))
    near("los", found["los"], stats.norm.cdf((score - 0.5) / error))
    near("draw ratio", found["draw_ratio"], np.mean(sample == 0.5))


def likeliest(seen, condition):
    """The log-likelihood of the multinomial at its maximum under the condition."""
    free = optimize.minimize(
        lambda p: -seen @ np.log(p),
        np.full(len(seen), 1 / len(seen)),
        jac=lambda p: -seen / p,
        bounds=[(1e-9, 1)] * len(seen),
        constraints=[
            {"type": "eq", "fun": lambda p: p.sum() - 1},
            {"type": "eq", "fun": condition},
        ],
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 1000},
    )

    # The same to the last digit: where the derivatives of the Lagrangian vanish.
    def slope(p, step=1e-6):
        return np.array([(condition(p + e) - condition(p - e)) / (2 * step) for e in step * np.eye(len(p))])

    def lagrange(x):
        p = x[:-2]
        return np.append(-seen / p + x[-2] + x[-1] * slope(p), [p.sum() - 1, condition(p)])

    p = free.x
    weights = np.linalg.lstsq(np.column_stack([np.ones(len(p)), slope(p)]), seen / p, rcond=None)[0]
    exact = optimize.root(lagrange, np.append(p, weights), tol=1e-14).x[:-2]
    assert np.abs(exact - p).max() < 1e-4, (exact, p)
    return seen @ np.log(exact)


def sprt(given, found):
    test, counts = given
    games = len(counts) // 2
    scores = np.arange(len(counts)) / (2 * games)
    total = sum(counts)
    seen = np.array(counts) / total

    def under(elo):
        if test["model"] == "logistic":
            mean = 1 / (1 + 10 ** (-elo / 400))
            return likeliest(seen, lambda p: p @ scores - mean)
        t = elo / NELO * math.sqrt(games)

        def condition(p):
            mean = p @ scores
            return mean - 0.5 - t * np.sqrt(p @ (scores - mean) ** 2)

        return likeliest(seen, condition)

    llr = total * (under(test["elo1"]) - under(test["elo0"]))
    near("llr", found, llr, 1e-5)


def orders(places):
    """All orders, best first, that those who share places might have come in."""
    levels = [[i for i, at in enumerate(places) if at == place] for place in sorted(set(places))]
    for parts in itertools.product(*(itertools.permutations(level) for level in levels)):
        yield [i for part in parts for i in part]


def log_likelihood(theta, rankings, weights):
    """Of rankings written out, best first, all of the same length."""
    seated = theta[rankings]
    rest = np.logaddexp.accumulate(seated[:, ::-1], axis=1)[:, ::-1]
    return weights @ (seated - rest).sum(axis=1)


def prior_of(theta, prior):
    return prior * (theta / 2 - np.logaddexp(0, theta)).sum()


def score_of(theta, ranking):
    """The first derivatives for one ranking."""
    score = np.zeros(len(theta))
    for at in range(len(ranking) - 1):
        left = ranking[at:]
        share = np.exp(theta[left])
        score[ranking[at]] += 1
        score[left] -= share / share.sum()
    return score


def information(theta, rankings, weights, prior):
    """Minus the second derivatives, numerically."""

    def slope(theta):
        score = sum(w * score_of(theta, r) for r, w in zip(rankings, weights))
        return score + prior * (0.5 - 1 / (1 + np.exp(-theta)))

    step = 1e-5
    return -np.array([(slope(theta + e) - slope(theta - e)) / (2 * step) for e in step * np.eye(len(theta))])


def maximum(players, rankings, weights, prior):
    value = optimize.minimize(
        lambda theta: -log_likelihood(theta, rankings, weights) - prior_of(theta, prior) + theta.mean() ** 2 * (prior == 0),
        np.zeros(players),
        method="BFGS",
        options={"gtol": 1e-9},
    ).x
    # One step of Newton's method for the last digits.
    score = sum(w * score_of(value, r) for r, w in zip(rankings, weights))
    score += prior * (0.5 - 1 / (1 + np.exp(-value)))
    return value + np.linalg.pinv(information(value, rankings, weights, prior)) @ score


def fitted(players, groups, prior, found, tolerance, bootstrap):
    """Groups are lists of (ranking, weight) and how many there are."""
    total = {}
    for group, times in groups:
        for ranking, weight in group:
            total[tuple(ranking)] = total.get(tuple(ranking), 0) + weight * times
    rankings, weights = np.array(list(total)), np.array(list(total.values()))
    theta = maximum(players, rankings, weights, prior)
    near("log-likelihood", found["log_likelihood"], log_likelihood(theta, rankings, weights))
    for found_one, expected in zip(found["natural"], theta - theta.mean()):
        near("strength", found_one, expected)
    # The same from choix, which takes whole games: halves are doubled, and with
    # shared places there are too many orders to write out.
    if prior == 0 and np.all(2 * weights % 1 == 0):
        times = np.rint(weights * (1 if np.all(weights % 1 == 0) else 2)).astype(int)
        written = [list(map(int, r)) for r, n in zip(rankings, times) for _ in range(n)]
        theirs = choix.ilsr_pairwise if rankings.shape[1] == 2 else choix.ilsr_rankings
        theirs = theirs(players, written, alpha=0, tol=1e-9)
        for found_one, expected in zip(found["natural"], theirs - theirs.mean()):
            near("strength by choix", found_one, expected, 1e-4)

    centre = np.eye(players) - 1 / players
    samples = sum(times for _, times in groups)
    if bootstrap:
        # Groups drawn again, and everything fitted again.
        chance = np.random.default_rng(1)
        index = {ranking: i for i, ranking in enumerate(total)}
        rows = np.zeros((len(groups), len(total)))
        for row, (group, _) in zip(rows, groups):
            for ranking, weight in group:
                row[index[tuple(ranking)]] += weight
        times = np.array([times for _, times in groups])
        drawn = chance.multinomial(samples, times / samples, size=300)
        fits = np.array([quick(theta, rankings, draw @ rows, prior) for draw in drawn]) @ centre
        variances = fits.var(axis=0, ddof=1)
    else:
        scores = [(sum(w * score_of(theta, r) for r, w in group), times) for group, times in groups]
        meat = sum(times * np.outer(score, score) for score, times in scores)
        bread = centre @ np.linalg.pinv(information(theta, rankings, weights, prior))
        variances = np.diag(bread @ meat @ bread.T)
    raised = samples / (samples - players + 1)
    for found_one, variance in zip(found["errors"], variances):
        near("error", found_one / (Z * math.sqrt(variance * raised)), 1, tolerance)


def quick(theta, rankings, weights, prior):
    """Newton's method from a good start."""
    players = len(theta)
    sets = [(rankings[:, at:], rankings[:, at]) for at in range(rankings.shape[1] - 1)]
    for _ in range(5):
        slope = prior * (0.5 - 1 / (1 + np.exp(-theta)))
        win = 1 / (1 + np.exp(-theta))
        curve = np.diag(prior * win * (1 - win))
        for left, chosen in sets:
            share = np.exp(theta[left])
            share /= share.sum(axis=1, keepdims=True)
            np.add.at(slope, chosen, weights)
            np.add.at(slope, left, -weights[:, None] * share)
            full = np.zeros((len(left), players))
            np.put_along_axis(full, left, share, axis=1)
            curve += np.diag(weights @ full) - full.T @ (weights[:, None] * full)
        theta = theta + np.linalg.pinv(curve) @ slope
    return theta


def pairwise(given, found):
    players, prior, met = given
    groups = []
    for pair, counts in met:
        games = len(counts) // 2
        for half, times in enumerate(counts):
            won = [(pair, half / 2), (pair[::-1], games - half / 2)]
            groups.append(([(who, weight) for who, weight in won if weight > 0], times))
    fitted(players, groups, prior, found, 1e-4, bootstrap=False)


def ranked(given, found):
    players, prior, tallies = given
    groups = []
    for tally in tallies:
        group = []
        for places in tally["places"]:
            every = list(orders(places))
            for order in every:
                group.append(([tally["lineup"][i] for i in order], 1 / len(every)))
        groups.append((group, tally["groups"]))
    # Two bootstraps, of 200 and 300: each is off by 4 to 5 %.
    fitted(players, groups, prior, found, 0.2, bootstrap=True)


def online(given, found):
    entrants, groups = given
    model = BradleyTerryFull(tau=0)
    ratings = [model.rating() for _ in range(entrants)]
    for who, points in groups:
        ranks = [sum(other > won for other in points) for won in points]
        for i, [rating] in zip(who, model.rate([[ratings[i]] for i in who], ranks=ranks)):
            ratings[i] = rating
    for (rating, uncertainty), expected in zip(found, ratings):
        near("rating", rating, expected.mu)
        near("uncertainty", uncertainty, expected.sigma)


def margins(tallies, found):
    """The mean by least squares through the origin, its error by the jackknife."""
    for who, estimate in enumerate(found):
        rows = [(t["margins"][who], 3 * len(t["places"])) for t in tallies for _ in range(t["groups"])]
        margin, games = np.array(rows, dtype=float).T
        near("margin", estimate["value"], margin.sum() / games.sum())
        without = (margin.sum() - margin) / (games.sum() - games)
        n = len(rows)
        error = math.sqrt((n - 1) / n * ((without - without.mean()) ** 2).sum())
        near("margin error", estimate["error"] / (Z * error), 1, 0.05)


def stratified(strata, found):
    """Each stratum's distribution by SciPy, and their sum by convolution."""
    tables = np.array([[s["events"], s["trials"] - s["events"], s["other_events"], s["other_trials"] - s["other_events"]] for s in strata])
    a, b, c, d = tables.T.astype(float)
    drawn = [stats.hypergeom(sum(row), row[0] + row[2], row[0] + row[1]) for row in tables.tolist()]
    masses = []
    for x in drawn:
        least, most = (int(end) for end in x.support())
        masses.append((least, x.pmf(np.arange(least, most + 1))))
    mean = sum(least + np.arange(len(mass)) @ mass for least, mass in masses)
    variance = sum(np.arange(len(mass)) ** 2 @ mass - (np.arange(len(mass)) @ mass) ** 2 for _, mass in masses)
    near("expected", found["expected"], mean)
    own, other = (a * (c + d) / (a + b + c + d)).sum(), (c * (a + b) / (a + b + c + d)).sum()
    near("risk ratio", found["risk_ratio"], own / other if other else None)
    if variance > 1000:
        p = stats.norm.sf((a.sum() - mean - 0.5) / math.sqrt(variance))
    elif len(strata) == 1:
        p = stats.fisher_exact([[a[0], b[0]], [c[0], d[0]]], alternative="greater").pvalue
    else:
        whole = np.ones(1)
        for _, mass in masses:
            whole = np.convolve(whole, mass)
        p = min(1, whole[int(a.sum()) - sum(least for least, _ in masses) :].sum())
    # SciPy's are right to nine digits at least, and ours end at 1e-100.
    near("p-value", math.log(found["p_value"]), math.log(max(p, 1e-100)), 1e-6)


def the_packages_are_those_that_made_the_figures():
    model = PlackettLuce()
    new = model.rate([[model.rating()] for _ in range(4)], ranks=[1, 2, 3, 4])
    figures = [(27.795253, 8.263572), (26.552918, 8.179618), (24.689416, 8.084128), (20.962413, 8.084128)]
    for [rating], (mu, sigma) in zip(new, figures):
        near("openskill", rating.mu, mu)
        near("openskill", rating.sigma, sigma)


def main():
    the_packages_are_those_that_made_the_figures()
    kinds = {f.__name__: f for f in (two, sprt, pairwise, ranked, online, margins, stratified)}
    done = dict.fromkeys(kinds, 0)
    with open(sys.argv[1], encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            case = json.loads(line)
            try:
                kinds[case["kind"]](case["given"], case["found"])
            except AssertionError as wrong:
                sys.exit(f"{sys.argv[1]}:{number}: {case['kind']}: {wrong}")
            done[case["kind"]] += 1
    assert all(done.values()), f"a kind without a case: {done}"
    print("as others find it: " + ", ".join(f"{n} {kind}" for kind, n in done.items()))


if __name__ == "__main__":
    main()

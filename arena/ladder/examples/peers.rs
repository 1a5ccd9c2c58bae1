//! Prints random results and what this crate makes of them, one JSON object a
//! line, for `tests/peers.py` to compute anew with other people's programs.

#![allow(clippy::print_stdout, reason = "a program")]

use arena_ladder::{
    Entrant, GroupCount, HalfPoints, Seatings, Sprt, Standings,
    bradley_terry::{self, PairGroups},
    elo::{Comparison, ELO_SCALE},
    luce::{Fit, PRIOR},
    mantel_haenszel::{StratifiedTest, Stratum},
    online::Online,
    plackett_luce,
};
use rand_chacha::{
    ChaCha8Rng,
    rand_core::{Rng as _, SeedableRng as _},
};
use serde_json::{Value, json};

fn main() {
    let mut chance = ChaCha8Rng::from_seed([4; 32]);
    for games in [1, 2, 2, 2, 4, 24] {
        two(&mut chance, games);
    }
    for test in [
        "elo0=0 elo1=2",
        "elo0=-3 elo1=1 model=logistic",
        "elo0=0 elo1=30",
        "elo0=10 elo1=60 model=logistic",
        "elo0=-40 elo1=-5 alpha=0.01 beta=0.1",
    ] {
        for games in [1, 2, 2] {
            sprt(&mut chance, &test.parse().expect("a test"), games);
        }
    }
    for (players, prior) in [(2, 0.0), (4, 0.0), (7, 0.0), (7, PRIOR), (12, PRIOR)] {
        pairwise(&mut chance, players, prior);
    }
    for (players, seatings, ties, prior) in [
        (4, Seatings::Single, false, 0.0),
        (4, Seatings::Rotations, false, 0.0),
        (4, Seatings::Rotations, true, PRIOR),
        (4, Seatings::All, false, PRIOR),
        (6, Seatings::Rotations, true, 0.0),
    ] {
        ranked(&mut chance, players, seatings, ties, prior);
    }
    for seats in [2, 4] {
        online(&mut chance, seats);
    }
    margins(&mut chance);
    for (strata, trials, percent) in [
        (1, 12, 40),
        (1, 4000, 2),
        (3, 60, 10),
        (12, 300, 1),
        (12, 300, 99),
        (40, 2000, 1),
        (5, 40_000, 20),
    ] {
        for more in [0, 1, 3] {
            stratified(&mut chance, strata, trials, percent, more);
        }
    }
}

fn print(kind: &str, given: &Value, found: &Value) {
    println!("{}", json!({"kind": kind, "given": given, "found": found}));
}

fn below(chance: &mut ChaCha8Rng, limit: usize) -> usize {
    chance.next_u32() as usize % limit
}

/// Counts by half points, more in the middle.
fn counts(chance: &mut ChaCha8Rng, games: usize, most: usize) -> Vec<u64> {
    (0..=2 * games)
        .map(|half| (1 + below(chance, most) / (1 + half.abs_diff(games))) as u64)
        .collect()
}

fn two(chance: &mut ChaCha8Rng, games: usize) {
    let counts = counts(chance, games, 60);
    print("two", &json!(counts), &json!(Comparison::of(&counts)));
}

fn sprt(chance: &mut ChaCha8Rng, test: &Sprt, games: usize) {
    let counts = counts(chance, games, 3000);
    print("sprt", &json!([test, counts]), &json!(test.llr(&counts)));
}

/// A fit as others write it: strengths in natural units.
fn fitted(fit: &Fit) -> Value {
    let ratings = fit.ratings.iter().flatten();
    let errors = ratings.map(|rating| rating.error.ok().map(|error| error / ELO_SCALE));
    json!({
        "natural": fit.natural(),
        "errors": errors.collect::<Vec<_>>(),
        "log_likelihood": fit.log_likelihood,
    })
}

fn pairwise(chance: &mut ChaCha8Rng, players: usize, prior: f64) {
    let mut met = Vec::new();
    for first in 0..players {
        for second in first + 1..players {
            // The lower number is the stronger, and not everybody meets.
            if second == first + 1 || below(chance, 4) > 0 {
                let mut counts = counts(chance, 2, 12);
                counts[4] += below(chance, 3 * (second - first)) as u64;
                met.push(([first, second], counts));
            }
        }
    }
    let pairs = met.iter().map(|(players, counts)| PairGroups {
        players: *players,
        counts,
    });
    let fit = bradley_terry::fit(players, &pairs.collect::<Vec<_>>(), prior);
    let fit = fit.expect("everybody has won and lost");
    print("pairwise", &json!([players, prior, met]), &fitted(&fit));
}

/// A table's places: a lower number is the stronger, but for luck.
fn places(chance: &mut ChaCha8Rng, who: &[u32], ties: bool) -> Vec<u8> {
    let grain = if ties { 40 } else { 1 };
    let luck = who
        .iter()
        .map(|&who| 20 * who as usize + below(chance, 150));
    let luck: Vec<usize> = luck.map(|luck| luck / grain).collect();
    // Without ties the seat decides.
    let key = |at: usize| (luck[at], if ties { 0 } else { at });
    let ahead = |at: usize| {
        (0..luck.len())
            .filter(|&other| key(other) < key(at))
            .count()
    };
    (0..luck.len()).map(|at| 1 + ahead(at) as u8).collect()
}

fn table(chance: &mut ChaCha8Rng, players: u32, seats: usize) -> Vec<u32> {
    let mut who: Vec<u32> = (0..players).collect();
    while who.len() > seats {
        who.remove(below(chance, who.len()));
    }
    for at in 1..who.len() {
        let other = below(chance, at + 1);
        who.swap(at, other);
    }
    who
}

fn ranked(chance: &mut ChaCha8Rng, players: u32, seatings: Seatings, ties: bool, prior: f64) {
    let mut tallies = Vec::new();
    for _ in 0..150 {
        let who = table(chance, players, 4);
        // A deal favours the same seat in all of its games.
        let dealt = places(chance, &who, ties);
        let games = (0..seatings.games(4)).map(|_| match below(chance, 3) {
            0 => dealt.clone(),
            _ => places(chance, &who, ties),
        });
        let games = games.collect();
        let lineup = who.into_iter().map(|who| Some(Entrant::new(who))).collect();
        let groups = 1 + below(chance, 2) as u64;
        tallies.push(GroupCount::new(lineup, games, &[0; 4], groups));
    }
    let fit = plackett_luce::fit(players as usize, &tallies, prior);
    let fit = fit.expect("everybody has been ahead of everybody");
    print("ranked", &json!([players, prior, tallies]), &fitted(&fit));
}

fn online(chance: &mut ChaCha8Rng, seats: usize) {
    let mut online = Online::new(6);
    let mut groups = Vec::new();
    for _ in 0..100 {
        let who = table(chance, 6, seats);
        let lineup = who.iter().map(|&who| Some(Entrant::new(who))).collect();
        let luck = who
            .iter()
            .map(|&who| HalfPoints((below(chance, 9) as u32).saturating_sub(who)));
        let points: Vec<HalfPoints> = luck.collect();
        online.update(&lineup, &points);
        groups.push((who, points));
    }
    let ratings: Vec<_> = Entrant::all(6).map(|who| online.rating(who)).collect();
    print("online", &json!([6, groups]), &json!(ratings));
}

fn margins(chance: &mut ChaCha8Rng) {
    let mut given = Vec::new();
    let tallies: Vec<GroupCount> = (0..40)
        .map(|_| {
            let places = vec![vec![1, 2, 3, 4]; [1, 4][below(chance, 2)]];
            let margins: Vec<i64> = (0..4).map(|_| below(chance, 60) as i64 - 20).collect();
            let groups = 1 + below(chance, 3) as u64;
            given.push(json!({"places": places, "margins": margins, "groups": groups}));
            let lineup = [0, 1, 2, 3].map(|who| Some(Entrant::new(who)));
            GroupCount::new(lineup.to_vec(), places, &margins, groups)
        })
        .collect();
    let standings = Standings::of(4, 4, &tallies, &[]);
    let mut rows: Vec<_> = standings.rows.iter().collect();
    rows.sort_by_key(|row| row.entrant);
    let found: Vec<_> = rows.iter().map(|row| row.margin).collect();
    print("margins", &json!(given), &json!(found));
}

/// Strata in which events are more frequent, by `more` standard deviations in each.
fn stratified(chance: &mut ChaCha8Rng, strata: usize, trials: usize, percent: usize, more: usize) {
    let strata: Vec<Stratum> = (0..strata)
        .map(|_| {
            let drawn = [0; 2].map(|_| 1 + below(chance, trials));
            let [own, other] = drawn.map(|trials| trials * below(chance, 2 * percent) / 200);
            let apart = (own as f64).sqrt() as usize * more;
            Stratum {
                trials: drawn[0] as u64,
                events: (own + apart).min(drawn[0]) as u64,
                other_trials: drawn[1] as u64,
                other_events: other as u64,
            }
        })
        .collect();
    print(
        "stratified",
        &json!(strata),
        &json!(StratifiedTest::of(&strata)),
    );
}

//! The table of a tournament.

use arena_ladder::{
    Entrant, GroupCount, HalfPoints, MarginSums, Standings,
    bradley_terry::{self, PairGroups},
    elo::{Comparison, ELO_SCALE, NoEstimate, score_of},
    luce::PRIOR,
    plackett_luce,
    standings::{EntrantRow, RankBy},
};
use proptest::prelude::*;

use crate::vocabulary::{close, group, tally};

/// Groups of two games by how they came out for the first: lost, drawn, won in
/// each seating.
fn pair(lineup: [u32; 2], ends: [&str; 2], groups: u64) -> GroupCount {
    let places = |end: &&str| match *end {
        "L" => [2, 1],
        "D" => [1, 1],
        _ => [1, 2],
    };
    let places = ends.each_ref().map(places);
    group(&lineup, &[&places[0], &places[1]], groups)
}

fn row(standings: &Standings, entrant: u32) -> &EntrantRow {
    let mut rows = standings.rows.iter();
    rows.find(|row| row.entrant == Entrant::new(entrant))
        .expect("everybody has a row")
}

fn order(standings: &Standings) -> Vec<usize> {
    standings
        .rows
        .iter()
        .map(|row| row.entrant.index())
        .collect()
}

#[test]
fn a_match_of_two_has_the_whole_report() {
    // LL 12, LD 80, WL 90 and DD 70, WD 100, WW 18, of which some were set up
    // the other way around.
    let tallies = [
        pair([0, 1], ["L", "L"], 12),
        pair([0, 1], ["L", "D"], 50),
        pair([1, 0], ["D", "W"], 30),
        pair([0, 1], ["W", "L"], 90),
        pair([0, 1], ["D", "D"], 70),
        pair([0, 1], ["D", "W"], 60),
        pair([1, 0], ["L", "D"], 40),
        pair([0, 1], ["W", "W"], 18),
    ];
    let standings = Standings::of(2, 2, &tallies, &[]);
    assert_eq!((standings.games, standings.groups), (740, 370));
    let duel = standings.duel().unwrap();
    let counts = vec![12, 80, 160, 100, 18];
    assert_eq!(duel.comparison, Comparison::of(&counts));
    close(duel.comparison.unwrap().elo.unwrap().value, 15.0336, 5e-5);
    assert_eq!(duel.counts, Some(counts.clone()));
    assert_eq!((duel.wins, duel.draws, duel.losses), (226, 320, 194));
    let first = row(&standings, 0);
    assert_eq!((first.wins, first.draws, first.losses), (226, 320, 194));
    assert_eq!(first.points, HalfPoints(226 * 2 + 320));
    close(first.score.unwrap(), 0.521622, 5e-7);
    assert_eq!(first.places, [546, 194]);
    let pair = PairGroups {
        players: [0, 1],
        counts: &counts,
    };
    let fit = bradley_terry::fit(2, &[pair], PRIOR).unwrap();
    assert_eq!(first.rating, fit.ratings[0]);
    assert_eq!(order(&standings), [0, 1]);
}

#[test]
fn places_points_and_wins_of_four_are_counted() {
    let tallies = [
        tally(&[2, 0, 3, 1], &[1, 2, 3, 4], 5),
        tally(&[0, 1, 2, 3], &[1, 1, 3, 4], 2),
        tally(&[0, 1, 2, 3], &[4, 1, 2, 2], 1),
    ];
    let standings = Standings::of(4, 4, &tallies, &[]);
    let first = row(&standings, 0);
    assert_eq!(
        (first.games, first.wins, first.draws, first.losses),
        (8, 0, 2, 6)
    );
    assert_eq!(first.places, [2, 5, 0, 1]);
    // Second is worth 4, a shared first place 5, the last nothing.
    assert_eq!(first.points, HalfPoints(5 * 4 + 2 * 5));
    close(first.score.unwrap(), 30.0 / (6.0 * 8.0), 1e-12);
    close(first.mean_place.unwrap(), 2.0, 1e-12);
    let third = row(&standings, 2);
    assert_eq!((third.wins, third.draws), (5, 0));
    assert_eq!(third.points, HalfPoints(5 * 6 + 2 * 2 + 3));
    assert_eq!(order(&standings)[0], 2);
    assert_eq!(standings.rows[0].rank, Some(1));
    let fit = plackett_luce::fit(4, &tallies, PRIOR).unwrap();
    assert_eq!(third.rating, fit.ratings[2]);
    let met = &standings.pairs[1];
    assert_eq!((met.first.index(), met.second.index()), (0, 2));
    assert_eq!((met.wins, met.draws, met.losses), (2, 0, 6));
    assert_eq!(standings.duel(), None);
}

#[test]
fn the_games_of_one_who_is_left_out_count_for_nobody_else() {
    let counted = [pair([0, 1], ["W", "D"], 6), pair([1, 0], ["L", "W"], 9)];
    let void = [pair([2, 0], ["W", "W"], 4), pair([1, 2], ["L", "D"], 7)];
    let all: Vec<GroupCount> = counted.iter().chain(&void).cloned().collect();
    let with = Standings::of(2, 3, &all, &[Entrant::new(2)]);
    let without = Standings::of(2, 3, &counted, &[]);
    for entrant in [0, 1] {
        assert_eq!(row(&with, entrant), row(&without, entrant));
    }
    assert_eq!(with.pairs, without.pairs);
    assert_eq!((with.games, with.groups), (30, 15));
    let out = row(&with, 2);
    assert_eq!((out.wins, out.draws, out.losses), (4 * 2 + 7, 7, 0));
    assert_eq!((out.rank, out.rating), (None, None));
    assert_eq!(order(&with), [0, 1, 2]);
}

#[test]
fn a_house_bot_that_fills_a_place_counts_for_nobody() {
    let mut filled = tally(&[0, 1, 2, 9], &[2, 3, 4, 1], 12);
    filled.lineup[3] = None;
    let standings = Standings::of(4, 3, &[filled], &[]);
    assert_eq!(standings.rows.len(), 3);
    // It was behind the house bot, and ahead of both others that count.
    let [first, second, third] = [0, 1, 2].map(|who| row(&standings, who));
    assert_eq!((first.wins, first.points), (12, HalfPoints(12 * 6)));
    assert_eq!((second.wins, second.score), (0, Some(0.5)));
    assert_eq!(third.points, HalfPoints(0));
    assert_eq!(
        [first, second, third].map(|row| row.mean_place),
        [Some(1.0), Some(2.5), Some(4.0)]
    );
    assert_eq!(second.places, [0, 12, 0, 0]);
    assert_eq!(standings.pairs.len(), 3);
    assert_eq!(standings.pairs[0].wins, 12);
}

#[test]
fn at_tables_of_any_size_equals_have_the_same_on_average() {
    for real in 2..=4 {
        // Each of those that count once in each place of the table.
        let tallies: Vec<GroupCount> = (0..4)
            .map(|turn| {
                let places: Vec<u8> = (0..4).map(|at| (at + turn) % 4 + 1).collect();
                let mut tally = tally(&[0, 1, 2, 3], &places, 10);
                tally
                    .lineup
                    .iter_mut()
                    .skip(real)
                    .for_each(|one| *one = None);
                tally.margins = vec![MarginSums::of(6 * (real as i64 - 1), 10); 4];
                tally
            })
            .collect();
        let standings = Standings::of(4, 4, &tallies, &[]);
        let of = |what: &dyn Fn(&EntrantRow) -> f64| -> f64 {
            let rows = standings.rows.iter().filter(|row| row.games > 0);
            rows.map(what).sum::<f64>() / real as f64
        };
        assert_eq!(of(&|row| row.points.points()), 60.0, "{real}");
        assert_eq!(of(&|row| row.score.unwrap()), 0.5);
        assert_eq!(of(&|row| row.mean_place.unwrap()), 2.5);
        assert_eq!(of(&|row| row.margin.unwrap().value), 6.0);
    }
    let mut alone = tally(&[0, 1, 2, 3], &[1, 2, 3, 4], 10);
    alone.lineup[1..].fill(None);
    let standings = Standings::of(4, 1, &[alone], &[]);
    assert_eq!((standings.games, standings.rows[0].games), (0, 0));
}

#[test]
fn where_nothing_varied_nobody_has_a_bar() {
    for (seats, tallies) in [
        (
            2,
            [[0, 1], [1, 2], [2, 0]]
                .map(|lineup| pair(lineup, ["W", "W"], 12))
                .to_vec(),
        ),
        (
            4,
            [[0, 1, 2, 3], [1, 2, 3, 0], [2, 3, 0, 1], [3, 0, 1, 2]]
                .map(|lineup| {
                    let mut tally = tally(&lineup, &[1, 2, 3, 4], 12);
                    tally.lineup[3] = None;
                    tally
                })
                .to_vec(),
        ),
    ] {
        let standings = Standings::of(seats, 4, &tallies, &[]);
        for row in &standings.rows {
            let bar = row.rating.map(|rating| rating.error);
            let none = row.rating.map(|_| Err(NoEstimate::NoVariance));
            assert_eq!(bar, none, "{seats} {row:?}");
        }
    }
}

/// Percentage of error bars that have the truth within them: those of three bots, over many
/// tournaments of the three and one bot that beats them all.
fn covered(seats: u8) -> f64 {
    let truth = [80.0, 0.0, -80.0];
    let mut chance = 1_u64;
    let mut uniform = move || {
        // The multiplier and increment of Knuth's MMIX.
        chance = chance
            .wrapping_mul(6364136223846793005)
            .wrapping_add(1442695040888963407);
        ((chance >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
    };
    let (mut within, mut all) = (0, 0);
    for _ in 0..300 {
        let mut tallies = Vec::new();
        for _ in 0..60 {
            let luck = truth.map(|elo| elo - ELO_SCALE * (-uniform().ln()).ln());
            let ahead = |at: usize| luck.iter().filter(|&&other| other > luck[at]).count() as u8;
            if seats == 4 {
                let places = [ahead(0) + 2, ahead(1) + 2, ahead(2) + 2, 1];
                tallies.push(tally(&[0, 1, 2, 3], &places, 1));
            } else {
                for (first, second) in [(0, 1), (0, 2), (1, 2)] {
                    let win = score_of(truth[first] - truth[second]);
                    let places = if uniform() < win { [1, 2] } else { [2, 1] };
                    tallies.push(tally(&[first as u32, second as u32], &places, 1));
                }
                tallies.extend((0..3).map(|other| tally(&[3, other], &[1, 2], 1)));
            }
        }
        let standings = Standings::of(seats, 4, &tallies, &[]);
        assert_eq!(
            row(&standings, 3).rating.expect("it has played").error,
            Err(NoEstimate::EveryGameWon)
        );
        for (who, truth) in (0..3).zip(truth) {
            let rating = row(&standings, who).rating.expect("it has played");
            let bar = rating.error.expect("sixty groups are enough");
            within += u32::from((rating.value - truth).abs() <= bar);
            all += 1;
        }
    }
    100.0 * f64::from(within) / f64::from(all)
}

#[test]
fn a_perfect_score_leaves_the_bars_of_the_others_true() {
    for seats in [2, 4] {
        let covered = covered(seats);
        assert!((90.0..=98.0).contains(&covered), "{seats}: {covered}");
    }
}

#[test]
fn who_both_lost_have_no_points_and_are_level() {
    let standings = Standings::of(2, 2, &[tally(&[0, 1], &[2, 2], 15)], &[]);
    for entrant in [0, 1] {
        let row = row(&standings, entrant);
        assert_eq!((row.points, row.losses), (HalfPoints(0), 15));
        assert_eq!(row.rating.unwrap().value, 0.0);
    }
    assert_eq!(standings.duel().unwrap().draws, 15);
}

#[test]
fn margins_are_by_opponent_and_game_with_groups_as_the_sample() {
    let margins = [30, -6, 12, 0, 9, 21, -15, 3, 6, 18, 24, -3];
    let tallies: Vec<GroupCount> = margins
        .iter()
        .map(|&margin| {
            let mut tally = group(&[0, 1, 2, 3], &[&[1, 2, 3, 4][..]; 4], 1);
            tally.margins = [margin, -margin, 5, -5]
                .map(|one| MarginSums::of(one, 1))
                .to_vec();
            tally
        })
        .collect();
    let margin = row(&Standings::of(4, 4, &tallies, &[]), 0).margin.unwrap();
    // By hand: each group has four games against three others.
    let each: Vec<f64> = margins
        .iter()
        .map(|&margin| f64::from(margin as i32) / 12.0)
        .collect();
    let mean = each.iter().sum::<f64>() / 12.0;
    let variance = each.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 11.0;
    close(margin.value, mean, 1e-12);
    close(
        margin.error.unwrap(),
        1.959963984540054 * (variance / 12.0).sqrt(),
        1e-9,
    );
    let few = Standings::of(4, 4, &tallies[..9], &[]);
    let too_few = NoEstimate::TooFewGroups { has: 9, needs: 10 };
    assert_eq!(row(&few, 0).margin.unwrap().error, Err(too_few));
    // Nothing varied.
    assert_eq!(
        row(&Standings::of(4, 4, &tallies, &[]), 2)
            .margin
            .unwrap()
            .error,
        Err(NoEstimate::NoVariance)
    );
}

#[test]
fn those_level_on_score_are_ranked_by_rating() {
    // 0 and 1 have half of the points each, but 1 from the stronger one.
    let tallies = [
        pair([2, 3], ["W", "W"], 20),
        pair([2, 3], ["L", "W"], 5),
        pair([0, 3], ["W", "L"], 10),
        pair([1, 2], ["W", "L"], 10),
    ];
    let standings = Standings::of(2, 6, &tallies, &[]);
    assert_eq!(order(&standings), [2, 1, 0, 3, 4, 5]);
    // Those that have not played have no rank.
    assert_eq!(ranks(&standings), [1, 2, 3, 4, 0, 0]);
    assert_eq!(row(&standings, 4).score, None);
    assert_eq!(row(&standings, 4).rating, None);
}

/// The ranks, in the order of the table, with 0 where there is none.
fn ranks(standings: &Standings) -> Vec<u32> {
    let rows = standings.rows.iter();
    rows.map(|row| row.rank.unwrap_or(0)).collect()
}

#[test]
fn those_level_in_score_and_rating_share_a_rank_and_are_in_order_of_their_numbers() {
    // 0 and 3 do the same against everybody, and so do 1 and 2.
    let mut tallies = Vec::new();
    for strong in [0, 3] {
        for weak in [1, 2] {
            tallies.push(pair([strong, weak], ["W", "W"], 8));
            tallies.push(pair([strong, weak], ["L", "W"], 4));
        }
    }
    let left_out = [Entrant::new(4)];
    let mut out = tallies.clone();
    out.push(pair([0, 4], ["L", "L"], 3));
    for by in [RankBy::Score, RankBy::Rating] {
        let standings = Standings::of(2, 6, &out, &left_out).ranked_by(by);
        assert_eq!(order(&standings), [0, 3, 1, 2, 5, 4]);
        assert_eq!(ranks(&standings), [1, 1, 3, 3, 0, 0]);
    }
    // Another figure comes first; those level in it share a rank where the others are level too.
    let mut paid = Standings::of(2, 4, &tallies, &[]);
    paid.rank_by_key(|row| usize::from(row.entrant.index() == 0));
    assert_eq!(order(&paid), [3, 1, 2, 0]);
    assert_eq!(ranks(&paid), [1, 2, 2, 4]);
}

#[test]
fn where_near_ones_meet_most_the_order_is_by_rating() {
    // Four good ones and four others that mostly play among themselves; all pairs as
    // they are to be expected. Scores say little, since the better ones have the
    // better opponents.
    let elo = [360.0, 340.0, 320.0, 300.0, 60.0, 40.0, 20.0, 0.0];
    let mut tallies = Vec::new();
    for first in 0..8_u32 {
        for second in first + 1..8 {
            let groups = if (first < 4) == (second < 4) {
                2000
            } else {
                40
            };
            let win = score_of(elo[first as usize] - elo[second as usize]);
            let won = (win * groups as f64).round() as u64;
            tallies.push(pair([first, second], ["W", "W"], won));
            tallies.push(pair([first, second], ["L", "L"], groups - won));
        }
    }
    let standings = Standings::of(2, 8, &tallies, &[]);
    let expected: Vec<_> = (0..8).collect();
    assert_ne!(order(&standings), expected, "a score is not enough");
    let standings = standings.ranked_by(RankBy::Rating);
    assert_eq!(order(&standings), expected);
    assert!(
        standings
            .rows
            .iter()
            .zip(1..)
            .all(|(row, at)| row.rank == Some(at))
    );
}

#[test]
fn what_cannot_have_happened_is_ignored() {
    let good = vec![pair([0, 1], ["W", "D"], 6)];
    let mut all = good.clone();
    all.push(tally(&[0, 1, 2, 3], &[1, 2, 3, 4], 5));
    all.push(tally(&[0, 0], &[1, 2], 5));
    all.push(tally(&[0, 7], &[1, 2], 5));
    all.push(tally(&[0, 1], &[0, 2], 5));
    all.push(tally(&[0, 1], &[1, 3], 5));
    all.push(group(&[0, 1], &[&[1, 2], &[1]], 5));
    all.push(tally(&[0, 1], &[1, 2], 0));
    all.push(tally(&[0, 1], &[1, 2], u64::MAX));
    all.push(GroupCount {
        margins: vec![],
        ..good[0].clone()
    });
    all.push(GroupCount {
        lineup: vec![None; 2],
        ..good[0].clone()
    });
    all.push(group(&[0, 1], &[], 5));
    let left_out = [Entrant::new(99)];
    assert_eq!(
        Standings::of(2, 3, &all, &left_out),
        Standings::of(2, 3, &good, &[])
    );
    assert_eq!(Standings::of(2, 0, &all, &[]).rows, []);
    assert_eq!(Standings::of(0, 2, &all, &[]).games, 0);
}

#[test]
fn standings_are_written_without_a_nan() {
    let json = serde_json::to_value(Standings::of(2, 2, &[pair([0, 1], ["W", "W"], 3)], &[]));
    let json = json.unwrap();
    let won = serde_json::json!({"unknown": "every_game_won"});
    assert_eq!(json["rows"][0]["rating"]["error"], won);
    assert_eq!(json["rows"][0]["score"], 1.0);
    assert_eq!(json["pairs"][0]["comparison"]["elo"], won);
    assert_eq!(json["pairs"][0]["counts"][4], 3);
}

#[test]
fn a_bot_against_itself_comes_out_even() {
    let tallies = [
        pair([0, 1], ["W", "L"], 30),
        pair([0, 1], ["L", "W"], 20),
        pair([0, 1], ["D", "D"], 50),
    ];
    let standings = Standings::of(2, 2, &tallies, &[]);
    let elo = standings.duel().unwrap().comparison.unwrap().elo.unwrap();
    assert_eq!((elo.value, elo.error), (0.0, Err(NoEstimate::NoVariance)));
    for row in &standings.rows {
        assert_eq!(row.score, Some(0.5));
        assert!(row.rating.unwrap().value.abs() < 1e-9);
    }
}

#[test]
fn mixed_sizes_of_groups_are_rated_together() {
    let tallies = [pair([0, 1], ["W", "D"], 12), tally(&[0, 1], &[2, 1], 12)];
    let standings = Standings::of(2, 2, &tallies, &[]);
    let met = standings.duel().unwrap();
    assert_eq!((&met.counts, met.groups), (&None, 24));
    // 18 of 36 points.
    assert!(row(&standings, 0).rating.unwrap().value.abs() < 1e-9 * ELO_SCALE);
    assert!(row(&standings, 0).rating.unwrap().error.is_ok());
}

fn any_tallies(seats: usize) -> impl Strategy<Value = Vec<GroupCount>> {
    let who = proptest::option::weighted(0.9, 0..6_u32);
    let places = proptest::collection::vec(0..=seats as u8 + 1, seats);
    let likely = Just((1..=seats as u8).collect::<Vec<_>>()).prop_shuffle();
    let games = proptest::collection::vec(prop_oneof![1 => places, 9 => likely], 0..4);
    let groups = prop_oneof![0..20_u64, 0..1_000_000_u64];
    let margins = proptest::collection::vec(-1_000_000..1_000_000_i64, seats);
    let tally = (
        proptest::collection::vec(who, seats),
        games,
        groups,
        margins,
    );
    let tally = tally.prop_map(|(lineup, places, groups, margins)| {
        let lineup = lineup.into_iter().map(|who| who.map(Entrant::new));
        GroupCount::new(lineup.collect(), places, &margins, groups)
    });
    proptest::collection::vec(tally, 0..30)
}

proptest! {
    #[test]
    fn every_table_is_finite_and_ranked_and_the_same_in_any_order(
        (tallies, shuffled) in (any_tallies(4), any_tallies(2)).prop_flat_map(|(four, two)| {
            let all: Vec<GroupCount> = four.into_iter().chain(two).collect();
            (Just(all.clone()), Just(all).prop_shuffle())
        }),
        seats in prop_oneof![Just(2_u8), Just(4_u8)],
        out in 0..8_u32,
    ) {
        let left_out = [Entrant::new(out)];
        let here = Standings::of(seats, 6, &tallies, &left_out);
        prop_assert_eq!(here.rows.len(), 6);
        for row in &here.rows {
            prop_assert_eq!(row.places.iter().sum::<u64>(), row.games);
            prop_assert_eq!(row.wins + row.draws + row.losses, row.games);
            prop_assert!(row.score.is_none_or(|score| (0.0..=1.0).contains(&score)));
            prop_assert_eq!(row.score.is_some(), row.games > 0);
            for estimate in [row.margin, row.rating].into_iter().flatten() {
                prop_assert!(estimate.value.is_finite());
                let bar = estimate.error.unwrap_or(1.0);
                prop_assert!(bar.is_finite() && bar > 0.0);
                prop_assert!(row.groups >= 10 || estimate.error.is_err());
            }
        }
        let there = Standings::of(seats, 6, &shuffled, &left_out);
        prop_assert_eq!(&here, &there);
        // Numbers may lose their last digit in JSON, nothing else changes.
        let text = serde_json::to_string(&here).unwrap();
        let read: Standings = serde_json::from_str(&text).unwrap();
        prop_assert_eq!(read.rows.len(), here.rows.len());
        for (read, row) in read.rows.iter().zip(&here.rows) {
            prop_assert_eq!((read.entrant, read.rank, read.points), (row.entrant, row.rank, row.points));
            prop_assert_eq!(read.rating.map(|it| it.error.err()), row.rating.map(|it| it.error.err()));
        }
    }
}

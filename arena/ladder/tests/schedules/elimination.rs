//! Eliminations, through every way in which a small one can go.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use arena_ladder::schedule::{Match, Participant};
use arena_ladder::{
    Entrant, Field, Group, GroupScore, HalfPoints, MatchId, ScheduleShape, Seatings,
};

use crate::vocabulary::{
    Chance, Ended, failed_by, field, made, played, played_in_order, random_score, seeded_score,
};

const SINGLE: ScheduleShape = ScheduleShape::SingleElimination { third_place: false };
const DOUBLE: ScheduleShape = ScheduleShape::DoubleElimination {};

/// One of two wins every game of a deal by a margin.
fn won_by(group: &Group, first: bool, margin: i64) -> GroupScore {
    let sides = if first { [4, 0] } else { [0, 4] };
    GroupScore {
        number: group.number,
        games: 2,
        points: sides.map(HalfPoints).to_vec(),
        margins: if first {
            vec![margin, -margin]
        } else {
            vec![-margin, margin]
        },
        faults: vec![Default::default(); 2],
    }
}

fn drawn(group: &Group, margin: i64) -> GroupScore {
    GroupScore {
        points: vec![HalfPoints(2); 2],
        ..won_by(group, true, margin)
    }
}

fn entrants(one: &Match) -> Vec<Entrant> {
    let entrant = |player: &Participant| match player {
        Participant::Entrant(entrant) => Some(*entrant),
        _ => None,
    };
    one.players.iter().filter_map(entrant).collect()
}

/// The matches that were played, in order of the schedule.
fn played_matches(ended: &Ended) -> Vec<&Match> {
    let all = ended.rounds.iter().flat_map(|round| &round.matches);
    all.filter(|one| one.groups > 0).collect()
}

/// Number of matches of two that each has lost.
fn losses(ended: &Ended) -> BTreeMap<Entrant, u32> {
    let mut losses = BTreeMap::new();
    for one in played_matches(ended) {
        let [a, b] = entrants(one)[..] else {
            panic!("a match of two: {one:?}");
        };
        losses.entry(a).or_insert(0);
        losses.entry(b).or_insert(0);
        let loser = if one.points[0] > one.points[1] { b } else { a };
        *losses.entry(loser).or_insert(0) += 1;
    }
    losses
}

fn places(ended: &Ended) -> Vec<u32> {
    let ranking = ended.ranking.iter().flatten();
    ranking.map(|one| one.place).collect()
}

/// Plays with the `k`th match to be begun won by its first player if bit `k` is set.
fn by_pattern(field: &Field, shape: &ScheduleShape, pattern: u64) -> Ended {
    let begun: RefCell<Vec<MatchId>> = RefCell::default();
    played_in_order(field, shape, &|group| {
        let mut begun = begun.borrow_mut();
        if !begun.contains(&group.matchup) {
            begun.push(group.matchup);
        }
        let at = begun
            .iter()
            .position(|one| *one == group.matchup)
            .expect("just put there");
        won_by(group, pattern >> at & 1 == 1, 1)
    })
}

#[test]
fn whatever_happens_a_single_elimination_takes_one_match_for_each_who_is_out() {
    for entrants_here in 2..=9 {
        let field = field(entrants_here, 2, 1);
        for pattern in 0..1 << (entrants_here - 1) {
            let ended = by_pattern(&field, &SINGLE, pattern);
            assert_eq!(played_matches(&ended).len() as u32, entrants_here - 1);
            let losses = losses(&ended);
            let ranking = ended.ranking.expect("an elimination ranks");
            let champion = ranking[0].entrant;
            for one in Entrant::all(entrants_here) {
                assert_eq!(losses[&one], u32::from(one != champion));
            }
            let last = ended.rounds.last().expect("there is a final");
            assert_eq!(
                entrants(&last.matches[0])
                    .into_iter()
                    .collect::<BTreeSet<_>>(),
                ranking[..2].iter().map(|one| one.entrant).collect()
            );
        }
    }
}

#[test]
fn whatever_happens_a_double_elimination_takes_two_losses_to_be_out() {
    for entrants_here in 2..=6 {
        let field = field(entrants_here, 2, 1);
        let mut resets = 0;
        for pattern in 0..1 << (2 * entrants_here - 1) {
            let ended = by_pattern(&field, &DOUBLE, pattern);
            let losses = losses(&ended);
            let ranking = ended.ranking.as_ref().expect("an elimination ranks");
            let champion = ranking[0].entrant;
            for one in Entrant::all(entrants_here).filter(|one| *one != champion) {
                assert_eq!(losses[&one], 2, "{pattern:b} {one}");
            }
            assert!(losses[&champion] < 2);
            let matches = played_matches(&ended).len() as u32;
            assert_eq!(matches, 2 * (entrants_here - 1) + losses[&champion]);
            resets += losses[&champion];
            let places: Vec<u32> = places(&ended);
            assert_eq!(places[..2], [1, 2]);
            // Who is out earlier is placed lower.
            let mut last_match = BTreeMap::new();
            for (round, all) in ended.rounds.iter().enumerate() {
                for one in all.matches.iter().filter(|one| one.groups > 0) {
                    last_match.extend(entrants(one).into_iter().map(|one| (one, round)));
                }
            }
            for pair in ranking[1..].windows(2) {
                assert!(last_match[&pair[0].entrant] >= last_match[&pair[1].entrant]);
            }
        }
        assert!(resets > 0);
    }
}

#[test]
fn the_better_seed_always_winning_ends_in_the_order_of_the_seeds() {
    for (shape, expected) in [
        (SINGLE, [1, 2, 3, 3, 5, 5, 5, 5]),
        (
            ScheduleShape::SingleElimination { third_place: true },
            [1, 2, 3, 4, 5, 5, 5, 5],
        ),
        (DOUBLE, [1, 2, 3, 4, 5, 5, 7, 7]),
    ] {
        let field = field(8, 2, 3);
        let ended = played_in_order(&field, &shape, &|group| seeded_score(group, &field));
        let ranking = ended.ranking.as_ref().expect("an elimination ranks");
        let order: Vec<_> = ranking.iter().map(|one| one.entrant.index()).collect();
        assert_eq!(order, [0, 1, 2, 3, 4, 5, 6, 7]);
        assert_eq!(places(&ended), expected);
    }
}

#[test]
fn byes_are_for_the_best_seeds() {
    for entrants_here in 2..=16_u32 {
        for shape in [SINGLE, DOUBLE] {
            let fresh = made(&field(entrants_here, 2, 1), &shape);
            let byes: BTreeSet<_> = (fresh.rounds()[0].matches.iter())
                .filter(|one| one.players.contains(&Participant::Bye))
                .map(|one| {
                    assert!(one.over && one.most == 0);
                    entrants(one)[0]
                })
                .collect();
            let many = entrants_here.next_power_of_two() - entrants_here;
            assert!(byes.into_iter().eq(Entrant::all(many)));
        }
    }
}

#[test]
fn the_first_round_is_known_at_the_start_and_the_rest_says_where_it_comes_from() {
    let fresh = made(&field(6, 2, 5), &SINGLE);
    let rounds = fresh.rounds();
    let names: Vec<_> = rounds.iter().map(|round| round.name.as_str()).collect();
    assert_eq!(names, ["quarter-finals", "semi-finals", "final"]);
    assert!((rounds[0].matches.iter()).all(|one| !entrants(one).is_empty()));
    let pending = |number| Participant::Pending(format!("winner of match {number}"));
    assert_eq!(
        rounds[1].matches[0].players,
        [Participant::Entrant(Entrant::new(0)), pending(1)]
    );
    assert_eq!(rounds[2].matches[0].players, [pending(4), pending(5)]);
    assert_eq!(fresh.planned(), Some(25));
    assert_eq!(made(&field(6, 2, 5), &DOUBLE).planned(), Some(55));
    let names: Vec<_> = made(&field(4, 2, 1), &DOUBLE)
        .rounds()
        .into_iter()
        .map(|round| round.name)
        .collect();
    assert_eq!(
        names,
        [
            "winners' round 1",
            "losers' round 1",
            "winners' round 2",
            "losers' round 2",
            "grand final",
            "grand final, again"
        ]
    );
}

#[test]
fn a_match_ends_when_the_rest_cannot_change_who_is_ahead() {
    for seed in 0..300 {
        let deals = 1 + seed % 7;
        let field = field(2, 2, deals);
        let score = |group: &Group| random_score(group, &field, &mut Chance(seed * 97 + group.at));
        let ended = played(&field, &SINGLE, 9, &mut Chance(seed), &score);
        let group = |at| Group {
            number: at,
            matchup: MatchId(0),
            at,
            turn: 0,
            lineup: vec![Some(Entrant::new(0)), Some(Entrant::new(1))],
        };
        let mut lead = 0;
        let mut expected = 2 * deals;
        for at in 0..2 * deals {
            let points = score(&group(at)).points;
            lead += i64::from(points[0].0) - i64::from(points[1].0);
            // Whoever is behind wins all that is left.
            let mut worst = lead;
            for _ in at + 1..deals {
                worst -= 4 * lead.signum();
            }
            if lead != 0 && worst.signum() == lead.signum() {
                expected = at + 1;
                break;
            }
        }
        let one = &ended.rounds[0].matches[0];
        assert_eq!(one.groups, expected, "{one:?}");
        if lead != 0 {
            let winner = ended.ranking.as_ref().expect("an elimination ranks")[0].entrant;
            assert_eq!(winner.index(), usize::from(lead < 0));
            assert!(ended.remarks.is_empty());
        }
    }
}

#[test]
fn a_tie_goes_on_until_a_deal_is_won_and_then_by_margins_and_then_by_seeds() {
    let field = field(2, 2, 3);
    let mut waits = made(&field, &SINGLE);
    for _ in 0..3 {
        let group = waits.next().unwrap();
        assert!(waits.planned() == Some(3));
        waits.record(&drawn(&group, 0)).unwrap();
    }
    let extra = waits.next().unwrap();
    assert_eq!((extra.number, extra.at), (3, 3));
    assert_eq!(waits.next(), None, "one deal at a time");
    assert_eq!(waits.planned(), Some(4));

    let winner = |ended: &Ended| ended.ranking.as_ref().expect("an elimination ranks")[0].entrant;
    let sudden = played(
        &field,
        &SINGLE,
        8,
        &mut Chance(1),
        &|group| match group.at {
            4 => won_by(group, false, 1),
            _ => drawn(group, 50),
        },
    );
    assert_eq!((sudden.counted.len(), winner(&sudden).index()), (5, 1));
    assert!(sudden.remarks.is_empty());

    let margins = played_in_order(&field, &SINGLE, &|group| drawn(group, -1));
    assert_eq!((margins.counted.len(), winner(&margins).index()), (6, 1));
    assert_eq!(
        margins.remarks_in_words(),
        ["final: bot 1 and bot 0 have equal points; bot 1 is ahead by its margin"]
    );

    let seeds = played_in_order(&field, &SINGLE, &|group| drawn(group, 0));
    assert_eq!((seeds.counted.len(), winner(&seeds).index()), (6, 0));
    assert_eq!(
        seeds.remarks_in_words(),
        [
            "final: bot 0 and bot 1 have equal points; bot 0 is ahead by its seed, with equal margins"
        ]
    );
}

#[test]
fn where_a_deal_is_one_game_a_tie_goes_on_until_each_has_had_each_seat() {
    // Whoever sits first wins.
    let mut field = field(2, 2, 2);
    field.seatings = Seatings::Single;
    for deals in [1, 2, 3, 4] {
        field.deals = deals;
        let ended = played_in_order(&field, &SINGLE, &|group| {
            let first = field.seatings.of(2, group.turn)[0][0] == 0;
            let sides = match group.at {
                // Level so far.
                at if at < deals => [1, 1],
                _ if first => [2, 0],
                _ => [0, 2],
            };
            GroupScore {
                points: sides.map(HalfPoints).to_vec(),
                games: 1,
                ..GroupScore::new(group.number, 2)
            }
        });
        let extra = deals.next_multiple_of(2);
        assert_eq!(ended.counted.len() as u64, deals + extra);
        let points = &ended.rounds[0].matches[0].points;
        assert_eq!(points[0], points[1], "the first seat has decided nothing");
    }
}

#[test]
fn the_losers_bracket_keeps_those_apart_who_have_met() {
    // The first losers' round in which two can meet again: no other order in which
    // those who drop are left, reversed, or have their halves exchanged or reversed
    // keeps them apart for longer.
    for (entrants_here, round) in [(8, 3), (16, 4), (32, 5), (64, 7)] {
        let field = field(entrants_here, 2, 1);
        let mut earliest = usize::MAX;
        for seed in 0..400 {
            let ended = played_in_order(&field, &DOUBLE, &|group| {
                let mut chance = Chance(seed * 1000 + u64::from(group.matchup.0));
                won_by(group, chance.below(2) == 0, 1)
            });
            let mut met = BTreeSet::new();
            for one in &ended.rounds {
                for pair in one
                    .matches
                    .iter()
                    .map(entrants)
                    .filter(|pair| pair.len() == 2)
                {
                    let fresh = met.insert((pair[0].min(pair[1]), pair[0].max(pair[1])));
                    if let (false, Some(number)) = (fresh, one.name.strip_prefix("losers' round "))
                    {
                        earliest = earliest.min(number.parse().expect("a number"));
                    }
                }
            }
        }
        assert_eq!(earliest, round, "{entrants_here}");
    }
}

/// The places of a table, by points, margins and seeds.
fn order_at(one: &Match, ended: &Ended) -> Vec<Entrant> {
    let groups: Vec<_> = ended
        .counted
        .values()
        .filter(|group| group.matchup == one.id)
        .collect();
    let mut order: Vec<_> = (groups[0].lineup.iter().enumerate())
        .filter_map(|(i, entrant)| {
            let scores = groups.iter().map(|group| &ended.scores[&group.number]);
            let points: u32 = scores.clone().map(|score| score.points[i].0).sum();
            let margin: i64 = scores.map(|score| score.margins[i]).sum();
            Some((-i64::from(points), -margin, (*entrant)?))
        })
        .collect();
    order.sort_unstable();
    order.into_iter().map(|(.., entrant)| entrant).collect()
}

#[test]
fn of_a_table_of_four_the_first_two_go_on() {
    for entrants_here in 2..=33 {
        for seed in 0..10 {
            let field = field(entrants_here, 4, 2);
            let score =
                |group: &Group| random_score(group, &field, &mut Chance(seed * 777 + group.number));
            let ended = played_in_order(&field, &SINGLE, &score);
            let mut left: BTreeSet<_> = Entrant::all(entrants_here).collect();
            for round in &ended.rounds {
                let here: Vec<_> = round.matches.iter().flat_map(entrants).collect();
                assert_eq!(here.iter().copied().collect::<BTreeSet<_>>(), left);
                assert_eq!(here.len(), left.len());
                for one in &round.matches {
                    if one.groups > 0 {
                        for out in order_at(one, &ended).into_iter().skip(2) {
                            left.remove(&out);
                        }
                    } else {
                        assert!(entrants(one).len() <= 2, "{one:?}");
                    }
                }
            }
            let last = &ended.rounds.last().expect("there is a final").matches[0];
            let ranking = ended.ranking.as_ref().expect("an elimination ranks");
            let best: Vec<_> = ranking
                .iter()
                .map(|one| one.entrant)
                .take(entrants(last).len())
                .collect();
            assert_eq!(best, order_at(last, &ended));
        }
    }
}

#[test]
fn at_tables_of_four_who_is_among_the_last_two_twice_is_out() {
    for entrants_here in 2..=33 {
        let field = field(entrants_here, 4, 1);
        let score = |group: &Group| random_score(group, &field, &mut Chance(group.number + 5));
        let ended = played_in_order(&field, &DOUBLE, &score);
        let mut low: BTreeMap<Entrant, u32> = BTreeMap::new();
        let (last, before) = ended.rounds.split_last().expect("there is a final");
        for one in before
            .iter()
            .flat_map(|round| &round.matches)
            .filter(|one| one.groups > 0)
        {
            for entrant in entrants(one) {
                assert!(
                    low.get(&entrant).copied().unwrap_or(0) < 2,
                    "{entrant} was out"
                );
            }
            for entrant in order_at(one, &ended).into_iter().skip(2) {
                *low.entry(entrant).or_default() += 1;
            }
        }
        let still_in = Entrant::all(entrants_here).filter(|one| low.get(one) != Some(&2));
        let finalists: BTreeSet<_> = entrants(&last.matches[0]).into_iter().collect();
        assert_eq!(finalists, still_in.collect());
    }
}

#[test]
fn tables_of_four_have_exactly_their_groups() {
    // Counted by hand: tables with more than two at them, and the final.
    let single = [1, 1, 1, 2, 3, 3, 3, 4, 5, 6, 7];
    for (entrants_here, tables) in (2..=12).zip(single) {
        let field = field(entrants_here, 4, 3);
        assert_eq!(made(&field, &SINGLE).planned(), Some(tables * 3));
        let ended = played_in_order(&field, &SINGLE, &|group| seeded_score(group, &field));
        assert_eq!(ended.counted.len() as u64, tables * 3, "{entrants_here}");
    }
    for (entrants_here, tables) in [(2, 1), (3, 2), (4, 2), (8, 6), (16, 14)] {
        let field = field(entrants_here, 4, 3);
        assert_eq!(made(&field, &DOUBLE).planned(), Some(tables * 3));
        let ended = played_in_order(&field, &DOUBLE, &|group| seeded_score(group, &field));
        assert_eq!(ended.counted.len() as u64, tables * 3, "{entrants_here}");
    }
}

#[test]
fn who_never_starts_loses_the_match_and_is_named() {
    for shape in [SINGLE, DOUBLE] {
        for seats in [2, 4] {
            for bad in Entrant::all(6) {
                let field = field(6, seats, 9);
                let ended = played_in_order(&field, &shape, &|group| {
                    let mut score = random_score(group, &field, &mut Chance(group.number));
                    failed_by(&mut score, &group.lineup, &[bad], true);
                    score
                });
                let [aside] = &ended.set_aside[..] else {
                    panic!("{:?}", ended.set_aside);
                };
                assert_eq!((aside.entrant, aside.annulled), (bad, false));
                let ranking = ended.ranking.expect("an elimination ranks");
                assert_ne!(ranking[0].entrant, bad);
                let mut matches = ended
                    .counted
                    .values()
                    .filter(|group| group.lineup.contains(&Some(bad)));
                let first = matches.next().expect("it has played").matchup;
                assert!(
                    matches.all(|group| group.matchup == first),
                    "one match was enough"
                );
            }
        }
    }
}

#[test]
fn an_elimination_of_none_but_failing_bots_ends() {
    let everybody: Vec<_> = Entrant::all(11).collect();
    for shape in [SINGLE, DOUBLE] {
        for seats in [2, 4] {
            let field = field(11, seats, 4);
            let ended = played_in_order(&field, &shape, &|group| {
                let mut score = seeded_score(group, &field);
                failed_by(&mut score, &group.lineup, &everybody, true);
                score
            });
            assert!(ended.set_aside.len() >= 6);
            assert_eq!(places(&ended)[0], 1);
        }
    }
}

#[test]
fn where_both_fail_nobody_climbs() {
    // Both of the match between 3 and 4 are dead; in the brackets of eight the
    // winner of it meets the winner of 0 and 7.
    let dead = [3, 4].map(Entrant::new);
    let field = field(8, 2, 9);
    for shape in [SINGLE, DOUBLE] {
        let ended = played_in_order(&field, &shape, &|group| {
            let mut score = seeded_score(group, &field);
            failed_by(&mut score, &group.lineup, &dead, true);
            score
        });
        let ranking = ended.ranking.expect("an elimination ranks");
        let place = |one: Entrant| {
            ranking
                .iter()
                .find(|other| other.entrant == one)
                .unwrap()
                .place
        };
        assert_eq!(dead.map(place), [if shape == SINGLE { 4 } else { 7 }; 2]);
        assert_eq!(place(Entrant::new(0)), 1);
    }
}

#[test]
fn two_finalists_who_fail_keep_their_order_in_the_final_that_is_not_played_again() {
    let both = [0, 1].map(Entrant::new);
    let field = field(2, 2, 9);
    for first_is_ahead in [true, false] {
        let ended = played_in_order(&field, &DOUBLE, &|group| {
            let mut score = won_by(group, first_is_ahead, 1);
            // In the grand final, after the one match before it.
            if group.matchup.0 == 1 {
                failed_by(&mut score, &group.lineup, &both, true);
                let lead = [4, 0].map(HalfPoints);
                let at = group.lineup.iter().position(|one| *one == Some(both[1]));
                score.points = lead.to_vec();
                if (at == Some(0)) != first_is_ahead {
                    score.points.reverse();
                }
            }
            score
        });
        let ranking = ended.ranking.expect("an elimination ranks");
        let final_points: Vec<_> = ended.rounds[ended.rounds.len() - 2].matches[0]
            .points
            .clone();
        let players = entrants(&ended.rounds[ended.rounds.len() - 2].matches[0]);
        let ahead = players[usize::from(final_points[1] > final_points[0])];
        assert_eq!(ranking[0].entrant, ahead);
        assert_eq!(
            ranking.iter().map(|one| one.place).collect::<Vec<_>>(),
            [1, 2]
        );
    }
}

#[test]
fn a_tie_for_any_place_of_a_final_of_four_is_told() {
    let field = field(4, 4, 1);
    let ended = played_in_order(&field, &SINGLE, &|group| {
        let mut score = GroupScore::new(group.number, 4);
        score.games = 4;
        score.points = [24, 10, 10, 4].map(HalfPoints).to_vec();
        score.margins = vec![9, -3, 1, -7];
        score
    });
    assert_eq!(
        ended.remarks_in_words(),
        ["final: bot 2 and bot 1 have equal points; bot 2 is ahead by its margin"]
    );
}

#[test]
fn who_fails_loses_though_it_is_ahead() {
    let field = field(2, 2, 20);
    let ended = played_in_order(&field, &SINGLE, &|group| {
        let mut score = won_by(group, true, 1);
        if group.at >= 2 {
            failed_by(&mut score, &group.lineup, &[Entrant::new(0)], true);
            score.points = vec![HalfPoints(0); 2];
        }
        score
    });
    let one = &ended.rounds[0].matches[0];
    assert_eq!((one.groups, one.points[0]), (5, HalfPoints(8)));
    let ranking = ended.ranking.unwrap();
    assert_eq!(ranking[0].entrant.index(), 1);
}

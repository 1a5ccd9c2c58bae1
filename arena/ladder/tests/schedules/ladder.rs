//! Ladders.

use std::collections::{BTreeMap, BTreeSet};

use arena_ladder::schedule::{KEPT_ROUNDS, Participant};
use arena_ladder::{Entrant, Group, HalfPoints, ScheduleError, ScheduleShape, schedule};

use crate::vocabulary::{
    Chance, failed_by, field, made, played_in_order, random_score, seeded_score,
};

fn ladder(rounds: u32) -> ScheduleShape {
    ScheduleShape::Ladder {
        rounds: Some(rounds),
    }
}

#[test]
fn a_ladder_has_exactly_its_groups() {
    for entrants in 2..=12_u32 {
        for (seats, tables) in [(2, entrants / 2), (4, entrants.div_ceil(4))] {
            let field = field(entrants, seats, 3);
            let fresh = made(&field, &ladder(7));
            assert_eq!(fresh.planned(), Some(u64::from(7 * tables * 3)));
            assert_eq!(fresh.rounds().len(), 7);
            let ended = played_in_order(&field, &ladder(7), &|group| seeded_score(group, &field));
            assert_eq!(ended.counted.len() as u32, 7 * tables * 3);
            assert_eq!(ended.ranking, None, "standings say who came where");
        }
    }
    let error = schedule(&field(4, 2, 1), &ladder(0)).err();
    assert_eq!(error, Some(ScheduleError::NoRounds));
}

#[test]
fn a_ladder_without_rounds_has_no_end_and_remembers_the_last_ones() {
    let bad = Entrant::new(3);
    let field = field(5, 2, 4);
    let mut schedule = made(&field, &ScheduleShape::Ladder { rounds: None });
    let mut early = Vec::new();
    for _ in 0..10_000 {
        assert_eq!((schedule.planned(), schedule.is_over()), (None, false));
        let group = schedule.next().expect("there is always another group");
        let mut score = seeded_score(&group, &field);
        failed_by(&mut score, &group.lineup, &[bad], true);
        schedule.record(&score).unwrap();
        early.push(score);
        early.truncate(100);
        if early.len() == 99 {
            assert!(
                !schedule.uncounted().is_empty(),
                "the match that {bad} lost"
            );
        }
    }
    let rounds = schedule.rounds();
    assert_eq!(rounds.len(), KEPT_ROUNDS);
    // The round in which the failing one played had 3 + 4 deals, all others 4 + 4.
    assert_eq!(rounds[KEPT_ROUNDS - 1].name, "round 1251");
    assert_eq!(rounds[0].name, "round 1152");
    let before = (schedule.rounds(), schedule.uncounted());
    assert_eq!(
        before.1.len(),
        1,
        "what is forgotten still does not count: {:?}",
        before.1
    );
    for score in &early {
        schedule.record(score).unwrap();
    }
    assert_eq!(before, (schedule.rounds(), schedule.uncounted()));
}

#[test]
fn nobody_meets_the_same_opponent_twice_in_a_row_and_byes_go_round() {
    for entrants in 3..=12 {
        let field = field(entrants, 2, 1);
        let ended = played_in_order(&field, &ladder(60), &|group| {
            random_score(group, &field, &mut Chance(group.number))
        });
        let mut last: BTreeMap<Entrant, Entrant> = BTreeMap::new();
        let mut byes: BTreeMap<Entrant, u32> = BTreeMap::new();
        for round in &ended.rounds {
            let mut now = BTreeMap::new();
            for one in &round.matches {
                match one.players[..] {
                    [Participant::Entrant(a), Participant::Entrant(b)] => {
                        let again = last.get(&a) == Some(&b);
                        assert!(!again || entrants == 3, "{entrants}: {a} and {b} again");
                        now.extend([(a, b), (b, a)]);
                    }
                    [Participant::Entrant(a), Participant::Bye] => *byes.entry(a).or_default() += 1,
                    _ => panic!("{one:?}"),
                }
            }
            last = now;
            let counts = Entrant::all(entrants).map(|one| byes.get(&one).copied().unwrap_or(0));
            let (least, most) = (counts.clone().min().unwrap(), counts.max().unwrap());
            assert!(most - least <= 1, "{byes:?}");
        }
    }
}

#[test]
fn later_those_meet_who_are_near() {
    for seats in [2, 4] {
        let field = field(20, seats, 1);
        let ended = played_in_order(&field, &ladder(200), &|group| seeded_score(group, &field));
        let distance = |rounds: std::ops::Range<u64>| {
            let per_round = u64::from(20_u32.div_ceil(u32::from(seats)));
            let numbers = rounds.start * per_round..rounds.end * per_round;
            let lineups = ended.counted.range(numbers).map(|(_, group)| &group.lineup);
            let apart = lineups.map(|lineup| {
                let sits = |seat: usize| lineup[seat].expect("no seat is free").index();
                sits(0).abs_diff(sits(1)) as f64
            });
            let apart: Vec<f64> = apart.collect();
            apart.iter().sum::<f64>() / apart.len() as f64
        };
        // At random two of twenty are 7 places apart on average.
        assert!(distance(0..3) > 4.0, "{}", distance(0..3));
        assert!(distance(150..200) < 4.0, "{}", distance(150..200));
    }
}

#[test]
fn a_ladder_that_nobody_plays_on_has_had_all_its_groups() {
    let field = field(4, 2, 1);
    let mut schedule = made(&field, &ScheduleShape::Ladder { rounds: None });
    let mut groups = 0;
    while let Some(group) = schedule.next() {
        let mut score = seeded_score(&group, &field);
        if groups >= 1000 {
            let everybody: Vec<_> = Entrant::all(4).collect();
            failed_by(&mut score, &group.lineup, &everybody, true);
        }
        schedule.record(&score).unwrap();
        groups += 1;
    }
    assert!(schedule.is_over() && groups > 1000);
    assert_eq!(schedule.planned(), Some(groups));
}

#[test]
fn no_part_of_the_field_is_ever_left_to_itself() {
    for seats in [2, 4] {
        for entrants in [8, 12, 16] {
            let field = field(entrants, seats, 1);
            // The better one wins as often as 100 Elo from number to number say.
            let score = |group: &Group| {
                let mut chance = Chance(group.number * 31 + 7);
                let luck = |one: &Option<Entrant>, chance: &mut Chance| {
                    let uniform = (chance.below(1 << 30) + 1) as f64 / ((1 << 30) + 2) as f64;
                    let gumbel = -(-uniform.ln()).ln() * 400.0 / std::f64::consts::LN_10;
                    one.map_or(f64::NEG_INFINITY, |one| gumbel - 100.0 * one.index() as f64)
                };
                let all: Vec<f64> = (group.lineup.iter())
                    .map(|one| luck(one, &mut chance))
                    .collect();
                let mut score = seeded_score(group, &field);
                for (i, one) in all.iter().enumerate() {
                    let behind = all.iter().filter(|other| *other < one).count() as u32;
                    score.points[i] = HalfPoints(2 * score.games * behind);
                }
                score
            };
            let mut schedule = made(&field, &ladder(1000));
            let mut groups = BTreeMap::new();
            while let Some(group) = schedule.next() {
                schedule.record(&score(&group)).unwrap();
                groups.insert(group.number, group);
            }
            for rounds in [500..600, 700..800, 900..1000] {
                let per_round = u64::from(entrants.div_ceil(u32::from(seats)));
                let numbers = rounds.start * per_round..rounds.end * per_round;
                let mut reached = BTreeSet::from([Entrant::new(0)]);
                for _ in 0..entrants {
                    for (_, group) in groups.range(numbers.clone()) {
                        if group
                            .lineup
                            .iter()
                            .flatten()
                            .any(|one| reached.contains(one))
                        {
                            reached.extend(group.lineup.iter().flatten());
                        }
                    }
                }
                assert_eq!(reached.len() as u32, entrants, "{seats} {rounds:?}");
            }
        }
    }
}

#[test]
fn who_never_starts_plays_no_later_round() {
    let bad = Entrant::new(0);
    for seats in [2, 4] {
        let field = field(6, seats, 2);
        let ended = played_in_order(&field, &ladder(9), &|group: &Group| {
            let mut score = random_score(group, &field, &mut Chance(group.number));
            failed_by(&mut score, &group.lineup, &[bad], true);
            score
        });
        let [aside] = &ended.set_aside[..] else {
            panic!("{:?}", ended.set_aside);
        };
        assert_eq!((aside.entrant, aside.annulled), (bad, false));
        let of_it = ended
            .counted
            .values()
            .filter(|group| group.lineup.contains(&Some(bad)));
        assert_eq!(of_it.count(), if seats == 2 { 3 } else { 4 });
        assert_eq!(ended.rounds.len(), 9);
    }
}

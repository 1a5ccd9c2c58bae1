//! Tests that the outcome never depends on who finished first.

use std::collections::BTreeMap;

use arena_ladder::schedule::{Schedule, SetAsideRule, restored};
use arena_ladder::{Entrant, Field, Group, GroupScore, ScheduleShape, Seatings, Sprt};
use proptest::prelude::*;

use crate::vocabulary::{Chance, failed_by, field, made, played, played_in_order, random_score};

/// Every shape that suits so many.
fn shapes(entrants: u32) -> Vec<ScheduleShape> {
    vec![
        ScheduleShape::Swiss { rounds: None },
        ScheduleShape::Swiss {
            rounds: Some(entrants - 1),
        },
        ScheduleShape::SingleElimination { third_place: true },
        ScheduleShape::DoubleElimination {},
        ScheduleShape::Ladder { rounds: Some(6) },
        ScheduleShape::RoundRobin {},
        ScheduleShape::Gauntlet {
            challengers: 1 + entrants / 4,
        },
    ]
}

/// Random scores in which each entrant fails a deal as often as its number says:
/// 0 never, others the more often the higher.
fn score(group: &Group, field: &Field, seed: u64) -> GroupScore {
    let mut chance = Chance(seed ^ group.number.wrapping_mul(0x2545_f491_4f6c_dd1d));
    let mut score = random_score(group, field, &mut chance);
    for one in Entrant::all(field.entrants) {
        if chance.below(100) < 6 * one.index() {
            failed_by(&mut score, &group.lineup, &[one], chance.below(2) == 0);
        }
    }
    score
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn any_order_of_results_ends_the_same(
        entrants in 2_u32..9,
        four in any::<bool>(),
        deals in 1_u64..7,
        seed: u64,
        at_once in 2_usize..40,
        tested in any::<bool>(),
        single in any::<bool>(),
        set_aside in 1_u32..6,
    ) {
        for shape in shapes(entrants) {
            let listed = matches!(shape, ScheduleShape::RoundRobin {} | ScheduleShape::Gauntlet { .. });
            let mut field = field(entrants, if four { 4 } else { 2 }, deals);
            field.set_aside = SetAsideRule { starts: set_aside, fouls: set_aside + 2 };
            if single {
                field.seatings = Seatings::Single;
            }
            if tested && listed && !four {
                field.deals *= 10;
                field.sprt = Some(Sprt {
                    elo0: 0.0,
                    elo1: 200.0,
                    alpha: 0.2,
                    beta: 0.2,
                    model: Default::default(),
                });
            }
            let score = |group: &Group| score(group, &field, seed);
            let in_order = played_in_order(&field, &shape, &score);
            let shuffled = played(&field, &shape, at_once, &mut Chance(seed), &score);
            prop_assert_eq!(&in_order, &shuffled);
        }
    }
}

/// Names everything that can be named, and tells the scores that are kept; what
/// is not kept is in flight again.
fn replayed(
    schedule: &mut dyn Schedule,
    kept: &BTreeMap<u64, GroupScore>,
    in_flight: &mut Vec<Group>,
) {
    while let Some(group) = schedule.next() {
        match kept.get(&group.number) {
            Some(score) => schedule.record(score).expect("it was named"),
            None => in_flight.push(group),
        }
        if in_flight.len() > 20 {
            break;
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Stops at random moments and begins anew from the scores alone.
    #[test]
    fn a_schedule_that_is_resumed_ends_the_same(
        entrants in 2_u32..9,
        four in any::<bool>(),
        deals in 1_u64..5,
        seed: u64,
    ) {
        for shape in shapes(entrants) {
            let field = field(entrants, if four { 4 } else { 2 }, deals);
            let score = |group: &Group| score(group, &field, seed);
            let uninterrupted = played_in_order(&field, &shape, &score);
            let mut chance = Chance(seed);
            let mut kept = BTreeMap::new();
            let schedule = loop {
                let mut schedule = made(&field, &shape);
                let mut in_flight = Vec::new();
                for _ in 0..1 + chance.below(40) {
                    replayed(&mut *schedule, &kept, &mut in_flight);
                    if in_flight.is_empty() {
                        break;
                    }
                    let group = in_flight.swap_remove(chance.below(in_flight.len()));
                    let score = score(&group);
                    schedule.record(&score).unwrap();
                    kept.insert(group.number, score);
                }
                if schedule.is_over() {
                    break schedule;
                }
            };
            prop_assert_eq!(schedule.rounds(), uninterrupted.rounds);
            prop_assert_eq!(schedule.ranking(), uninterrupted.ranking);
            prop_assert_eq!(schedule.set_aside(), uninterrupted.set_aside);
            prop_assert_eq!(schedule.remarks(), uninterrupted.remarks);
            let uncounted = schedule.uncounted();
            kept.retain(|number, _| !uncounted.iter().any(|range| range.contains(number)));
            prop_assert_eq!(kept, uninterrupted.scores);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    /// Writes its state at random moments and goes on from what is read.
    #[test]
    fn a_schedule_that_is_restored_goes_on_as_it_would_have(
        entrants in 2_u32..9,
        four in any::<bool>(),
        deals in 1_u64..5,
        seed: u64,
    ) {
        for shape in shapes(entrants) {
            let field = field(entrants, if four { 4 } else { 2 }, deals);
            let score = |group: &Group| score(group, &field, seed);
            let (mut schedule, mut other) = (made(&field, &shape), made(&field, &shape));
            let mut chance = Chance(seed);
            let mut in_flight = Vec::new();
            let mut scored = Vec::new();
            while !schedule.is_over() {
                while in_flight.len() < 20 && let Some(group) = schedule.next() {
                    let same = other.next();
                    prop_assert_eq!(same.as_ref(), Some(&group));
                    in_flight.push(group);
                }
                let group = in_flight.swap_remove(chance.below(in_flight.len()));
                let score = score(&group);
                schedule.record(&score).unwrap();
                other.record(&score).unwrap();
                scored.push(group.number);
                if chance.below(8) == 0 {
                    other = restored(&shape, &other.state()).unwrap();
                }
                prop_assert_eq!(schedule.rounds(), other.rounds());
                let lies_in = |ranges: &[std::ops::Range<u64>], number: u64| {
                    ranges.iter().any(|range| range.contains(&number))
                };
                let (open, uncounted) = (schedule.open(), schedule.uncounted());
                for group in &in_flight {
                    prop_assert!(lies_in(&open, group.number) != lies_in(&uncounted, group.number));
                }
                let settled = |number: &&u64| !lies_in(&open, **number) && !lies_in(&uncounted, **number);
                let counted: u64 = schedule.rounds().iter().flat_map(|round| &round.matches)
                    .map(|one| one.groups).sum();
                prop_assert_eq!(scored.iter().filter(settled).count() as u64, counted);
            }
            prop_assert_eq!(schedule.ranking(), other.ranking());
            prop_assert_eq!(schedule.set_aside(), other.set_aside());
            prop_assert_eq!(schedule.remarks(), other.remarks());
            prop_assert_eq!(schedule.open(), Vec::new());
            prop_assert_eq!(schedule.uncounted(), other.uncounted());
        }
    }
}

#[test]
fn of_games_that_count_singly_everybody_has_each_seat_about_as_often() {
    for (shape, entrants, seats, within) in [
        (ScheduleShape::RoundRobin {}, 7, 2, 1),
        (ScheduleShape::RoundRobin {}, 8, 2, 1),
        (ScheduleShape::RoundRobin {}, 9, 4, 10),
        (ScheduleShape::Swiss { rounds: Some(10) }, 12, 2, 6),
        (ScheduleShape::Ladder { rounds: Some(60) }, 9, 2, 20),
        (ScheduleShape::Ladder { rounds: Some(60) }, 8, 4, 20),
    ] {
        let mut field = field(entrants, seats, 1);
        field.seatings = Seatings::Single;
        let ended = played_in_order(&field, &shape, &|group| {
            random_score(group, &field, &mut Chance(group.number))
        });
        let mut sat = vec![vec![0_i32; seats.into()]; entrants as usize];
        for group in ended.counted.values() {
            let [seating] = &field.seatings.of(seats.into(), group.turn)[..] else {
                panic!("one game");
            };
            for (seat, &who) in seating.iter().enumerate() {
                if let Some(who) = group.lineup[who] {
                    sat[who.index()][seat] += 1;
                }
            }
        }
        for seats in &sat {
            let spread = seats.iter().max().unwrap() - seats.iter().min().unwrap();
            assert!(spread <= within, "{shape:?} of {entrants}: {sat:?}");
        }
    }
}

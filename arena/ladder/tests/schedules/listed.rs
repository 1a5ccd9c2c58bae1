//! Round robins and gauntlets.

use arena_ladder::schedule::{NotScheduled, SetAsideReason};
use arena_ladder::{Entrant, Group, ScheduleError, ScheduleShape, Sprt, schedule};

use crate::vocabulary::{
    Chance, failed_by, field, made, played, played_in_order, random_score, seeded_score,
};

#[test]
fn a_list_has_exactly_its_groups() {
    for entrants in 2..=12_u64 {
        for deals in [1, 3] {
            let two = field(entrants as u32, 2, deals);
            let four = field(entrants as u32, 4, deals);
            let count = |field, shape| {
                let ended = played_in_order(field, &shape, &|group| seeded_score(group, field));
                ended.counted.len() as u64
            };
            let pairs = entrants * (entrants - 1) / 2;
            assert_eq!(count(&two, ScheduleShape::RoundRobin {}), pairs * deals);
            let tables = pairs * entrants.saturating_sub(2) * entrants.saturating_sub(3) / 12;
            assert_eq!(
                count(&four, ScheduleShape::RoundRobin {}),
                tables.max(1) * deals
            );
            for challengers in 1..entrants {
                let others = entrants - challengers;
                let shape = ScheduleShape::Gauntlet {
                    challengers: challengers as u32,
                };
                assert_eq!(count(&two, shape.clone()), challengers * others * deals);
                let trios = match others {
                    0..=3 => 1,
                    4..=6 => others * (others - 1) * (others - 2) / 6,
                    _ => others,
                };
                assert_eq!(count(&four, shape), challengers * trios * deals);
            }
        }
    }
}

#[test]
fn the_whole_list_is_known_before_the_first_deal() {
    let field = field(5, 2, 4);
    let fresh = made(&field, &ScheduleShape::RoundRobin {});
    let rounds = fresh.rounds();
    assert_eq!(fresh.planned(), Some(40));
    assert_eq!(rounds.len(), 5);
    assert!(rounds.iter().all(|round| round.matches.len() == 2));
    let ended = played_in_order(&field, &ScheduleShape::RoundRobin {}, &|group| {
        seeded_score(group, &field)
    });
    for (before, after) in rounds.iter().zip(&ended.rounds) {
        assert_eq!(before.name, after.name);
        for (before, after) in before.matches.iter().zip(&after.matches) {
            assert_eq!((before.id, &before.players), (after.id, &after.players));
        }
    }
}

#[test]
fn a_group_that_was_never_named_is_not_taken() {
    let field = field(3, 2, 2);
    let mut schedule = made(&field, &ScheduleShape::RoundRobin {});
    let group = schedule.next().unwrap();
    let mut score = seeded_score(&group, &field);
    for number in [1, 2, 6, u64::MAX] {
        score.number = number;
        assert_eq!(schedule.record(&score), Err(NotScheduled(number)));
    }
    score.number = group.number;
    score.points.pop();
    assert_eq!(
        schedule.record(&score),
        Err(NotScheduled(0)),
        "of another lineup"
    );
}

#[test]
fn who_never_starts_is_annulled_after_three_deals() {
    let bad = Entrant::new(2);
    for (seats, deals, shape) in [
        (2, 2, ScheduleShape::RoundRobin {}),
        (2, 2, ScheduleShape::Gauntlet { challengers: 2 }),
        (4, 2, ScheduleShape::RoundRobin {}),
        (4, 2, ScheduleShape::Gauntlet { challengers: 1 }),
    ] {
        let field = field(6, seats, deals);
        let ended = played_in_order(&field, &shape, &|group| {
            let mut score = random_score(group, &field, &mut Chance(group.number));
            failed_by(&mut score, &group.lineup, &[bad], true);
            score
        });
        let [aside] = &ended.set_aside[..] else {
            panic!("{:?}", ended.set_aside);
        };
        assert_eq!((aside.entrant, aside.annulled), (bad, true));
        assert_eq!(aside.why, SetAsideReason::NoStart { deals: 3 });
        assert_eq!(aside.why.to_string(), "did not start in 3 deals");
        assert!(
            ended
                .counted
                .values()
                .all(|group| !group.lineup.contains(&Some(bad)))
        );
        assert!(!ended.counted.is_empty());
    }
}

#[test]
fn who_was_readmitted_plays_on_and_may_fail_as_often_again() {
    let bad = Entrant::new(2);
    let mut field = field(6, 2, 2);
    let fails_first = |most: u64| {
        let failed = std::cell::Cell::new(0);
        move |group: &Group, field: &arena_ladder::Field| {
            let mut score = random_score(group, field, &mut Chance(group.number));
            if group.lineup.contains(&Some(bad)) && failed.get() < most {
                failed.set(failed.get() + 1);
                failed_by(&mut score, &group.lineup, &[bad], true);
            }
            score
        }
    };
    field.readmitted.insert(bad, 3);
    for (failures, is_out) in [(5, false), (6, true)] {
        let fails = fails_first(failures);
        let shape = ScheduleShape::RoundRobin {};
        let ended = played_in_order(&field, &shape, &|group| fails(group, &field));
        assert_eq!(ended.set_aside.len(), usize::from(is_out), "{failures}");
        let own = ended.counted.values();
        let own = own.filter(|group| group.lineup.contains(&Some(bad)));
        assert_eq!(own.count(), if is_out { 0 } else { 10 });
    }
    let swiss = ScheduleShape::Swiss { rounds: None };
    let refused = schedule(&field, &swiss).err();
    assert_eq!(refused, Some(ScheduleError::Readmitted));
}

#[test]
fn when_all_but_one_have_failed_it_is_over() {
    let field = field(4, 2, 5);
    let failing: Vec<_> = Entrant::all(3).collect();
    let ended = played_in_order(&field, &ScheduleShape::RoundRobin {}, &|group| {
        let mut score = seeded_score(group, &field);
        failed_by(&mut score, &group.lineup, &failing, false);
        score
    });
    assert!(ended.set_aside.len() >= 2, "{:?}", ended.set_aside);
}

#[test]
fn a_field_and_a_shape_that_do_not_go_together_are_refused() {
    let sprt = Sprt {
        elo0: 0.0,
        elo1: 10.0,
        alpha: 0.05,
        beta: 0.05,
        model: Default::default(),
    };
    let tested = |seats| arena_ladder::Field {
        sprt: Some(sprt),
        ..field(4, seats, 10)
    };
    let robin = ScheduleShape::RoundRobin {};
    let gauntlet = |challengers| ScheduleShape::Gauntlet { challengers };
    for (field, shape, error) in [
        (field(1, 2, 1), &robin, ScheduleError::TooFewEntrants(1)),
        (field(4, 3, 1), &robin, ScheduleError::Seats(3)),
        (field(4, 2, 0), &robin, ScheduleError::Deals(0)),
        (
            field(4, 2, u64::MAX),
            &robin,
            ScheduleError::Deals(u64::MAX),
        ),
        (tested(4), &robin, ScheduleError::Test),
        (tested(4), &gauntlet(1), ScheduleError::Test),
        (
            field(17, 4, 1),
            &robin,
            ScheduleError::Tables {
                entrants: 17,
                tables: 2380,
            },
        ),
        (
            field(4, 2, 1),
            &gauntlet(4),
            ScheduleError::Challengers {
                entrants: 4,
                challengers: 4,
            },
        ),
        (
            field(4, 2, 1),
            &gauntlet(0),
            ScheduleError::Challengers {
                entrants: 4,
                challengers: 0,
            },
        ),
    ] {
        assert_eq!(schedule(&field, shape).err(), Some(error), "{shape:?}");
    }
    let backwards = Sprt { elo1: -1.0, ..sprt };
    let field = arena_ladder::Field {
        sprt: Some(backwards),
        ..field(4, 2, 10)
    };
    assert_eq!(
        schedule(&field, &robin).err(),
        backwards.validate().err().map(ScheduleError::BadTest)
    );
    assert!(schedule(&tested(2), &robin).is_ok());
    assert!(schedule(&tested(2), &gauntlet(1)).is_ok());
}

#[test]
fn a_test_stops_its_match_at_the_first_group_that_decides() {
    let sprt: Sprt = "elo0=0 elo1=100".parse().unwrap();
    let mut field = field(3, 2, 1000);
    field.sprt = Some(sprt);
    let score = |group: &Group| random_score(group, &field, &mut Chance(group.number * 77 + 5));
    let ended = played(
        &field,
        &ScheduleShape::RoundRobin {},
        50,
        &mut Chance(3),
        &score,
    );
    for one in ended.rounds.iter().flat_map(|round| &round.matches) {
        let mut pentanomial = [0; 5];
        let mut decided_after = None;
        for at in 0..field.deals {
            let number = u64::from(one.id.0) * field.deals + at;
            let group = Group {
                number,
                matchup: one.id,
                at,
                turn: 0,
                lineup: Entrant::all(2).map(Some).collect(),
            };
            pentanomial[score(&group).points[0].0 as usize] += 1;
            if sprt.decide(&pentanomial).is_some() {
                decided_after = Some(at + 1);
                break;
            }
        }
        let decided_after = decided_after.expect("a thousand deals are enough");
        assert!(decided_after > 1);
        assert_eq!(one.groups, decided_after, "{one:?}");
    }
}

#[test]
fn more_than_can_be_planned_is_refused() {
    let ladder = |rounds| ScheduleShape::Ladder { rounds };
    let swiss = |rounds| ScheduleShape::Swiss { rounds };
    for (entrants, seats, rounds, most) in [
        (2, 2, u32::MAX, 1_000_000),
        (4_000, 2, 501, 500),
        (4_000, 4, 1_001, 1_000),
        (500, 4, u32::MAX, 8_000),
    ] {
        let shape = match entrants {
            500 => swiss(Some(rounds)),
            _ => ladder(Some(rounds)),
        };
        let error = ScheduleError::ManyRounds {
            entrants,
            rounds,
            most,
        };
        let found = schedule(&field(entrants, seats, 1), &shape).err();
        assert_eq!(found, Some(error), "{shape:?}");
    }
    let many = schedule(&field(1_000, 2, 10_000_000), &ScheduleShape::RoundRobin {});
    let planned = 1_000 * 999 / 2 * 10_000_000;
    assert_eq!(many.err(), Some(ScheduleError::Planned(planned)));
    assert!(schedule(&field(1_000, 2, 1_000_000), &ScheduleShape::RoundRobin {}).is_ok());
}

#[test]
fn no_number_of_entrants_is_too_much_to_be_refused() {
    for (shape, most) in [
        (ScheduleShape::RoundRobin {}, 1_000),
        (ScheduleShape::Gauntlet { challengers: 1 }, 1_000),
        (ScheduleShape::Swiss { rounds: None }, 500),
        (
            ScheduleShape::SingleElimination { third_place: true },
            4_000,
        ),
        (ScheduleShape::DoubleElimination {}, 4_000),
        (ScheduleShape::Ladder { rounds: None }, 4_000),
    ] {
        for entrants in [most + 1, u32::MAX] {
            for seats in [2, 4] {
                let error = ScheduleError::TooManyEntrants { entrants, most };
                let found = schedule(&field(entrants, seats, 1), &shape).err();
                assert_eq!(found, Some(error), "{shape:?}");
            }
        }
    }
}

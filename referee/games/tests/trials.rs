//! The beginnings that every bot is tried with.

use std::{collections::BTreeSet, time::Duration};

use referee_core::{Dice, Foul, GameKind, Limits, PerSeat, Seed, Trial};
use referee_games::{Calls, Fixture, GAMES, Next, SeatReply, Sitting, answer, ready};

#[test]
fn every_trial_is_a_set_up_and_has_a_name_of_its_own() {
    for kind in &GAMES {
        let trials = kind.trials();
        assert!(!trials.is_empty(), "{}", kind.info().name);
        let names: BTreeSet<_> = trials.iter().map(|trial| trial.name).collect();
        assert_eq!(names.len(), trials.len(), "{}", kind.info().name);
        for trial in trials {
            let setup = serde_json::from_str(trial.setup).unwrap();
            kind.setup(&setup)
                .unwrap_or_else(|error| panic!("{}: {error}", trial.name));
        }
    }
}

#[test]
fn the_trials_of_a_game_lead_to_every_call_of_it() {
    for kind in &GAMES {
        let calls = Calls::of(*kind);
        let mut put: BTreeSet<String> = BTreeSet::new();
        for trial in kind.trials() {
            for seed in 0..4 {
                put.extend(played(*kind, trial, seed, &calls));
            }
        }
        for name in calls.names() {
            // A game of two is over when one leaves.
            let told = name != "forfeit" || kind.info().seats > 2;
            assert_eq!(put.contains(name), told, "{}: {name}", kind.info().name);
        }
    }
}

/// Played at random; from the fortieth question on, whoever is asked leaves. The
/// calls that were sent.
fn played(kind: &'static dyn GameKind, trial: &Trial, seed: u8, calls: &Calls) -> Vec<String> {
    let seed = Seed::new([seed; 32]);
    let fixture = Fixture {
        kind,
        game_id: "trial".to_owned(),
        setup: serde_json::from_str(trial.setup).expect("a trial is JSON"),
        seed,
        players: PerSeat::new(kind.info().seats, |seat| seat.to_string()),
        limits: Limits::default(),
        spent: PerSeat::default(),
    };
    let mut dice = Dice::new(&seed);
    let mut sitting = Sitting::new(fixture).expect("a trial is a set-up");
    let mut put = Vec::new();
    let mut asked = 0;
    loop {
        match sitting.advance() {
            Next::Tell(told) => {
                put.extend(
                    told.iter()
                        .filter_map(|(_, call)| calls.name(call).map(str::to_owned)),
                );
            }
            Next::Ask(questions) => {
                for question in questions {
                    put.extend(calls.name(&question.call).map(str::to_owned));
                    let heard = if question.number == 0 {
                        SeatReply::Answer(ready())
                    } else if asked > 40 {
                        SeatReply::Foul(Foul::HungUp)
                    } else {
                        asked += 1;
                        let legal = sitting.legal(question.seat);
                        let pick = dice.below(legal.len() as u32) as usize;
                        SeatReply::Answer(answer(question.number, &legal[pick].1))
                    };
                    sitting.hear(question.seat, heard, Duration::ZERO);
                }
            }
            Next::Over(finished) => {
                let told = finished.last_calls.iter();
                put.extend(told.filter_map(|(_, call)| calls.name(call).map(str::to_owned)));
                return put;
            }
        }
    }
}

//! What a game in a crate outside gets without a line of its own: it is conducted, drawn, and has
//! the properties that every game must have.

use std::time::Duration;

use arena_draw::{Look, Picture, spoken};
use outside_game::NIM;
use referee_core::{Dice, FoulKind, Language, Limits, PerSeat, Seat, Seed};
use referee_games::{Fixture, Judgement, Next, SeatReply, Sitting, answer, forfeit, ready};
use serde_json::json;

#[test]
fn it_has_the_properties_of_every_game() {
    for number in 0..50 {
        let proved = NIM.prove(&Seed::new([number; 32]), |seat, place| {
            forfeit(seat, FoulKind::Crashed, place).to_vec()
        });
        assert_eq!(proved, Ok(()), "seed {number}");
    }
}

#[test]
fn it_is_played_to_its_end_and_every_moment_is_drawn() {
    let mut sitting = sitting(json!("counters=7"));
    let mut dice = Dice::new(&Seed::new([1; 32]));
    let names = ["Ann", "Bob"].map(str::to_owned);
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Ask(questions) => {
                for question in questions {
                    let legal = sitting.legal(question.seat);
                    let given = match question.number {
                        0 => ready(),
                        number => {
                            let pick = dice.below(legal.len() as u32) as usize;
                            answer(number, &legal[pick].1)
                        }
                    };
                    let reply = SeatReply::Answer(given);
                    let judged = sitting.hear(question.seat, reply, Duration::ZERO);
                    assert!(!matches!(judged, Judgement::Fouled(_)), "{judged:?}");
                }
            }
            Next::Over(finished) => {
                let outcome = finished.record.result.verdict.outcome().expect("it counts");
                assert_eq!(outcome.reason, "the last counter was taken");
                break;
            }
        }
        let scene = sitting.scene();
        let look = Look {
            language: Language::En,
            names: &names,
            legal: &[],
            id_prefix: "",
        };
        assert!(Picture::of(&scene, &look).svg("Nim").contains("<svg"));
        assert!(spoken(&scene, &names, Language::En).contains("heap"));
    }
}

#[test]
fn an_answer_against_its_rules_is_a_foul_with_its_words() {
    let mut sitting = sitting(json!({ "counters": 1 }));
    let Next::Ask(questions) = sitting.advance() else {
        panic!("expected the start");
    };
    for question in questions {
        let _ = sitting.hear(question.seat, SeatReply::Answer(ready()), Duration::ZERO);
    }
    let Next::Ask(_) = sitting.advance() else {
        panic!("expected a question");
    };
    // Field 10 is `take`, of which 2 are taken.
    let reply = SeatReply::Answer(answer(1, &[80, 2]));
    let _ = sitting.hear(Seat::new(0), reply, Duration::ZERO);
    let verdict = loop {
        if let Next::Over(finished) = sitting.advance() {
            break finished.record.result.verdict;
        }
    };
    let foul = verdict.foul(Seat::new(0)).map(ToString::to_string);
    let foul = foul.expect("a foul");
    assert!(foul.contains("expected 1 to 1, found 2"), "{foul}");
}

fn sitting(setup: serde_json::Value) -> Sitting {
    let fixture = Fixture {
        kind: NIM,
        game_id: "nim-1".to_owned(),
        setup,
        seed: Seed::new([5; 32]),
        players: PerSeat::new(2, |seat| seat.to_string()),
        limits: Limits::default(),
        spent: PerSeat::default(),
    };
    Sitting::new(fixture).expect("a set-up")
}

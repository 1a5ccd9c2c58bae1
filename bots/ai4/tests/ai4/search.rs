//! The engine in whole rounds: legal, repeatable, in time, and it only knows what it was told.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::common::{cards, random_round, round};
use ai4::{CardSet, Engine, Limit, Options, Question, Settings, Variants, worth::Weights};
use referee_games::big_two::Setup;

fn limit(playouts: u64) -> Limit {
    Limit {
        playouts: Some(playouts),
        deadline: None,
    }
}

/// What the engine at a seat would play, at every question to that seat of a random round.
fn answers(seed: u64, seat: usize, limit: &Limit, settings: Settings) -> Vec<CardSet> {
    let weights = Arc::new(Weights::embedded());
    let mut engine: Option<Engine> = None;
    let mut found = Vec::new();
    random_round(&Setup::default(), seed, |state, turn, _, did| {
        let round = round(state, turn);
        let engine = engine.get_or_insert_with(|| {
            let left = round.hands.map(CardSet::len);
            let hand = round.hands[seat];
            let weights = Arc::clone(&weights);
            Engine::new(Options::default(), seat, hand, left, 9, settings, weights)
        });
        if turn == seat {
            assert_eq!(engine.hand(), round.hand());
            let answer = engine.search(limit);
            let question = Question {
                hand: round.hand(),
                unseen: round.unseen(),
                to_beat: round.table.to_beat(),
                reversed: round.table.reversed,
                reversal: true,
                must_open: round.must_open(),
            };
            let mut plays = Vec::new();
            question.plays(Variants::All, &mut plays);
            let passes = answer.cards.is_empty() && question.to_beat.is_some();
            assert!(passes || plays.contains(&answer.cards), "{answer:?}");
            found.push(answer.cards);
        }
        engine.played(turn, cards(did));
    });
    found
}

#[test]
fn a_fixed_amount_of_work_gives_the_same_moves() {
    for seed in 0..3 {
        let first = answers(seed, 1, &limit(100), Settings::default());
        let again = answers(seed, 1, &limit(100), Settings::default());
        assert_eq!(first, again);
        assert!(!first.is_empty());
    }
}

#[test]
fn more_threads_give_the_same_moves_with_a_fixed_amount_of_work() {
    let settings = Settings {
        threads: 3.try_into().unwrap(),
        ..Settings::default()
    };
    let first = answers(4, 2, &limit(90), settings);
    assert_eq!(first, answers(4, 2, &limit(90), settings));
}

/// The machine may be busy: an answer that is late by ten times its limit is not the machine's.
#[test]
fn a_search_ends_at_its_deadline() {
    let weights = Arc::new(Weights::embedded());
    let hand = CardSet::from_bits(0x0010_4218_4210_8421);
    let left = [hand.len(), 14, 14, 14];
    let mut engine = Engine::new(
        Options::default(),
        0,
        hand,
        left,
        1,
        Settings::default(),
        weights,
    );
    let began = Instant::now();
    let time = Duration::from_millis(200);
    let answer = engine.search(&Limit {
        playouts: None,
        deadline: Some(began + time),
    });
    assert!(!answer.cards.is_empty());
    assert!(began.elapsed() < 10 * time);
}

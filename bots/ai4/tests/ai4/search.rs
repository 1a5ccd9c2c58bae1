//! The engine in whole rounds: legal, repeatable, in time, and it only knows what it was told.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use crate::common::{cards, random_round, round};
use ai4::{
    BigTwoEngine, BigTwoIdea, BigTwoIdeas, BigTwoSearchResult, CardSet, PlayQuestion, PlayoutLimit,
    Prospect, RoundOptions, SearchSettings, Variants, worth::MoveWeights,
};
use referee_games::big_two::Setup;
use strum::VariantNames as _;

fn limit(playouts: u64) -> PlayoutLimit {
    PlayoutLimit {
        playouts: Some(playouts),
        deadline: None,
    }
}

/// The answers of the engine at a seat to every question to that seat of a random round.
fn answers(seed: u64, seat: usize, limit: &PlayoutLimit, settings: SearchSettings) -> Vec<CardSet> {
    let mut found = Vec::new();
    asked(seed, seat, settings, |engine, question| {
        found.push(answer(engine, question, limit).cards);
    });
    found
}

/// A legal answer.
fn answer(
    engine: &mut BigTwoEngine,
    question: &PlayQuestion,
    limit: &PlayoutLimit,
) -> BigTwoSearchResult {
    let answer = engine.search(limit);
    let mut plays = Vec::new();
    question.plays(Variants::All, &mut plays);
    let passes = answer.cards.is_empty() && question.to_beat.is_some();
    assert!(passes || plays.contains(&answer.cards), "{answer:?}");
    answer
}

/// Lets `look` see every question to an engine at a seat of a random round.
fn asked(
    seed: u64,
    seat: usize,
    settings: SearchSettings,
    mut look: impl FnMut(&mut BigTwoEngine, &PlayQuestion),
) {
    let weights = Arc::new(MoveWeights::embedded());
    let mut engine: Option<BigTwoEngine> = None;
    random_round(&Setup::default(), seed, |state, turn, _, did| {
        let round = round(state, turn);
        let engine = engine.get_or_insert_with(|| {
            let left = round.hands.map(CardSet::len);
            let hand = round.hands[seat];
            let weights = Arc::clone(&weights);
            BigTwoEngine::new(
                RoundOptions::default(),
                seat,
                hand,
                left,
                9,
                settings,
                weights,
            )
        });
        if turn == seat {
            assert_eq!(engine.hand(), round.hand());
            let question = PlayQuestion {
                hand: round.hand(),
                unseen: round.unseen(),
                to_beat: round.table.to_beat(),
                reversed: round.table.reversed,
                reversal: true,
                must_open: round.must_open(),
            };
            look(engine, &question);
        }
        engine.played(turn, cards(did));
    });
}

#[test]
fn it_can_do_without_each_idea() {
    let whole = answers(1, 1, &limit(100), SearchSettings::default());
    for idea in BigTwoIdea::VARIANTS {
        let idea = idea.parse().unwrap();
        let settings = SearchSettings {
            without: BigTwoIdeas::default().with(idea),
            ..SearchSettings::default()
        };
        let found = answers(1, 1, &limit(100), settings);
        assert_eq!(found, answers(1, 1, &limit(100), settings));
        assert_eq!(found.len(), whole.len(), "{idea:?}");
    }
}

/// Random seats do what no model does.
#[test]
fn ends_are_exact_unless_it_does_without() {
    let mut exact = [0, 0];
    for (count, without) in exact.iter_mut().zip([
        BigTwoIdeas::default(),
        BigTwoIdeas::default().with(BigTwoIdea::Endgame),
    ]) {
        let settings = SearchSettings {
            without,
            ..SearchSettings::default()
        };
        for seed in 0..30 {
            asked(seed, 0, settings, |engine, question| {
                *count += u32::from(answer(engine, question, &limit(1)).exact);
            });
        }
    }
    assert!(exact[0] > 5 && exact[1] == 0, "{exact:?}");
}

#[test]
fn an_engine_that_misjudges_plays_other_moves() {
    let with = |misjudges| SearchSettings {
        misjudges,
        ..SearchSettings::default()
    };
    let first_sight = limit(0);
    let best = answers(2, 1, &first_sight, with(0.0));
    assert_eq!(best, answers(2, 1, &first_sight, with(1e-9)));
    assert_ne!(best, answers(2, 1, &first_sight, with(6.0)));
}

/// The engine's expected results of the moves at each question of a random round.
fn prospects(seed: u64) -> Vec<Vec<Prospect>> {
    let mut found = Vec::new();
    asked(seed, 1, SearchSettings::default(), |engine, question| {
        let prospects = engine.evaluate(200);
        let mut legal = Vec::new();
        question.plays(Variants::FirstJoker, &mut legal);
        if question.to_beat.is_some() {
            legal.push(CardSet::NONE);
        }
        let cards: Vec<CardSet> = prospects.iter().map(|one| one.cards).collect();
        assert_eq!(cards, legal);
        for one in &prospects {
            assert!(one.shares.iter().all(|share| (0.0..=1.0).contains(share)));
        }
        let own = |one: &&Prospect| (one.shares[1] * 1e6) as u64;
        let best = prospects.iter().max_by_key(own).expect("a move");
        let sum: f64 = best.shares.iter().sum();
        assert!((sum - 2.0).abs() < 1e-5, "{best:?}");
        found.push(prospects);
    });
    found
}

#[test]
fn what_seats_expect_is_a_share_and_the_same_again() {
    for seed in 0..4 {
        let found = prospects(seed);
        assert!(found.len() > 3);
        assert_eq!(found, prospects(seed));
    }
}

#[test]
fn a_fixed_amount_of_work_gives_the_same_moves() {
    for seed in 0..3 {
        let first = answers(seed, 1, &limit(100), SearchSettings::default());
        let again = answers(seed, 1, &limit(100), SearchSettings::default());
        assert_eq!(first, again);
        assert!(!first.is_empty());
    }
}

#[test]
fn more_threads_give_the_same_moves_with_a_fixed_amount_of_work() {
    let settings = SearchSettings {
        threads: 3.try_into().unwrap(),
        ..SearchSettings::default()
    };
    let first = answers(4, 2, &limit(90), settings);
    assert_eq!(first, answers(4, 2, &limit(90), settings));
}

/// The machine may be busy: an answer that is late by ten times its limit is not the machine's.
#[test]
fn a_search_ends_at_its_deadline() {
    let weights = Arc::new(MoveWeights::embedded());
    let hand = CardSet::from_bits(0x0010_4218_4210_8421);
    let left = [hand.len(), 14, 14, 14];
    let mut engine = BigTwoEngine::new(
        RoundOptions::default(),
        0,
        hand,
        left,
        1,
        SearchSettings::default(),
        weights,
    );
    let began = Instant::now();
    let time = Duration::from_millis(200);
    let answer = engine.search(&PlayoutLimit {
        playouts: None,
        deadline: Some(began + time),
    });
    assert!(!answer.cards.is_empty());
    assert!(began.elapsed() < 10 * time);
}

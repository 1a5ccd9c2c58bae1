//! The promises of a search: the same again, in time, and a legal move.
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

use std::{
    num::NonZeroUsize,
    sync::atomic::AtomicBool,
    time::{Duration, Instant},
};

use edge::{Discs, Exactness, OthelloEngine, OthelloEngineOptions, SearchLimit};

fn engine(threads: usize) -> OthelloEngine {
    OthelloEngine::new(OthelloEngineOptions {
        table_bytes: 1 << 22,
        threads: NonZeroUsize::new(threads).unwrap(),
        ..OthelloEngineOptions::default()
    })
    .unwrap()
}

#[test]
fn the_same_search_finds_the_same_again() {
    for limit in [SearchLimit::depth(9), SearchLimit::nodes(30_000)] {
        let mut first = engine(1);
        let answer = first.search(Discs::START, limit);
        assert_eq!(engine(1).search(Discs::START, limit), answer);
        first.clear();
        assert_eq!(first.search(Discs::START, limit), answer);
    }
}

#[test]
fn a_search_ends_where_its_limit_says() {
    let answer = engine(1).search(Discs::START, SearchLimit::depth(7));
    assert_eq!(answer.depth, 7);
    assert_eq!(answer.exactness, Exactness::Guess);
    assert_eq!(answer.line.first().copied(), answer.square);
    let answer = engine(1).search(Discs::START, SearchLimit::nodes(10_000));
    assert!((10_000..12_000).contains(&answer.nodes), "{}", answer.nodes);
    let began = Instant::now();
    let answer = engine(1).search(Discs::START, SearchLimit::time(Duration::from_millis(100)));
    let time = began.elapsed();
    assert!(time >= Duration::from_millis(100), "{time:?}");
    assert!(time < Duration::from_millis(300), "{time:?}");
    assert!(answer.square.is_some());
}

#[test]
fn a_search_without_time_still_has_a_legal_move() {
    let answer = engine(1).search(Discs::START, SearchLimit::time(Duration::ZERO));
    let square = answer.square.unwrap();
    assert!(Discs::START.play(square).is_some());
}

#[test]
fn four_first_moves_are_one() {
    let scores = engine(1).scores(Discs::START, SearchLimit::depth(6));
    assert_eq!(scores.len(), 4);
    let engine = engine(1);
    for image in Discs::START.play(scores[0].square).unwrap().images() {
        let next = Discs::START.play(scores[0].square).unwrap();
        assert_eq!(
            engine.evaluate(image).to_bits(),
            engine.evaluate(next).to_bits()
        );
    }
}

#[test]
fn threads_find_the_same_result() {
    let position = "--XXXXX--OOOXX-O-OOOXXOX-OXOXOXXOXXXOXXX--XOXOXX-XXXOOO--OOOOO-- X";
    let one = engine(1).solve(position.parse().unwrap());
    assert_eq!(one.score, 18);
    for threads in [2, 3, 5] {
        let all = engine(threads).solve(position.parse().unwrap());
        assert_eq!((all.score, &all.best), (one.score, &one.best));
    }
}

#[test]
fn threads_go_as_deep_and_stop_in_time() {
    let mut engine = engine(3);
    let answer = engine.search(Discs::START, SearchLimit::depth(10));
    assert_eq!(answer.depth, 10);
    assert_eq!(answer.line.first().copied(), answer.square);
    for limit in [Duration::ZERO, Duration::from_millis(100)] {
        let began = Instant::now();
        let answer = engine.search(Discs::START, SearchLimit::time(limit));
        let late = began.elapsed().saturating_sub(limit);
        assert!(late < Duration::from_millis(200), "{late:?}");
        assert!(Discs::START.play(answer.square.unwrap()).is_some());
    }
}

#[test]
fn a_search_stops_where_it_is_told_to() {
    // Within one look at the flag, which is some tenths of a millisecond.
    for threads in [1, 2] {
        let stop = AtomicBool::new(true);
        let answer = engine(threads).search_until(Discs::START, SearchLimit::default(), &stop);
        assert!(answer.nodes < 5000, "{}", answer.nodes);
        assert!(Discs::START.play(answer.square.unwrap()).is_some());
    }
}

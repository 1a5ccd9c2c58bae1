//! The memory that an engine takes: its deals, a search, and an end too large to be solved.

#![allow(clippy::disallowed_methods, reason = "a test")]

use std::{fs, sync::Arc};

use ai4::{
    BigTwoEngine, BigTwoRound, CardSet, Endgame, PlayoutLimit, PublicRound, RoundOptions,
    SearchSettings, worth::MoveWeights,
};

/// The most that this process has had in memory, in KiB.
fn peak() -> u64 {
    let status = fs::read_to_string("/proc/self/status").expect("Linux");
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let number = line.and_then(|line| line.trim().strip_suffix(" kB"));
    let number = number.expect("a peak in KiB");
    number.parse().expect("a number")
}

/// Every fourth card of the deck, from this one.
fn quarter(first: u64) -> CardSet {
    let bits = (first..54).step_by(4).map(|bit| 1 << (bit * 5 % 54));
    CardSet::from_bits(bits.sum())
}

#[test]
fn an_engine_takes_less_than_sixteen_mebibytes() {
    let hands = [0, 1, 2, 3].map(quarter);
    let left = hands.map(CardSet::len);
    assert_eq!(left.iter().sum::<u32>(), 54);
    let before = peak();

    let weights = Arc::new(MoveWeights::embedded());
    let settings = SearchSettings::default();
    let seat = (0..4).find(|&seat| hands[seat].contains_all(CardSet::THREE_OF_CLUBS));
    let seat = seat.unwrap();
    let mut engine = BigTwoEngine::new(
        RoundOptions::default(),
        seat,
        hands[seat],
        left,
        1,
        settings,
        weights,
    );
    let limit = PlayoutLimit {
        playouts: Some(500),
        deadline: None,
    };
    let answer = engine.search(&limit);
    engine.played(seat, answer.cards);

    // All that an end may remember.
    let mut table = PublicRound::new(RoundOptions::default(), 0);
    table.in_play = 0b0011;
    table.places = [0, 0, 1, 2];
    table.out = 2;
    let round = BigTwoRound {
        table,
        hands: [hands[0], hands[1], CardSet::NONE, CardSet::NONE],
    };
    let mut endgame = Endgame::new(200_000, None);
    assert_eq!(endgame.winning_move(&round), None, "it is too large");
    assert_eq!(endgame.remembered(), 1 << 16);

    let grown = peak() - before;
    println!("{grown} KiB");
    assert!(grown < 16 * 1024, "{grown} KiB");
}

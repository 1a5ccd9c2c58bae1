//! The engine's answers.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::{Duration, Instant},
};

use referee_games::mahjong::parse;
use tenpai::{MahjongEngine, NetworkWeights, Situation, ThinkingLimit, Tile, Tiles, Valued};

fn tiles(text: &str) -> Vec<Tile> {
    let tiles = parse(text).expect("tiles as they are written").into_iter();
    tiles
        .map(|tile| Tile::new(tile.index()).expect("both count tiles alike"))
        .collect()
}

fn situation(hand: &str, own: &str, other: &str, left: u8) -> Situation {
    Situation {
        hand: tiles(hand).into_iter().collect(),
        own_river: tiles(own),
        other_river: tiles(other),
        began: true,
        left,
        three_suits: false,
        passive: Some(1.0),
    }
}

fn engine() -> MahjongEngine {
    MahjongEngine::new(NetworkWeights::embedded())
}

#[test]
fn the_same_question_has_the_same_answer() {
    let asked = situation("1235688c11479b29d", "39d", "4c4b", 77);
    let answer = engine().discards(&asked, &ThinkingLimit::hands(3000));
    assert_eq!(
        engine().discards(&asked, &ThinkingLimit::hands(3000)),
        answer
    );
    assert!(asked.hand.count(answer[0].tile) > 0);
}

#[test]
fn suits_have_no_names() {
    for weights in [NetworkWeights::embedded(), NetworkWeights::wide()] {
        suits_have_no_names_for(&MahjongEngine::new(weights));
    }
}

fn suits_have_no_names_for(engine: &MahjongEngine) {
    for passive in [Some(1.0), Some(0.0), None] {
        let value = |hand: &str, own: &str, other: &str| {
            let mut asked = situation(hand, own, other, 77);
            asked.passive = passive;
            engine.discards(&asked, &ThinkingLimit::hands(2000))[0].value
        };
        let first = value("1235688c11479b29d", "3d", "4d8b");
        for (hand, own, other) in [
            ("1235688d11479b29c", "3c", "4c8b"),
            ("29b1235688c11479d", "3b", "4b8d"),
        ] {
            let second = value(hand, own, other);
            assert!(
                (first - second).abs() < 0.01,
                "{passive:?}: {first} {second}"
            );
        }
    }
}

#[test]
fn every_discard_is_estimated() {
    for passive in [Some(1.0), Some(0.0), None] {
        let mut asked = situation("1235688c11479b29d", "3d", "4d8b", 77);
        asked.passive = passive;
        let estimates = engine().estimates(&asked);
        let mut found: Vec<usize> = estimates.iter().map(|one| one.tile.index()).collect();
        assert!(estimates.is_sorted_by(|one, other| one.value >= other.value));
        found.sort_unstable();
        let held: Vec<usize> = asked.hand.kinds().map(Tile::index).collect();
        assert_eq!(found, held);
    }
}

#[test]
fn the_mean_of_estimates_is_what_the_networks_expect() {
    let mean =
        |valued: &[Valued]| valued.iter().map(|one| one.value).sum::<f32>() / valued.len() as f32;
    for passive in [Some(1.0), Some(0.0), None] {
        let mut asked = situation("1235688c11479b29d", "3d", "4d8b", 77);
        asked.passive = passive;
        let networks = engine().discards(&asked, &ThinkingLimit::hands(1));
        let estimates = engine().estimates(&asked);
        assert_eq!(networks.len(), estimates.len());
        assert!((mean(&networks) - mean(&estimates)).abs() < 1e-3);
        assert_ne!(networks, estimates);
    }
}

#[test]
fn a_win_with_the_last_tile_is_taken() {
    let last = situation("123c456c789c11b23b4b", "", "", 0);
    let tile = tiles("4b")[0];
    assert!(engine().wins(&last, tile, true, &ThinkingLimit::hands(1000)));
    let mut claimed = situation("123c456c789c11b23b", "", "4b", 0);
    assert!(engine().wins(&claimed, tile, false, &ThinkingLimit::hands(1000)));
    claimed.hand = tiles("123c456c789c11b25b").into_iter().collect();
    let limit = ThinkingLimit::hands(1000);
    assert!(!engine().wins(&claimed, tile, false, &limit), "no win");
}

#[test]
fn the_time_is_kept() {
    let engine = engine();
    let asked = situation("1235688c11479b29d", "39d", "4c4b", 77);
    let began = Instant::now();
    let calls = AtomicU64::new(0);
    let clock = || {
        calls.fetch_add(1, Ordering::Relaxed);
        began.elapsed()
    };
    let allowed = Duration::from_millis(20);
    let _ = engine.discards(&asked, &ThinkingLimit::clock(allowed, &clock));
    assert!(began.elapsed() < Duration::from_secs(2));
    assert!(
        calls.load(Ordering::Relaxed) > 0,
        "nobody looked at the clock"
    );
    let none = engine.discards(&asked, &ThinkingLimit::clock(Duration::ZERO, &clock));
    assert!(!none.is_empty());
}

#[test]
fn what_is_seen_is_not_unseen() {
    let asked = situation("1111c22c3456789b1d", "5555d", "2c2c", 70);
    let unseen = asked.unseen();
    assert_eq!(unseen.len(), 108 - 14 - 4 - 2);
    assert_eq!(unseen.count(tiles("1c")[0]), 0);
    assert_eq!(unseen.count(tiles("2c")[0]), 0);
    assert_eq!(Tiles::FULL.len(), 108);
}

#[test]
fn playouts_compare_what_is_near_the_best() {
    let engine = MahjongEngine::new(NetworkWeights::wide());
    let mut asked = situation("1235688c11479b29d", "39d", "4c4b", 77);
    for passive in [Some(0.0), Some(0.3)] {
        asked.passive = passive;
        let before = engine.discards(&asked, &ThinkingLimit::hands(2500));
        let limit = || ThinkingLimit::hands(2500).and_playouts(2000);
        let after = engine.discards(&asked, &limit());
        assert_eq!(engine.discards(&asked, &limit()), after);
        assert_eq!(engine.discards(&asked, &limit().and_threads(3)), after);
        assert!(after.is_sorted_by(|one, other| one.value >= other.value));
        for one in &after {
            let known = before.iter().find(|it| it.tile == one.tile);
            assert!(known.is_some_and(|it| it.value > before[0].value - 1.6));
        }
        assert_ne!(after, before, "playouts say nothing");
    }
    asked.passive = Some(1.0);
    let before = engine.discards(&asked, &ThinkingLimit::hands(2500));
    let after = engine.discards(&asked, &ThinkingLimit::hands(2500).and_playouts(2000));
    assert_eq!(after, before, "a passive seat is not played out");
}

#[test]
fn playouts_end_when_it_is_late() {
    let engine = MahjongEngine::new(NetworkWeights::wide());
    let mut asked = situation("1235688c11479b29d", "39d", "4c4b", 77);
    asked.passive = Some(0.0);
    let best = engine.discards(&asked, &ThinkingLimit::hands(2500))[0].tile;
    let all = [0, 1_000, 2_000, 20_000];
    for (most, threads) in all.into_iter().flat_map(|most| [(most, 1), (most, 2)]) {
        let calls = AtomicU64::new(0);
        let clock = || {
            let before = calls.fetch_add(1, Ordering::Relaxed);
            Duration::from_secs(u64::from(before >= most))
        };
        let limit = ThinkingLimit::hands(2500).and_playouts(u64::MAX);
        let limit = limit.and_threads(threads);
        let limit = limit.until(Duration::from_secs(1), &clock);
        let valued = engine.discards(&asked, &limit);
        assert!(!valued.is_empty());
        if most < 2_000 {
            assert_eq!(valued[0].tile, best, "there was no time for playouts");
        }
        // The clock is looked at again before each part of the work, and then no more.
        let calls = calls.into_inner();
        assert!(calls <= most + 20, "{calls}");
    }
}

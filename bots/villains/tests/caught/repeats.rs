//! The same seeds and bots give the same games, however many are played at
//! once.

use futures_util::{StreamExt as _, stream};
use referee_core::Record;

use crate::vocabulary::*;

const VILLAINS: [&str; 4] = ["honest", "illegal --after 4", "past-number", "unsolicited"];
const GAMES: u8 = 64;

#[tokio::test]
async fn the_same_seeds_and_bots_give_the_same_records_but_for_the_times() {
    let mut tables = Vec::new();
    for at_once in [1, 8, 64] {
        let arena = Arena::new().await;
        let honest = bot("honest");
        let others = VILLAINS.map(bot);
        let games = (0..GAMES).map(|seed| {
            let other = &others[usize::from(seed) % others.len()];
            arena.play(game(seed, &honest, other))
        });
        let records: Vec<Record> = stream::iter(games).buffered(at_once).collect().await;
        tables.push(records);
    }
    for records in &tables[1..] {
        for (one, other) in tables[0].iter().zip(records) {
            verified(one);
            assert_eq!(timeless(one), timeless(other));
            assert_eq!(one.play_hash(), other.play_hash());
        }
    }
    let different = |a: &Record, b: &Record| a.play_hash() != b.play_hash();
    assert!(different(&tables[0][0], &tables[0][4]));
}

/// A record's text without its times, and without the seal that holds for
/// them as well.
fn timeless(record: &Record) -> String {
    let text = record.to_json_lines();
    let lines = text.lines().filter(|l| !l.contains(r#""type":"seal""#));
    lines
        .map(|line| line.split(r#""thought_us":"#).next().unwrap_or_default())
        .collect::<Vec<_>>()
        .join("\n")
}

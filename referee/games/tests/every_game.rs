//! What must hold in every game of the list.

use referee_core::{FoulKind, Seat, Seed};
use referee_games::{GAMES, forfeit};

#[test]
fn a_seat_is_sent_the_same_bytes_whatever_it_can_not_see() {
    for game in GAMES {
        for i in 0..100_u8 {
            let mut bytes = [0; 32];
            bytes[0] = i;
            if let Err(why) = game.prove(&Seed::new(bytes), left) {
                panic!("{} with seed {i}: {why}", game.info().name);
            }
        }
    }
}

/// Tells of a seat that has left as the referee does.
fn left(seat: Seat, place: u8) -> Vec<u8> {
    forfeit(seat, FoulKind::Crashed, place).to_vec()
}

#[test]
fn names_are_those_of_files_and_are_found() {
    for game in GAMES {
        let name = game.info().name;
        assert!(
            name.chars().all(|c| c.is_ascii_lowercase() || c == '_'),
            "{name}"
        );
        assert!(referee_games::game(name).is_some());
        assert!(referee_games::game(&name.replace('_', "-")).is_some());
        assert_eq!(
            game.path(),
            format!("/games.{name}.v1.{}Bot/Play", camel(name))
        );
    }
}

fn camel(name: &str) -> String {
    name.split('_')
        .map(|word| word[..1].to_uppercase() + &word[1..])
        .collect()
}

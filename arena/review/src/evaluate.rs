//! What each seat can expect: at one position, or over the whole course of a game.

use arena_events::replay::ExpectedScore;
use referee_core::{Dice, PerSeat, Record, Root, Seat, Table};
use referee_games::game;

use crate::{
    error::ReviewError,
    parallel::in_parallel,
    playouts::{InProcessBot, Playouts},
    plies::{Ply, plies},
    search::{SEARCHES, mean_and_error, search, share},
};

/// Who says what a position of a finished game is worth.
#[derive(Clone, Copy)]
pub enum Judge<'a> {
    /// Searches with all hands open, each by so many random playouts.
    Search {
        /// How many playouts a search makes; a position has [`SEARCHES`] of them.
        playouts: u32,
    },
    /// A bot that has estimates, in a game of two. It knows what the seat knew.
    Bot(&'a dyn InProcessBot),
}

/// What each seat can expect of a position that may have been dealt in any of these ways, as shares
/// of the points: 1 is the first place alone. Each deal is searched once, with all hands open, by
/// this many playouts, so that the errors also tell how much depends on what is not known.
///
/// # Panics
///
/// There are less than two deals.
#[must_use]
pub fn evaluate(
    deals: &[Box<dyn Table>],
    playouts: u32,
    dice: &mut Dice,
) -> PerSeat<ExpectedScore> {
    assert!(deals.len() > 1, "one deal has no spread");
    let means = deals
        .iter()
        .map(|deal| search(&**deal, None, playouts, dice));
    mean_and_error(&means.collect::<Vec<_>>())
}

/// Finds deals of a position for [`evaluate`], as many as it takes, each by `deal`, which may fail:
/// none where it fails too often.
pub fn deals(
    mut deal: impl FnMut(&mut Dice) -> Option<Box<dyn Table>>,
    dice: &mut Dice,
) -> Option<Vec<Box<dyn Table>>> {
    /// Of so many tries one must succeed.
    const TRIES: u32 = 40;
    (0..SEARCHES)
        .map(|_| (0..TRIES).find_map(|_| deal(dice)))
        .collect()
}

/// The value of a position in a game of two for both seats, by the estimate of one.
///
/// # Panics
///
/// The game has more seats.
#[must_use]
pub fn of_two(seats: u8, seat: Seat, share: f64) -> PerSeat<ExpectedScore> {
    assert_eq!(seats, 2, "what one of two can't expect the other can");
    PerSeat::new(seats, |one: Seat| ExpectedScore {
        score: if one == seat { share } else { 1.0 - share },
        error: 0.0,
    })
}

/// What each seat could expect before each move of a game, in the order of
/// [`referee_games::replay`], and at last what it got. The same root finds the same, with any
/// number of threads.
///
/// # Errors
///
/// [`ReviewError::Mismatch`] where the record does not replay, [`ReviewError::Bot`] where the bot
/// fails or has no estimates.
///
/// # Panics
///
/// A bot judges, and the game has more than two seats.
pub fn course(
    record: &Record,
    judge: Judge<'_>,
    root: &Root,
    threads: usize,
) -> Result<Vec<PerSeat<ExpectedScore>>, ReviewError> {
    let seats = record.header.players.seats();
    let plies = plies(record)?;
    let kind = game(&record.header.game).expect("it has just been replayed");
    let course = in_parallel(plies, threads, |ply: Ply| match judge {
        Judge::Search { playouts } => {
            let mut dice = Dice::new(&root.seed("evaluate", ply.number as u64 - 1));
            let table = ply.sitting.table();
            let means = (0..SEARCHES).map(|_| search(table, None, playouts, &mut dice));
            Ok(mean_and_error(&means.collect::<Vec<_>>()))
        }
        Judge::Bot(bot) => {
            let values = Playouts { bot, kind }.values(&ply.position())?;
            let best = values.into_iter().fold(0.0, f64::max);
            Ok(of_two(seats, ply.seat, best))
        }
    });
    let mut course = course
        .into_iter()
        .collect::<Result<Vec<_>, ReviewError>>()?;
    if let Some(outcome) = record.result.verdict.outcome() {
        course.push(PerSeat::new(seats, |seat: Seat| ExpectedScore {
            score: share(outcome, seat),
            error: 0.0,
        }));
    }
    Ok(course)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use referee_core::{Limits, PerSeat};
    use referee_games::{Fixture, GAMES, Sitting, game};

    use super::*;

    /// A game of random moves of every kind.
    fn played(kind: &'static dyn referee_core::GameKind) -> Record {
        let root: Root = "course".parse().unwrap();
        let seed = root.seed(kind.info().name, 0);
        let mut dice = Dice::new(&seed);
        let sitting = Sitting::new(Fixture {
            kind,
            game_id: "course".to_owned(),
            setup: serde_json::Value::Null,
            seed,
            players: PerSeat::new(kind.info().seats, |seat| format!("p{seat}")),
            limits: Limits {
                per_move: Duration::from_secs(1),
                ..Limits::default()
            },
            spent: PerSeat::default(),
        })
        .unwrap();
        sitting.play_out(|_, _, legal| dice.below(legal as u32) as usize)
    }

    #[test]
    fn a_course_has_a_value_before_each_move_and_ends_with_the_result() {
        let root: Root = "course".parse().unwrap();
        for kind in GAMES {
            let record = played(*kind);
            let mut moves = 0;
            referee_games::replay(&record, |_| moves += 1).unwrap();
            let judge = Judge::Search { playouts: 4 };
            let found = course(&record, judge, &root, 1).unwrap();
            assert_eq!(found.len(), moves + 1);
            assert_eq!(
                found,
                course(&record, judge, &root, 3).unwrap(),
                "with threads"
            );
            let outcome = record.result.verdict.outcome().unwrap();
            for (seat, got) in found.last().unwrap().iter() {
                assert_eq!((got.score, got.error), (share(outcome, seat), 0.0));
            }
            // Two share the points of one; four share 1, 2/3 and 1/3.
            let points = f64::from(kind.info().seats) / 2.0;
            for expects in &found {
                let sum: f64 = expects.iter().map(|(_, one)| one.score).sum();
                assert!(sum < points + 1e-9, "{expects:?}");
            }
        }
    }

    #[test]
    fn the_move_before_a_win_is_worth_nearly_everything() {
        let record = played(game("connect_four").unwrap());
        let root: Root = "course".parse().unwrap();
        let judge = Judge::Search { playouts: 1000 };
        let found = course(&record, judge, &root, 2).unwrap();
        let before = &found[found.len() - 2];
        let won = record.result.verdict.outcome().unwrap();
        let winner = Seat::all(2).find(|seat| won.places[*seat] == 1).unwrap();
        assert!(before[winner].score > 0.9, "{before:?}");
    }
}

//! The score that each seat can expect: at one position, or over the whole course of a game.

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

/// The judge of what a position of a finished game is worth.
#[derive(Clone, Copy)]
pub enum PositionJudge<'a> {
    /// Searches with all hands open, each by so many random playouts.
    Search {
        /// Number of playouts that a search makes; a position has [`SEARCHES`] of them.
        playouts: u32,
    },
    /// A bot that has estimates. It knows what the seat knew.
    Bot(&'a dyn InProcessBot),
}

/// The score that each seat can expect of a position that may have been dealt in any of these ways,
/// as shares of the points: 1 is the first place alone. Each deal is searched once, with all hands
/// open, by this many playouts, so that the errors also tell how much depends on what is not known.
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

/// The score that each seat could expect before each move of a game, in the order of
/// [`referee_games::replay`], and at last the score that it got. The same root finds the same, with
/// any number of threads.
///
/// Where a bot judges a game with hidden hands, each seat has its own estimate of when it was last
/// asked; before its first one, that of the seat that moves.
///
/// # Errors
///
/// [`ReviewError::Mismatch`] where the record does not replay, [`ReviewError::Bot`] where the bot
/// fails or has no estimates.
pub fn course(
    record: &Record,
    judge: PositionJudge<'_>,
    root: &Root,
    threads: usize,
) -> Result<Vec<PerSeat<ExpectedScore>>, ReviewError> {
    let seats = record.header.players.seats();
    let plies = plies(record)?;
    let kind = game(&record.header.game).expect("it has just been replayed");
    let movers: Vec<Seat> = plies.iter().map(|ply| ply.seat).collect();
    let course = in_parallel(plies, threads, |ply: Ply| match judge {
        PositionJudge::Search { playouts } => {
            let mut dice = Dice::new(&root.seed("evaluate", ply.number as u64 - 1));
            let table = ply.sitting.table();
            let means = (0..SEARCHES).map(|_| search(table, None, playouts, &mut dice));
            Ok(mean_and_error(&means.collect::<Vec<_>>()))
        }
        PositionJudge::Bot(bot) => Playouts { bot, kind }.expected(&ply.position()),
    });
    let mut course = course
        .into_iter()
        .collect::<Result<Vec<_>, ReviewError>>()?;
    if matches!(judge, PositionJudge::Bot(_)) && kind.has_secrets() {
        let mut last = PerSeat::new(seats, |_| None);
        for (expects, mover) in course.iter_mut().zip(movers) {
            last[mover] = Some(expects[mover]);
            for (seat, own) in last.iter() {
                expects[seat] = own.unwrap_or(expects[seat]);
            }
        }
    }
    if let Some(outcome) = record.result.verdict.outcome() {
        course.push(PerSeat::new(seats, |seat: Seat| ExpectedScore {
            score: share(outcome, seat),
            error: 0.0,
        }));
    }
    Ok(course)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::{
        sync::{
            Arc,
            atomic::{AtomicU32, Ordering},
        },
        time::Duration,
    };

    use bytes::Bytes;
    use referee_core::{Limits, PerSeat};
    use referee_games::{Fixture, GAMES, Sitting, game};

    use super::*;
    use crate::playouts::{BotError, InProcessSeat};

    /// A game of random moves of every kind.
    pub(crate) fn played(kind: &'static dyn referee_core::GameKind) -> Record {
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
        for kind in &GAMES {
            let record = played(*kind);
            let mut moves = 0;
            referee_games::replay(&record, |_| moves += 1).unwrap();
            let judge = PositionJudge::Search { playouts: 4 };
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
        let judge = PositionJudge::Search { playouts: 1000 };
        let found = course(&record, judge, &root, 2).unwrap();
        let before = &found[found.len() - 2];
        let won = record.result.verdict.outcome().unwrap();
        let winner = Seat::all(2).find(|seat| won.places[*seat] == 1).unwrap();
        assert!(before[winner].score > 0.9, "{before:?}");
    }

    /// Says each time a little more than before, of all four seats.
    #[derive(Default)]
    struct Counting(Arc<AtomicU32>);

    impl InProcessBot for Counting {
        fn sit(&self, _path: &str, _start: &Bytes) -> Result<Box<dyn InProcessSeat>, BotError> {
            Ok(Box::new(Self(Arc::clone(&self.0))))
        }
    }

    impl InProcessSeat for Counting {
        fn hear(&mut self, _call: &Bytes) -> Result<Option<Bytes>, BotError> {
            Ok(None)
        }

        fn shares(&mut self, _call: &Bytes) -> Result<Option<Vec<f64>>, BotError> {
            let number = self.0.fetch_add(1, Ordering::Relaxed) + 1;
            Ok(Some(vec![f64::from(number) / 1000.0; 4]))
        }
    }

    #[test]
    fn a_seat_with_hidden_cards_keeps_its_own_estimate() {
        let record = played(game("big_two").unwrap());
        let mut movers = Vec::new();
        for ply in plies(&record).unwrap() {
            movers.push(ply.seat);
        }
        let root: Root = "course".parse().unwrap();
        let bot = Counting::default();
        let found = course(&record, PositionJudge::Bot(&bot), &root, 1).unwrap();
        for (at, expects) in found[..movers.len()].iter().enumerate() {
            for (seat, one) in expects.iter() {
                let last = movers[..=at].iter().rposition(|mover| *mover == seat);
                let number = last.unwrap_or(at) + 1;
                let own = (number as f64 / 1000.0, 0.0);
                assert_eq!((one.score, one.error), own, "{seat} before {at}");
            }
        }
    }
}

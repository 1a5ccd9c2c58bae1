//! What each seat can expect: at one position, or over the whole course of a game.

use arena_events::replay::ExpectedScore;
use referee_core::{Dice, PerSeat, Record, Root, Seat, Table};
use referee_games::{Judgement, Mismatch, Retraced, retrace};

use crate::{
    parallel::in_parallel,
    search::{SEARCHES, mean_and_error, search, share},
};

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

/// What each seat could expect before each move of a game, in the order of
/// [`referee_games::replay`], and at last what it got; with all hands open. The same root finds the
/// same, with any number of threads.
///
/// # Errors
///
/// [`Mismatch`] where the record does not replay.
pub fn course(
    record: &Record,
    playouts: u32,
    root: &Root,
    threads: usize,
) -> Result<Vec<PerSeat<ExpectedScore>>, Mismatch> {
    let mut tables = Vec::new();
    let mut asked = None;
    retrace(record, |step| match step {
        Retraced::Asked { sitting, .. } => asked = Some(sitting.table().fork()),
        Retraced::Judged {
            judgement: Judgement::Accepted { .. } | Judgement::Fouled(_),
            ..
        } => tables.extend(asked.take()),
        _ => {}
    })?;
    let tables = tables.into_iter().enumerate().collect();
    let mut course = in_parallel(tables, threads, |(at, table): (usize, Box<dyn Table>)| {
        let mut dice = Dice::new(&root.seed("evaluate", at as u64));
        let means = (0..SEARCHES).map(|_| search(&*table, None, playouts, &mut dice));
        mean_and_error(&means.collect::<Vec<_>>())
    });
    if let Some(outcome) = record.result.verdict.outcome() {
        course.push(PerSeat::new(record.header.players.seats(), |seat: Seat| {
            ExpectedScore {
                score: share(outcome, seat),
                error: 0.0,
            }
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
            let found = course(&record, 4, &root, 1).unwrap();
            assert_eq!(found.len(), moves + 1);
            assert_eq!(found, course(&record, 4, &root, 3).unwrap(), "with threads");
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
        let found = course(&record, 1000, &root, 2).unwrap();
        let before = &found[found.len() - 2];
        let won = record.result.verdict.outcome().unwrap();
        let winner = Seat::all(2).find(|seat| won.places[*seat] == 1).unwrap();
        assert!(before[winner].score > 0.9, "{before:?}");
    }
}

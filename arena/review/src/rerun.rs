//! Asks another bot what a seat of a finished game was asked.

use std::{sync::Arc, time::Duration};

use referee::{Pool, Reanswer, RerunEnd, rerun as ask_all};
use referee_bots::{BotOptions, Entry, LaunchContext};
use referee_core::{Foul, Record, Seat};
use referee_games::SeatPart;
use tokio::sync::mpsc;

use crate::error::ReviewError;

/// The game, seat and bot of a rerun.
#[derive(Clone, Copy, Debug)]
pub struct RerunRequest<'a> {
    /// The game.
    pub record: &'a Record,
    /// The seat whose questions are asked.
    pub seat: Seat,
    /// The bot that is asked.
    pub bot: &'a Entry,
    /// The limit of a move; that of the record where there is none here.
    pub move_limit: Option<Duration>,
}

/// Result of a rerun.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RerunReport {
    /// Its end.
    pub end: RerunEnd,
    /// Number of moves that the bot was asked for.
    pub asked: usize,
    /// Number of moves that were the same.
    pub same: usize,
    /// Number of moves that were fouls.
    pub fouls: usize,
    /// The number of the first move that was not the same, from 1.
    pub first_difference: Option<usize>,
    /// The number of the first move that was a foul, and the foul.
    pub first_foul: Option<(usize, Foul)>,
}

impl RerunReport {
    fn add(&mut self, answer: &Reanswer) {
        self.asked += 1;
        if let Err(foul) = &answer.now {
            self.fouls += 1;
            self.first_foul
                .get_or_insert_with(|| (answer.ply, foul.clone()));
        }
        if answer.is_same() {
            self.same += 1;
        } else {
            self.first_difference.get_or_insert(answer.ply);
        }
    }
}

/// Asks a bot everything that a seat of a record was asked, and hands on each answer. The
/// bot gets what the seat was sent, and nothing else. Must be called on the runtime that
/// is to watch over its process, which has been stopped when this returns.
///
/// # Errors
///
/// [`ReviewError::Mismatch`] where the record does not replay; else our own failure.
pub async fn rerun(
    request: RerunRequest<'_>,
    context: &LaunchContext,
    pool: &Pool,
    mut each: impl FnMut(&Reanswer),
) -> Result<RerunReport, ReviewError> {
    let part = SeatPart::of(request.record, request.seat, request.move_limit)?;
    let options = BotOptions {
        start_limit: part.limits.start,
        memory_limit: None,
        measure_memory: false,
        directory: None,
    };
    let bot = context.bot(request.bot, &options, None, 0);
    let bot = Arc::new(bot.map_err(ReviewError::Socket)?);
    let mut report = RerunReport {
        end: RerunEnd::Whole,
        asked: 0,
        same: 0,
        fouls: 0,
        first_difference: None,
        first_foul: None,
    };
    let (sender, mut answers) = mpsc::unbounded_channel();
    let hearing = async {
        while let Some(answer) = answers.recv().await {
            report.add(&answer);
            each(&answer);
        }
    };
    let (end, ()) = tokio::join!(ask_all(part, bot.clone(), pool, sender), hearing);
    bot.stop().await;
    report.end = end?;
    Ok(report)
}

//! `arena check`: is this bot fit to enter?

use std::{path::PathBuf, time::Duration};

use clap::Args;
use referee::Memory;
use referee_core::{GameKind, Limits, Root};
use tokio::signal::unix::{SignalKind, signal};

use super::{Format, find_game};
use crate::{
    End,
    check::{self, Examiner, Report, Wanted},
    entry::{Entry, Start},
    files::{self, RunFolder},
    report, run, usage,
};

/// Puts a bot through every call of its games, whole games from each seat, several
/// at once, a game that is resumed, streams that are cancelled, and many games in a
/// row. Whatever is wrong is named, with how to mend it.
#[derive(Args)]
#[command(
    after_help = "Exit codes: 0 fit, warnings allowed; 1 a fault; 2 bad usage; 3 our own
failure; 130 stopped by Ctrl-C.

Examples:
  arena check exec:./my_bot --game connect-four
  arena check 'exec:python3 my_bot.py' --strict --format json
  arena check unix:/run/my_bot.sock --quick
  arena check --list"
)]
pub(crate) struct Check {
    /// The bot: house:NAME, strategy:FILE.so, exec:COMMAND, grpc://HOST:PORT or
    /// unix:PATH.
    #[arg(
        value_name = "SPEC",
        required_unless_present = "list",
        conflicts_with = "list"
    )]
    bot: Option<String>,
    /// A game that it must play, once for each [default: those that it is found to
    /// play].
    #[arg(long = "game", value_name = "GAME")]
    games_played: Vec<String>,
    /// What one move may take; an answer at exactly this time is late.
    #[arg(long, default_value = "3s", value_parser = run::positive_duration)]
    move_limit: Duration,
    /// What the bot has to start and say that it is ready.
    #[arg(long, default_value = "10s", value_parser = run::positive_duration)]
    start_limit: Duration,
    /// How much memory its process may add after it has started, in MiB.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_limit: Option<u64>,
    /// Over how many games its memory is watched, where they fit in the time; 0 for
    /// none.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    games: u64,
    /// About how long each of the longer looks may take: who thinks for long plays
    /// fewer games, and is told so.
    #[arg(long, default_value = "10s", value_parser = run::positive_duration)]
    patience: Duration,
    /// One game from each seat, each beginning from one seat, and no watch of its
    /// memory.
    #[arg(long)]
    quick: bool,
    /// Warnings are faults.
    #[arg(long)]
    strict: bool,
    /// Other deals: a number or a word.
    #[arg(long, default_value = "check")]
    seed: String,
    /// Keep the games with a foul, and what the bot prints, in this folder, which
    /// must be new or empty.
    #[arg(long, value_name = "FOLDER")]
    records: Option<PathBuf>,
    /// Print all that can be found, with what is expected and how to mend it.
    #[arg(long)]
    list: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Check {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        if self.list {
            check::catalogue(self.format)?;
            return Ok(End::Done);
        }
        let Some(bot) = &self.bot else {
            return usage("expected the bot to check, as in arena check exec:./my_bot");
        };
        let entry = Entry::read(bot)?;
        entry.must_be_there()?;
        if let Some(remark) = entry.remark() {
            anstream::eprintln!("{}", report::wrapped(&format!("note: {remark}")));
        }
        let kinds = self.kinds(&entry)?;
        let root: Root = self
            .seed
            .parse()
            .or_else(|error| usage(format!("--seed: {error}")))?;
        let records = match &self.records {
            Some(folder) => Some(RunFolder::create(Some(folder), "check")?),
            None => None,
        };
        let printed = files::temporary()?;
        let logs = match &records {
            Some(folder) => folder.logs(),
            None => printed.path().to_owned(),
        };
        let memory = Memory {
            limit: self.memory_limit.map(|mib| mib * 1024 * 1024),
            gauge: None,
        };
        let start = Start::new(self.start_limit, memory, Some(logs))?;
        let wanted = Wanted {
            kinds,
            limits: Limits {
                start: self.start_limit,
                per_move: self.move_limit,
                ..Limits::default()
            },
            games: self.games,
            patience: self.patience,
            quick: self.quick,
            root,
            records,
        };
        // From here on a signal does not end us before the bot has been stopped.
        let mut interrupt = signal(SignalKind::interrupt())?;
        let mut terminate = signal(SignalKind::terminate())?;
        let mut report = Report::new(self.format, self.strict, &entry.spec);
        let mut examiner = Examiner::new(&entry, &start, &wanted, &mut report);
        let examined = tokio::select! {
            examined = examiner.examine() => Some(examined),
            _ = interrupt.recv() => None,
            _ = terminate.recv() => None,
        };
        examiner.end().await;
        if let Some(folder) = &wanted.records {
            folder.drop_empty_logs();
        }
        let Some(examined) = examined else {
            report.stopped()?;
            return Ok(End::Interrupted);
        };
        examined?;
        Ok(if report.end()? { End::Done } else { End::No })
    }

    /// The games that are named. A house bot says itself which it plays.
    fn kinds(&self, entry: &Entry) -> anyhow::Result<Option<Vec<&'static dyn GameKind>>> {
        let mut kinds = Vec::new();
        for game in &self.games_played {
            let kind = find_game(game)?;
            entry.must_play(kind.info())?;
            let new = |known: &&dyn GameKind| known.info().name != kind.info().name;
            if kinds.iter().all(new) {
                kinds.push(kind);
            }
        }
        Ok((!kinds.is_empty()).then_some(kinds))
    }
}

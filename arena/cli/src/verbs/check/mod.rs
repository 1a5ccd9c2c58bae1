//! `arena check`: is this bot fit to enter?

mod print;

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use anyhow::Context as _;
use arena_check::{CheckOptions, check};
use arena_events::{
    Event,
    check::{CheckEndedEvent, CheckStartedEvent, FindingSeverity},
};
use arena_terminal::{Format, move_limit, start_limit};
use arena_tournament::{events, parse_limit};
use clap::Args;
use referee_bots::{BotOptions, Entry, LaunchOptions};
use referee_cli::LaunchArgs;
use referee_core::{Limits, Root};
use referee_games::game_name;
use referee_worker::RecordFolder;

use self::print::Printer;
use super::games_of;
use crate::{End, bots::schemes, play::RunFolder, report, stop, usage};

/// Puts a bot through every call of its games, whole games from each seat, several
/// at once, a game that is resumed, streams that are cancelled, and many games in a
/// row. Whatever is wrong is named, with how to fix it.
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
    /// The bot: house:NAME, exec:COMMAND, stdio:COMMAND, gtp:COMMAND, kaggle:FILE.py,
    /// strategy:FILE.so, image:NAME, grpc://HOST:PORT or unix:PATH.
    #[arg(value_name = "SPEC", required_unless_present = "list")]
    bot: Option<String>,
    /// A game that it must play, once for each [default: those that it is found to
    /// play].
    #[arg(long = "game", value_name = "GAME")]
    games_played: Vec<String>,
    /// The time limit for one move; an answer at exactly this time is late.
    #[arg(long, default_value = move_limit(), value_parser = parse_limit)]
    move_limit: Duration,
    /// The time limit for the bot to start and say that it is ready.
    #[arg(long, default_value = start_limit(), value_parser = parse_limit)]
    start_limit: Duration,
    /// How much memory its process may add after it has started, in MiB.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_limit: Option<u64>,
    /// Over how many games its memory is watched, where they fit in the time; 0 for
    /// none.
    #[arg(long, default_value_t = 1000, value_parser = clap::value_parser!(u64).range(..=1_000_000))]
    games: u64,
    /// About how long each of the longer stages may take. A bot that thinks for long
    /// plays fewer games in it, and the report says how many.
    #[arg(long, default_value = "10s", value_parser = parse_limit)]
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
    #[command(flatten)]
    launch: LaunchArgs,
    /// Print all that can be found, with what is expected and how to fix it.
    #[arg(
        long,
        conflicts_with_all = ["bot", "games_played", "memory_limit", "quick", "strict", "records"]
    )]
    list: bool,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// A bot that thinks for less than this part of the limit may have meant more.
const SHORT_PART: u32 = 50;

impl Check {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        if self.list {
            print::catalogue(self.format)?;
            return Ok(End::Done);
        }
        let Some(bot) = &self.bot else {
            return usage("expected the bot to check, as in arena check exec:./my_bot");
        };
        let directory = std::env::current_dir().context("the folder of this process is gone")?;
        let entry = Entry::read(bot, &schemes()?)?;
        entry.check_files(&directory)?;
        let mut options = self.options(&entry, &directory)?;
        let records = match &self.records {
            Some(folder) => Some(RunFolder::create(Some(folder), "check")?),
            None => None,
        };
        let folder = records.as_ref();
        options.records = folder.map(|folder| RecordFolder::new(folder.path().to_owned()));
        let printed = tempfile::tempdir()
            .context("could not make a folder among the temporary files (TMPDIR)")?;
        let logs = match &records {
            Some(folder) => std::path::absolute(folder.logs())?,
            None => printed.path().to_owned(),
        };
        let sandbox = self.launch.around([&entry], [logs.clone()])?;
        referee_cli::sandbox::note(sandbox.as_ref());
        let walls = sandbox.as_ref().map(|sandbox| sandbox.walls().clone());
        let launch = LaunchOptions {
            logs: Some(logs),
            ..self.launch.options(sandbox)?
        };
        let context = launch.open(directory.clone())?;
        let bot_options = BotOptions {
            start_limit: self.start_limit,
            memory_limit: self.memory_limit.map(|mib| mib * 1024 * 1024),
            measure_memory: false,
            directory: None,
        };
        if self.format == Format::Json {
            report::event(Event::CheckStarted(self.started(&entry, &options)))?;
        }
        let stop = stop::at_once_on_signals()?;
        let mut printer = Printer::new(self.format, &entry, &directory, walls.as_ref(), &stop);
        let checked = check(
            &entry,
            &context,
            &bot_options,
            &options,
            &stop,
            &mut printer,
        )
        .await;
        if let Some(folder) = &records {
            folder.drop_empty_logs();
        }
        let checked = checked?;
        printer.findings(&checked)?;
        let short = self.move_limit / SHORT_PART;
        if let Some(remark) = entry.launcher().remark()
            && checked.usual_thought.is_some_and(|usual| usual < short)
        {
            report::note(remark);
        }
        if checked.is_stopped {
            if self.format == Format::Text {
                report::heading("stopped before the end")?;
            }
            return Ok(End::Interrupted);
        }
        let fit = checked.is_fit(self.strict);
        match self.format {
            Format::Json => report::event(Event::CheckEnded(CheckEndedEvent {
                spec: entry.spec,
                fit,
                faults: checked.count(FindingSeverity::Fault) as u64,
                warnings: checked.count(FindingSeverity::Warning) as u64,
                strict: self.strict,
            }))?,
            Format::Text => print::verdict(&checked, fit)?,
        }
        Ok(if fit { End::Done } else { End::No })
    }

    /// Options of the check; its records are not kept yet.
    fn options(&self, entry: &Entry, directory: &Path) -> anyhow::Result<CheckOptions> {
        let kinds = games_of(entry, &self.games_played, directory)?;
        let root: Root = self
            .seed
            .parse()
            .or_else(|error| usage(format!("--seed: {error}")))?;
        Ok(CheckOptions {
            kinds: (!kinds.is_empty()).then_some(kinds),
            limits: Limits {
                start: self.start_limit,
                per_move: self.move_limit,
                ..Limits::default()
            },
            games: self.games,
            patience: self.patience,
            quick: self.quick,
            root,
            records: None,
        })
    }

    /// The beginning of the check, for programs.
    fn started(&self, entry: &Entry, options: &CheckOptions) -> CheckStartedEvent {
        let kinds = options.kinds.as_ref();
        CheckStartedEvent {
            spec: entry.spec.clone(),
            games: kinds.map(|kinds| {
                kinds
                    .iter()
                    .map(|kind| game_name(kind.info().name))
                    .collect()
            }),
            limits: events::limits(&options.limits, self.memory_limit),
            quick: self.quick,
            strict: self.strict,
            records: self
                .records
                .as_ref()
                .map(|folder| folder.display().to_string()),
        }
    }
}

//! `arena match`: two bots against each other, every deal from every seating.

use std::{fmt::Write as _, path::PathBuf, time::Duration};

use anyhow::Context as _;
use clap::{Args, ValueEnum};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use referee_core::{GameKind, Limits, Root};
use referee_games::{GAMES, game};
use serde_json::json;

use super::Format;
use crate::{
    End, classic,
    entry::{self, Entry},
    files::RunFolder,
    report,
    run::{self, Pairing, RunEnd, Stop, Table},
    tally::{GameResult, Tally},
    usage,
};

/// Bots against each other, every deal from every seating.
#[derive(Args)]
#[command(after_help = after_help())]
pub(crate) struct Match {
    /// The game, for example connect-four.
    game: String,
    /// A bot: NAME=SPEC, once for each seat.
    #[arg(long = "bot", value_name = "NAME=SPEC", required = true)]
    bots: Vec<String>,
    /// How many deals; each is played from every seating.
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    rounds: u64,
    #[command(flatten)]
    terms: Terms,
    /// What to print at the end.
    #[arg(long, value_enum)]
    report: Option<Report>,
    /// What goes to standard output: json is the same as --report json.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// How a run is played, whatever is played.
#[derive(Args)]
pub(crate) struct Terms {
    /// Play the same deals again: a number, a word, or the root that an earlier
    /// run showed at its end.
    #[arg(long)]
    seed: Option<String>,
    /// What one move may take; an answer at exactly this time is late.
    #[arg(long, env = "ARENA_MOVE_LIMIT", default_value = "3s", value_parser = run::positive_duration)]
    move_limit: Duration,
    /// What a bot has to start and say that it is ready.
    #[arg(long, env = "ARENA_START_LIMIT", default_value = "10s", value_parser = run::positive_duration)]
    start_limit: Duration,
    /// How much memory a bot process may add after it has started, in MiB.
    #[arg(long, value_name = "MIB", value_parser = clap::value_parser!(u64).range(1..=1 << 24))]
    memory_limit: Option<u64>,
    /// How many games are played at once [default: the number of cores].
    #[arg(long, env = "ARENA_CONCURRENCY", value_parser = clap::value_parser!(u64).range(1..=100_000))]
    concurrency: Option<u64>,
    /// The game's set-up as JSON, where it is not the standard one.
    #[arg(long)]
    setup: Option<String>,
    /// Where records and logs go [default: a new folder in arena-runs].
    #[arg(long)]
    records: Option<PathBuf>,
    /// Keep no records.
    #[arg(long, conflicts_with = "records")]
    no_records: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Report {
    /// Standings for people.
    Table,
    /// One event a line: every game, then the standings.
    Json,
    /// The text file that classic tools read (two bots).
    Classic,
}

/// What came of a run.
pub(crate) struct Outcome {
    pub(crate) tally: Tally,
    pub(crate) games: Vec<GameResult>,
    pub(crate) end: RunEnd,
    pub(crate) folder: Option<RunFolder>,
}

impl Match {
    /// Plays it and reports.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let kind = find_game(&self.game)?;
        let entries = Entry::read_all(&self.bots)?;
        let seats = usize::from(kind.info().seats);
        if entries.len() != seats {
            return usage(format!(
                "{} has {seats} seats: expected --bot {seats} times, found {}",
                self.game,
                entries.len()
            ));
        }
        let report = match (self.report, self.format) {
            (None, Format::Text) => Report::Table,
            (None | Some(Report::Json), _) => Report::Json,
            (Some(report), Format::Text) => report,
            (Some(_), Format::Json) => {
                return usage("--format json goes with --report json, or with no --report");
            }
        };
        if report == Report::Classic && seats != 2 {
            return usage("--report classic is for games of two seats");
        }
        let bots: Vec<usize> = (0..seats).collect();
        let pairings = Pairing::rounds(&bots, 0, self.rounds);
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let json = report == Report::Json;
        let outcome = self
            .terms
            .play("match", kind, &entries, &pairings, |result| {
                if json {
                    report::event(&report::game_event(result, &names))
                } else {
                    Ok(())
                }
            })
            .await?;
        match report {
            Report::Table => report::table(&outcome.tally, &names)?,
            Report::Json => report::event(&report::standings_event(&outcome.tally, &names))?,
            Report::Classic => report::text(&classic::report(&whole_rounds(&outcome.games)))?,
        }
        outcome.close(&names)
    }
}

/// The games of those rounds that have been played from every seating.
fn whole_rounds(games: &[GameResult]) -> Vec<GameResult> {
    let seatings = |group| games.iter().filter(|g| g.pairing.group == group).count();
    games
        .iter()
        .filter(|game| seatings(game.pairing.group) == game.pairing.bots.len())
        .cloned()
        .collect()
}

/// The game of this name.
pub(crate) fn find_game(name: &str) -> anyhow::Result<&'static dyn GameKind> {
    let Some(kind) = game(name) else {
        let known: Vec<_> = GAMES.iter().map(|game| game.info().name).collect();
        return usage(format!(
            "there is no game \"{name}\"; expected {}",
            known.join(", ").replace('_', "-")
        ));
    };
    Ok(kind)
}

impl Terms {
    /// What holds if nobody says anything.
    pub(crate) fn standard() -> Self {
        let limits = Limits::default();
        Self {
            seed: None,
            move_limit: limits.per_move,
            start_limit: limits.start,
            memory_limit: None,
            concurrency: None,
            setup: None,
            records: None,
            no_records: false,
        }
    }

    /// Plays these games on these terms, with progress on standard error.
    pub(crate) async fn play(
        &self,
        verb: &str,
        kind: &'static dyn GameKind,
        entries: &[Entry],
        pairings: &[Pairing],
        mut each: impl FnMut(&GameResult) -> anyhow::Result<()>,
    ) -> anyhow::Result<Outcome> {
        for entry in entries {
            entry.must_play(kind.info())?;
        }
        let setup = self.setup(kind)?;
        let root: Root = match &self.seed {
            Some(seed) => seed
                .parse()
                .or_else(|error| usage(format!("--seed: {error}")))?,
            None => run::secret_root()?,
        };
        let limits = Limits {
            start: self.start_limit,
            per_move: self.move_limit,
            ..Limits::default()
        };
        let folder = if self.no_records {
            None
        } else {
            Some(RunFolder::create(self.records.as_deref(), verb)?)
        };
        let supervisor = entry::supervisor().context("could not start the supervisor")?;
        let logs = folder.as_ref().map(RunFolder::logs);
        let memory_limit = self.memory_limit.map(|mib| mib * 1024 * 1024);
        let bots = entries
            .iter()
            .map(|entry| entry.bot(&limits, memory_limit, logs.as_deref(), &supervisor))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let mut about = json!({
            "verb": verb,
            "game": kind.info().name,
            "rules_version": kind.info().rules_version,
            "bots": entries.iter().map(|e| json!({"name": e.name, "spec": e.spec})).collect::<Vec<_>>(),
            "games": pairings.len(),
            "setup": setup,
            "limits": limits,
            "root_commitment": root.commitment(),
            "reproduction": self.seed.is_some(),
        });
        if let Some(folder) = &folder {
            folder.describe(&about)?;
        }
        if self.seed.is_none() {
            anstream::eprintln!("root committed, sha256:\n  {}", root.commitment());
        }
        let table = Table {
            kind,
            setup,
            limits,
            root,
            names: names.clone(),
            bots,
        };
        let stop = Stop::on_signals()?;
        let progress = progress(pairings.len() as u64);
        let mut tally = Tally::new(entries.len());
        let mut results: Vec<Option<GameResult>> = vec![None; pairings.len()];
        let end = run::run(
            &table,
            pairings,
            self.concurrency
                .map_or_else(run::standard_concurrency, |games| games as usize),
            &stop,
            async |index, pairing, played| {
                let mut result = GameResult::new(pairing, &played.record);
                tally.add(&result, &played.record, played.voided);
                if let Some(folder) = &folder {
                    result.record = Some(folder.write(played.record).await?);
                }
                each(&result)?;
                results[index] = Some(result);
                progress.inc(1);
                Ok(())
            },
        )
        .await;
        progress.finish_and_clear();
        let end = end?;
        about["root"] = json!(table.root.reveal());
        about["played"] = json!(tally.games());
        if let Some(folder) = &folder {
            folder.describe(&about)?;
        }
        if self.seed.is_none() {
            anstream::eprintln!(
                "root, to be typed as --seed of a match:\n  {}",
                table.root.reveal()
            );
        }
        Ok(Outcome {
            tally,
            games: results.into_iter().flatten().collect(),
            end,
            folder,
        })
    }

    fn setup(&self, kind: &dyn GameKind) -> anyhow::Result<serde_json::Value> {
        let setup = match &self.setup {
            None => serde_json::Value::Null,
            Some(text) => serde_json::from_str(text)
                .or_else(|error| usage(format!("--setup: expected a JSON object: {error}")))?,
        };
        kind.setup(&setup)
            .or_else(|error| usage(format!("--setup: {error}")))
    }
}

impl Outcome {
    /// What remains to be said, on standard error, and how the program ends.
    pub(crate) fn close(&self, names: &[String]) -> anyhow::Result<End> {
        report::warnings(&self.tally, names);
        if let Some(folder) = &self.folder {
            anstream::eprintln!("records: {}", folder.path().display());
        }
        if self.end == RunEnd::Stopped {
            anstream::eprintln!(
                "stopped after {}",
                crate::tally::plural(self.tally.games(), "game")
            );
            return Ok(End::Interrupted);
        }
        Ok(if self.tally.never_started().is_empty() {
            End::Done
        } else {
            End::No
        })
    }
}

/// The games and their set-ups, the bots and their parameters, examples.
fn after_help() -> String {
    let mut help = "Games:\n".to_owned();
    for kind in GAMES {
        let info = kind.info();
        let setup = kind.setup(&serde_json::Value::Null).unwrap_or_default();
        let name = info.name.replace('_', "-");
        let _ = writeln!(help, "  {name}: {}, {} seats", info.title, info.seats);
        let _ = writeln!(help, "    standard --setup '{setup}'");
    }
    help.push_str(
        "
A bot is house:NAME?parameter=value&…, exec:COMMAND (the arena starts it and
tells it in BOT_LISTEN where to listen), grpc://HOST:PORT or unix:PATH (it runs
already). The house's bots:
",
    );
    help.push_str(&house_bots::catalogue());
    help.push_str(
        "
Examples:
  arena match connect-four --bot a=house:uct?time=200ms --bot b=house:random
  arena match connect-four --bot me='exec:python3 my_bot.py' --bot house:random
  arena match connect-four --bot new=exec:./v2 --bot old=exec:./v1 --rounds 100
  arena match connect-four --bot house:uct --bot house:random \\
    --setup '{\"rows\":9,\"columns\":9,\"forbidden\":{\"at\":{\"x\":4,\"y\":4}}}'
  arena match connect-four --bot me=grpc://localhost:50051 --bot house:random \\
    --report classic > report.txt",
    );
    help
}

/// Games done, games a second, time left; only on a terminal.
fn progress(games: u64) -> ProgressBar {
    let style = ProgressStyle::with_template("{bar:30} {pos}/{len} games  {rate}  {eta} left")
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{:.1}/s", state.per_sec());
            },
        );
    let bar =
        ProgressBar::with_draw_target(Some(games), ProgressDrawTarget::stderr()).with_style(style);
    // It should be there before the first game has ended.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

//! `arena match`: two bots against each other, every deal from every seating.

use std::{collections::BTreeMap, fmt::Write as _, fs, path::PathBuf, time::Duration};

use arena_ladder::{Seatings, Sprt};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use owo_colors::OwoColorize as _;
use referee::Memory;
use referee_core::{GameKind, Limits, Root};
use referee_games::{GAMES, game};
use serde_json::json;

use super::Format;
use crate::{
    End, classic,
    entry::{Entry, Start},
    files::RunFolder,
    report,
    run::{self, Pairing, RunEnd, Table},
    setups::{self, Setups},
    stop::Stop,
    strength::{InOrder, Strength},
    tally::{GameResult, Tally, plural},
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
    /// From which seatings each deal is played: for four bots 4 or all 24.
    #[arg(long, value_parser = seatings(), default_value = "rotations")]
    seatings: Seatings,
    #[command(flatten)]
    terms: Terms,
    /// Stop as soon as a test of two may: elo0=0 elo1=10, with alpha=0.05
    /// beta=0.05 model=normalized (or logistic) if nothing else is said. --rounds
    /// is the most that is played.
    #[arg(long, num_args = 1..=5, value_name = "KEY=VALUE")]
    sprt: Vec<String>,
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
    /// The same from a file that only you can read.
    #[arg(long, value_name = "FILE", conflicts_with = "seed")]
    seed_file: Option<PathBuf>,
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
    /// A list of set-ups, one a line, in the game's notation or as JSON: each
    /// deal takes the next. Empty lines and those that begin with # say
    /// nothing.
    #[arg(long, value_name = "FILE", conflicts_with = "setup")]
    openings: Option<PathBuf>,
    /// Where records and logs go [default: a new folder in arena-runs].
    #[arg(long)]
    records: Option<PathBuf>,
    /// Keep no records.
    #[arg(long, conflicts_with = "records")]
    no_records: bool,
    /// Whether to show what decides the deals: the hash of it before, itself
    /// after.
    #[arg(skip = true)]
    show_root: bool,
    /// What may stop it before the end.
    #[arg(skip)]
    sprt: Option<Sprt>,
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
    /// How many deals were played from some seatings and not from others.
    halves: u32,
    /// Games that were begun before the test had stopped the match, and that do
    /// not count.
    in_vain: u32,
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
        let independent = kind.has_secrets() && !entries.iter().all(Entry::is_ours_to_start);
        if report == Report::Classic && independent {
            return usage(
                "--report classic counts rounds of two games with one deal, and against a bot \
                 that the arena does not start every game has a deal of its own; \
                 use --report table or json",
            );
        }
        let bots: Vec<usize> = (0..seats).collect();
        let pairings = Pairing::rounds(&bots, self.seatings, 0, self.rounds);
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        let games_a_deal = if independent {
            1
        } else {
            self.seatings.games(seats)
        };
        let json = report == Report::Json;
        let sprt = self.sprt(seats)?;
        let terms = Terms { sprt, ..self.terms };
        let outcome = terms
            .play("match", kind, &entries, &pairings, |result| {
                if json {
                    report::event(&report::game_event(result, &names))
                } else {
                    Ok(())
                }
            })
            .await?;
        let strength = Strength::of(
            kind.info().seats,
            games_a_deal,
            &outcome.games,
            sprt.as_ref(),
        );
        match report {
            Report::Table => {
                report::table(&outcome.tally, &names)?;
                strength.show(&names)?;
            }
            Report::Json => {
                let mut event = report::standings_event(&outcome.tally, &names);
                event["ratings"] = strength.event();
                report::event(&event)?;
            }
            Report::Classic => report::text(&classic::report(&whole_rounds(&outcome.games)))?,
        }
        outcome.close(&names)
    }
}

impl Match {
    /// The test that may stop it.
    fn sprt(&self, seats: usize) -> anyhow::Result<Option<Sprt>> {
        if self.sprt.is_empty() {
            return Ok(None);
        }
        if seats != 2 {
            return usage("--sprt is a test of two; it does not go with a game of four seats");
        }
        let sprt = self.sprt.join(" ").parse();
        sprt.map(Some)
            .or_else(|error| usage(format!("--sprt: {error}")))
    }
}

/// The games of those rounds that have been played from every seating.
fn whole_rounds(games: &[GameResult]) -> Vec<GameResult> {
    let played = by_deal(games.iter().map(|game| &game.pairing));
    games
        .iter()
        .filter(|game| played[&game.pairing.group] == game.pairing.bots.len())
        .cloned()
        .collect()
}

/// How many games there are of each deal.
fn by_deal<'a>(games: impl Iterator<Item = &'a Pairing>) -> BTreeMap<u64, usize> {
    let mut count = BTreeMap::new();
    for game in games {
        *count.entry(game.group).or_default() += 1;
    }
    count
}

/// The game of this name.
pub(crate) fn find_game(name: &str) -> anyhow::Result<&'static dyn GameKind> {
    let Some(kind) = game(name) else {
        let known: Vec<String> = GAMES
            .iter()
            .map(|game| game.info().name.replace('_', "-"))
            .collect();
        let known: Vec<&str> = known.iter().map(String::as_str).collect();
        let meant = house_bots::closest(name, &known)
            .map_or_else(String::new, |like| format!(" (did you mean {like}?)"));
        return usage(format!(
            "there is no game \"{name}\"{meant}; expected {}",
            known.join(", ")
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
            seed_file: None,
            move_limit: limits.per_move,
            start_limit: limits.start,
            memory_limit: None,
            concurrency: None,
            setup: None,
            openings: None,
            records: None,
            no_records: false,
            show_root: false,
            sprt: None,
        }
    }

    /// The same, and nothing is kept.
    pub(crate) fn unrecorded() -> Self {
        Self {
            no_records: true,
            ..Self::standard()
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
        let setups = Setups::new(kind, self.setups(kind)?)?;
        let mut pairings = pairings.to_vec();
        if kind.has_secrets() {
            if entries.iter().all(Entry::is_ours_to_start) {
                if entries.iter().any(Entry::is_exec) {
                    anstream::eprintln!(
                        "note: not isolated: every seating of a deal is played by fresh processes, \
                         but what a bot writes to disk outlives them"
                    );
                }
            } else {
                anstream::eprintln!(
                    "note: a bot that the arena does not start would remember a deal from one \
                     seating to the next, so every game has a deal of its own and counts by itself"
                );
                Pairing::independent(&mut pairings);
                if setups.repeat(pairings.iter().map(|pairing| pairing.group)) {
                    return usage(format!(
                        "the set-up says who is dealt what, and a bot that the arena does not \
                         start would know it the second time: expected --openings with another \
                         deal for each of the {} games, or bots that the arena starts",
                        pairings.len()
                    ));
                }
            }
        }
        let root = self.root()?;
        let reproduction = self.seed.is_some() || self.seed_file.is_some();
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
        let memory = Memory {
            limit: self.memory_limit.map(|mib| mib * 1024 * 1024),
            gauge: None,
        };
        let logs = folder.as_ref().map(RunFolder::logs);
        let start = Start::new(self.start_limit, memory, logs)?;
        let mut about = json!({
            "verb": verb,
            "game": kind.info().name,
            "rules_version": kind.info().rules_version,
            "bots": entries.iter().map(|e| json!({"name": e.name, "spec": e.spec})).collect::<Vec<_>>(),
            "games": pairings.len(),
            "limits": limits,
            "root_commitment": root.commitment(),
            "reproduction": reproduction,
        });
        if let Some(folder) = &folder {
            folder.describe(&about)?;
        }
        let show_root = self.show_root && !reproduction;
        if show_root {
            anstream::eprintln!("root committed, sha256:\n  {}", root.commitment());
        }
        let table = Table {
            kind,
            setups,
            limits,
            root,
            entries: entries.to_vec(),
            start,
        };
        let stop = Stop::on_signals(None)?;
        let progress = report::progress(Some(pairings.len() as u64));
        let mut tally = Tally::new(entries.len(), kind.info());
        let mut results: Vec<Option<GameResult>> = vec![None; pairings.len()];
        let mut test = self.sprt.map(|sprt| InOrder::new(sprt, &pairings));
        let end = run::run(
            &table,
            &pairings,
            self.concurrency
                .map_or_else(run::standard_concurrency, |games| games as usize),
            &stop,
            || progress.inc(1),
            async |index, pairing, played| {
                let mut result = GameResult::new(pairing, &played.record);
                match &mut test {
                    None => tally.add(&result, &played.record, played.voided),
                    Some(test) => {
                        test.take(result.clone(), played.record.clone(), played.voided);
                        test.count(&mut tally);
                        if test.is_decided() {
                            stop.ask();
                        }
                    }
                }
                if let Some(folder) = &folder {
                    result.record = Some(folder.write(played.record).await?);
                }
                each(&result)?;
                results[index] = Some(result);
                Ok(())
            },
        )
        .await;
        progress.finish_and_clear();
        let mut end = end?;
        if test.as_ref().is_some_and(InOrder::is_decided) {
            end = RunEnd::Whole;
        }
        // Whoever keeps it in a file wants to use it again.
        if self.seed_file.is_none() {
            about["root"] = json!(table.root.reveal());
        }
        // A set-up may be a whole deal, so it stands there only when all is over.
        about["setups"] = json!(table.setups.list());
        about["played"] = json!(tally.games());
        if let Some(folder) = &folder {
            folder.describe(&about)?;
        }
        if show_root {
            anstream::eprintln!("root, to be typed as --seed:\n  {}", table.root.reveal());
        }
        let mut games: Vec<GameResult> = results.into_iter().flatten().collect();
        let all = games.len();
        if let Some(test) = &test {
            games.retain(|game| test.counts(game.pairing.group));
        }
        Ok(Outcome {
            in_vain: (all - games.len()) as u32,
            halves: halves(&pairings, &games),
            tally,
            games,
            end,
            folder,
        })
    }

    /// Sets the memory limit, in MiB, unless a person has chosen one.
    pub(crate) fn allow_at_most(&mut self, mib: u64) {
        self.memory_limit.get_or_insert(mib);
    }

    /// What decides all chance.
    fn root(&self) -> anyhow::Result<Root> {
        match (&self.seed, &self.seed_file) {
            (Some(seed), _) => seed
                .parse()
                .or_else(|error| usage(format!("--seed: {error}"))),
            (None, Some(file)) => {
                let what = format!("--seed-file {}", file.display());
                let text =
                    fs::read_to_string(file).or_else(|error| usage(format!("{what}: {error}")))?;
                text.parse()
                    .or_else(|error| usage(format!("{what}: {error}")))
            }
            (None, None) => run::secret_root(),
        }
    }

    /// The set-ups that the deals take in turn.
    fn setups(&self, kind: &dyn GameKind) -> anyhow::Result<Vec<serde_json::Value>> {
        if let Some(file) = &self.openings {
            return setups::openings(file, kind);
        }
        let setup = match &self.setup {
            None => serde_json::Value::Null,
            Some(text) => serde_json::from_str(text)
                .or_else(|error| usage(format!("--setup: expected a JSON object: {error}")))?,
        };
        let setup = kind
            .setup(&setup)
            .or_else(|error| usage(format!("--setup: {error}")))?;
        Ok(vec![setup])
    }
}

/// The seatings that a person can choose.
fn seatings() -> impl clap::builder::TypedValueParser<Value = Seatings> {
    PossibleValuesParser::new(["rotations", "all"]).map(|name| match &*name {
        "all" => Seatings::All,
        _ => Seatings::Rotations,
    })
}

/// How many deals were begun and not played from every seating.
fn halves(planned: &[Pairing], played: &[GameResult]) -> u32 {
    let planned = by_deal(planned.iter());
    let played = by_deal(played.iter().map(|game| &game.pairing));
    let halves = played
        .iter()
        .filter(|(deal, games)| **games < planned[deal]);
    halves.count() as u32
}

impl Outcome {
    /// What remains to be said, on standard error, and how the program ends.
    pub(crate) fn close(&self, names: &[String]) -> anyhow::Result<End> {
        report::warnings(&self.tally, names);
        if let Some(folder) = &self.folder {
            anstream::eprintln!("records: {}", folder.path().display());
        }
        if self.in_vain > 0 {
            anstream::eprintln!(
                "note: {} before the test had stopped the match, and not counted",
                match self.in_vain {
                    1 => "1 game was begun".to_owned(),
                    many => format!("{many} games were begun"),
                }
            );
        }
        if self.end == RunEnd::Stopped {
            anstream::eprintln!("stopped after {}", plural(self.tally.games(), "game"));
            if self.halves > 0 {
                anstream::eprintln!(
                    "{} {} not played from every seating: who sat where may have decided",
                    "warning:".yellow().bold(),
                    match self.halves {
                        1 => "1 deal was".to_owned(),
                        many => format!("{many} deals were"),
                    },
                );
            }
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
tells it in BOT_LISTEN where to listen), strategy:FILE.so (a compiled Connect
Four strategy; ?clock-scale=1000 if it counts clock() in milliseconds),
grpc://HOST:PORT or unix:PATH (it runs already). The house's bots:
",
    );
    for line in house_bots::catalogue().lines() {
        let _ = writeln!(help, "{}", report::wrapped(line));
    }
    help.push_str(
        "
Examples:
  arena match connect-four --bot 'a=house:uct?time=200ms' --bot b=house:random
  arena match connect-four --bot me='exec:python3 my_bot.py' --bot house:random
  arena match connect-four --bot new=exec:./v2 --bot old=exec:./v1 --rounds 100
  arena match othello --bot house:weights --bot house:random --openings list.txt
  arena match mahjong --bot house:shanten --bot house:simple --rounds 100
  arena match big-two --bot house:ai1 --bot house:ai2 --bot house:ai3 \\
    --bot house:random --seatings all
  arena match connect-four --bot house:uct --bot house:random \\
    --setup '{\"rows\":9,\"columns\":9,\"forbidden\":{\"at\":{\"x\":4,\"y\":4}}}'
  arena match connect-four --bot me=grpc://localhost:50051 --bot house:random \\
    --report classic > report.txt",
    );
    help
}

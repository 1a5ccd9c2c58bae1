//! `arena match`: two bots against each other, or as many as the game has seats, every
//! deal from every seating.

use std::fmt::Write as _;

use arena_events::{Event, run::RunCommand};
use arena_ladder::{ScheduleShape, Seatings, Sprt};
use arena_store::GameRow;
use arena_terminal::{Format, Reporter};
use arena_tournament::{DEALS, find_game};
use clap::{
    Args, ValueEnum,
    builder::{PossibleValuesParser, TypedValueParser as _},
};
use referee::BotSandbox;
use referee_bots::Entry;
use referee_games::{GAMES, game_name};

use crate::{
    End, classic,
    play::{FoulArgs, RunArgs, describe, note_isolation},
    report, show, stop, usage,
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
    #[arg(long, alias = "rounds", default_value_t = DEALS, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    deals: u64,
    /// From which seatings each deal is played: for four bots 4 or all 24.
    #[arg(long, value_parser = seatings(), default_value = "rotations")]
    seatings: Seatings,
    #[command(flatten)]
    run: RunArgs,
    /// Stop when the SPRT decides: elo0=0 elo1=10, with alpha=0.05 beta=0.05
    /// model=normalized (or logistic) as defaults. --deals is the most that is
    /// played. Exit code 0 if H1 is accepted, else 1. A match that was stopped
    /// can't be resumed; a tournament with stop.sprt can.
    #[arg(long, num_args = 1..=5, value_name = "KEY=VALUE")]
    sprt: Vec<String>,
    #[command(flatten)]
    fouls: FoulArgs,
    /// What to print at the end.
    #[arg(long, value_enum)]
    report: Option<Report>,
    /// Print one object at the end and nothing else: the event `standings`, with games, score, Elo
    /// and its error, and the test.
    #[arg(long, value_enum, value_name = "FORMAT", conflicts_with_all = ["report", "format", "live"])]
    summary: Option<SummaryFormat>,
    /// What goes to standard output: json is the same as --report json.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    /// With --format json: print the public moves of running games too, where no hands are
    /// hidden.
    #[arg(long)]
    live: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Report {
    /// Standings for people.
    Table,
    /// One event a line: every game, then the standings.
    Json,
    /// The text file that classic tools read (two bots).
    Classic,
    /// One event: the standings. It has an argument of its own.
    #[value(skip)]
    Summary,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SummaryFormat {
    /// One JSON object, for scripts.
    Json,
}

impl Match {
    /// Plays it and reports.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        let kind = find_game(&self.game)?;
        let mut settings = self.run.resolve(kind)?;
        let entries = Entry::read_all(&self.bots, &settings.schemes)?;
        let seats = usize::from(kind.info().seats);
        if entries.len() != seats {
            return usage(format!(
                "{} has {seats} seats: expected --bot {seats} times, found {}",
                self.game,
                entries.len()
            ));
        }
        let report = self.report(seats)?;
        let json = report == Report::Json;
        let printed = if json { Format::Json } else { Format::Text };
        let live = printed.prints_moves(self.live)?;
        // That report has a code for a bot that can't be loaded, and classic tools read it.
        settings.checks_files = report != Report::Classic;
        settings.check_bots(&entries)?;
        let sprt = self.sprt(seats)?;
        let (seatings, deals) = settings.isolated(&entries, self.seatings, self.deals);
        let independent = seatings == Seatings::Single;
        if report == Report::Classic && independent {
            return usage(
                "--report classic counts rounds of two games with one deal, and against a bot \
                 that the arena does not start every game has a deal of its own; \
                 use --report table or json",
            );
        }
        let shape = ScheduleShape::RoundRobin {};
        let plan = settings.plan(entries, shape, deals, seatings, sprt)?;
        if independent && plan.setups.repeat(0..deals) {
            return usage(format!(
                "the set-up fixes who is dealt what, and a bot that the arena does not start \
                 would know it the second time: expected --openings with another deal for each \
                 of the {deals} games, or bots that the arena starts",
            ));
        }
        let folder = settings.folder("match")?;
        let folder = folder.as_ref();
        let sandbox = settings.sandbox(&plan, folder)?;
        note_isolation(&plan, sandbox.as_ref());
        let started = settings.started(RunCommand::Match, &plan, folder, None)?;
        describe(folder, &started, None)?;
        if json {
            report::event(Event::RunStarted(started.clone()))?;
        }
        // After a test that is stopped it is said how one is resumed.
        let file = plan.definition.sprt.and_then(|_| {
            let bots: Vec<Entry> = plan.bots.iter().map(|bot| bot.entry.clone()).collect();
            plan.definition.file(&bots, self.run.openings())
        });
        let stop = stop::on_signals(None)?;
        let walls = sandbox.as_ref().map(BotSandbox::walls);
        let reporter = Reporter::new(&started.game, None, json, &stop).with_bots(&plan, walls);
        let played = settings.play(plan, folder, live, &stop, reporter);
        let played = played.await?;
        let ended = played.ended(&settings, folder);
        describe(folder, &started, Some(ended.clone()))?;
        match report {
            Report::Table => report::text(&show::standings(&played.snapshot))?,
            Report::Json => {
                report::event(Event::RunEnded(ended))?;
                report::event(played.snapshot.standings_event(None, started.bots))?;
                report::event(played.snapshot.figures_event(None))?;
            }
            Report::Classic => {
                let games = complete_deals(&played.results.games());
                report::text(&classic::report(&games))?;
            }
            Report::Summary => {
                report::event(played.snapshot.standings_event(None, started.bots))?;
            }
        }
        let end = played.close(folder);
        if let (End::Interrupted, Some(file)) = (end, file) {
            anstream::eprint!("{}", resumable(&file));
        }
        settings.show_root();
        Ok(self.fouls.end(end, played.snapshot.has_fouls()))
    }

    /// Form of the report that is printed.
    fn report(&self, seats: usize) -> anyhow::Result<Report> {
        if self.summary == Some(SummaryFormat::Json) {
            return Ok(Report::Summary);
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
        Ok(report)
    }

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

/// The words after a test that was stopped: it is lost, and a tournament of this file is not.
fn resumable(file: &str) -> String {
    let lost = "this test has no decision, and a match can't be resumed. A tournament can: with these \
                lines in a file such as sprt.toml";
    let options = "Options such as --concurrency are typed there as here.";
    format!(
        "{}\n\n{file}\n\
         arena tournament run sprt.toml    # the same test from its beginning\n\
         arena tournament resume sprt      # goes on after a stop\n\n{options}\n",
        report::wrapped(lost)
    )
}

/// The games, which come in order of their deals, of all deals that were played from every
/// seating.
fn complete_deals(games: &[GameRow]) -> Vec<GameRow> {
    let deals = games.chunk_by(|a, b| a.group == b.group);
    let complete = deals.filter(|deal| deal.len() == deal[0].games_in_group as usize);
    complete.flatten().cloned().collect()
}

/// The seatings that a person can choose.
fn seatings() -> impl clap::builder::TypedValueParser<Value = Seatings> {
    PossibleValuesParser::new(["rotations", "all"]).map(|name| match &*name {
        "all" => Seatings::All,
        _ => Seatings::Rotations,
    })
}

/// The games and their set-ups, the bots and their parameters, examples.
fn after_help() -> String {
    let mut help = "Games:\n".to_owned();
    for kind in &GAMES {
        let info = kind.info();
        let setup = kind.setup(&serde_json::Value::Null);
        let setup = setup.expect("every game has a standard set-up");
        let name = game_name(kind.info().name);
        let _ = writeln!(help, "  {name}: {}, {} seats", info.title, info.seats);
        let _ = writeln!(help, "    standard --setup '{setup}'");
        // Whole deals are longer than a line of a terminal.
        let lines = info.setup_lines.iter().filter(|line| line.len() <= 60);
        for line in lines.filter(|line| !line.starts_with('{')) {
            let _ = writeln!(help, "    or       --setup '{line}'");
        }
    }
    help.push_str(
        "
A bot is house:NAME?parameter=value&…, exec:COMMAND (the arena starts it and
tells it in BOT_LISTEN where to listen), stdio:COMMAND (a program that reads and
writes lines of JSON: docs/stdio.md), gtp:COMMAND (an Othello engine that speaks
GTP), kaggle:FILE.py (an agent of Kaggle's ConnectX), strategy:FILE.so (a
compiled Connect Four strategy; ?clock-scale=1000 if it counts clock() in
milliseconds), grpc://HOST:PORT or unix:PATH (it runs already). The built-in
bots:
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
  arena match connect-four --bot new=exec:./v2 --bot old=exec:./v1 --deals 100
  arena match othello --bot house:weights --bot house:random --openings list.txt
  arena match mahjong --bot house:shanten --bot house:simple --deals 100
  arena match big-two --bot house:ai1 --bot house:ai2 --bot house:ai3 \\
    --bot house:random --seatings all
  arena match connect-four --bot house:uct --bot house:random --setup 6x7
  arena match connect-four --bot house:uct --bot house:random \\
    --setup 9x9,forbidden=4:4
  arena match connect-four --bot me=grpc://localhost:50051 --bot house:random \\
    --report classic > report.txt
  arena match othello --bot new=exec:./v2 --bot old=exec:./v1 --deals 1000 \\
    --summary json --fail-on-foul --sprt elo0=0 elo1=10",
    );
    help
}

//! The verbs of `arena`: one file a verb.

mod archives;
mod bots;
mod certs;
mod check;
mod check_referee;
mod contest;
mod demo;
mod dockerfile;
mod exam;
mod lobby;
mod r#match;
mod new;
mod packing;
mod replay;
mod selftest;
mod solve;
#[cfg(test)]
mod tests;
mod tournament;
mod workers;

use std::{
    io::IsTerminal as _,
    path::Path,
    process::{Command, Stdio},
};

use anyhow::Context as _;
use arena_terminal::{
    beside::{KubernetesCommand, ServeArgs},
    program::CommandLine,
};
use arena_tournament::find_game;
use clap::{
    CommandFactory as _, Parser, Subcommand,
    builder::PossibleValuesParser,
    error::{ContextKind, ErrorKind},
};
use clap_complete::Shell;
use referee_bots::Entry;
use referee_cli::{Hidden, LogFormat, LogFormatArgs, WorkArgs, on_runtime};
use referee_core::GameKind;
use referee_games::{GAMES, game_name};

use crate::{End, beside, report, usage};

/// Standard input or output, as it is named on the command line, and standard input to people.
const STREAM: &str = "-";
const STREAM_NAME: &str = "standard input";

/// Runs bots against each other and shows how it went.
#[derive(Parser)]
#[command(
    name = "arena",
    version,
    after_help = "Examples:
  arena demo
  arena match connect-four --bot 'a=house:uct?time=200ms' --bot b=house:random
  arena match connect-four --bot me='exec:./my_bot --fast' --bot house:uct --deals 50
  arena match connect-four --bot strategy:./my.so --bot house:uct
  arena tournament run spring.toml
  arena check exec:./my_bot --game connect-four
  arena exam connect-four --bot me=exec:./my_bot --group 1
  arena play connect-four --against house:uct
  arena replay show arena-runs/…/match-0000-deal-0000-game-0.jsonl.zst
  arena replay explain arena-runs/…/match-0000-deal-0000-game-0.jsonl.zst
  arena solve othello f5d6c3d3c4 --time 10s
  arena replay rerun arena-runs/…/match-0000-deal-0000-game-0.jsonl.zst --seat 0 --bot exec:./v2

Exit codes: 0 done; 1 it ran and the answer is no; 2 bad usage; 3 our own
failure; 130 stopped by Ctrl-C, after the results so far were shown."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    log: LogFormatArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// A first look: a small tournament of every game, and what to do next
    Demo(demo::Demo),
    /// Bots against each other, as many as the game has seats
    Match(r#match::Match),
    /// Many bots and a schedule: run, resume, status, verify, export
    #[command(subcommand)]
    Tournament(tournament::Tournament),
    /// The bots that are registered in a store
    #[command(subcommand)]
    Bots(bots::Bots),
    /// Is this bot fit to enter: every call, every seat, deadlines, memory
    Check(check::Check),
    /// How good one bot is, in points: graded opponents, fixed cases
    #[command(subcommand)]
    Exam(exam::Exam),
    /// Contests: people hand in sources, which are built, examined and ranked
    #[command(subcommand)]
    Contest(contest::Contest),
    /// Play a game yourself, against bots or with others at this terminal
    Play(arena_screen::Play),
    /// Follow a tournament in the terminal, whoever plays it
    Watch(tournament::Watch),
    /// Step through a record, or prove it
    #[command(subcommand)]
    Replay(replay::Replay),
    /// The exact value of a position
    #[command(subcommand)]
    Solve(solve::Solve),
    /// Check that a bot comes out even against itself, and that this machine is fit
    Selftest(selftest::Selftest),
    /// Check how the referee answers bots that misbehave, each in one way
    CheckReferee(check_referee::CheckReferee),
    /// Make certificates for TLS between referees, bots, workers and arenas
    #[command(subcommand)]
    Certs(certs::Certs),
    /// Play the tournaments that are queued in a store, with workers on any machine
    Serve(Box<ServeArgs>),
    /// Play what an arena hands out, until it is stopped (the same as `referee work`)
    Worker(Box<WorkArgs>),
    /// The machines that work: who, on what, how fast, how late
    Workers(workers::Workers),
    /// The bots that have dialled in and wait for games, and their tokens
    Lobby(lobby::Lobby),
    /// Tournaments on a Kubernetes cluster: what is made, what is there, what is wrong
    #[command(subcommand)]
    Kubernetes(KubernetesCommand),
    /// Print a completion script for a shell
    Completions {
        /// The shell.
        shell: Shell,
    },
    /// Print the manual page of arena, or of one of its verbs
    Man {
        /// The verb, and the verb below it: `arena man tournament run`.
        verbs: Vec<String>,
    },
    /// Run a bot that misbehaves (what `check-referee` starts)
    #[command(hide = true)]
    Villain(villains::Villain),
    #[command(flatten)]
    Hidden(Hidden),
}

impl CommandLine for Cli {
    fn log_format(&self) -> LogFormat {
        self.log.log_format
    }

    fn meant(error: &clap::Error) -> Option<&'static str> {
        meant(error)
    }

    fn run(self) -> anyhow::Result<End> {
        match self.verb {
            Verb::Demo(verb) => on_runtime(verb.run()),
            Verb::Match(verb) => on_runtime(verb.run()),
            Verb::Tournament(verb) => on_runtime(verb.run()),
            Verb::Play(verb) => on_runtime(verb.run()),
            Verb::Watch(verb) => on_runtime(verb.run()),
            Verb::Bots(verb) => on_runtime(verb.run()),
            Verb::Check(verb) => on_runtime(verb.run()),
            Verb::Exam(verb) => on_runtime(verb.run()),
            Verb::Contest(verb) => on_runtime(verb.run()),
            Verb::Replay(verb) => on_runtime(verb.run()),
            Verb::Solve(verb) => verb.run(),
            Verb::Selftest(verb) => on_runtime(verb.run()),
            Verb::CheckReferee(verb) => on_runtime(verb.run()),
            Verb::Certs(verb) => verb.run(),
            Verb::Serve(_) | Verb::Kubernetes(_) => beside::go_on_as_serve(),
            Verb::Worker(verb) => on_runtime(verb.run()),
            Verb::Workers(verb) => on_runtime(verb.run()),
            Verb::Lobby(verb) => verb.run(),
            Verb::Completions { shell } => print_bytes(completions(shell).as_bytes()),
            Verb::Man { verbs } => man(&verbs),
            // How it ends is a part of how it misbehaves.
            Verb::Villain(villain) => std::process::exit(villain.main(Some("villain")).into()),
            Verb::Hidden(verb) => verb.run(),
        }
    }
}

/// Shows a manual page: on a terminal page by page, else as it is.
fn man(verbs: &[String]) -> anyhow::Result<End> {
    let mut command = Cli::command();
    // So that a verb knows whose it is.
    command.build();
    for verb in verbs {
        let Some(found) = command.find_subcommand(verb) else {
            let known: Vec<&str> = command
                .get_subcommands()
                .map(clap::Command::get_name)
                .collect();
            let hint = arena_tournament::hint(verb, &known);
            return usage(format!(
                "there is no verb \"{verb}\"{hint}; see `arena --help`"
            ));
        };
        command = found.clone();
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command.clone()).render(&mut page)?;
    if !std::io::stdout().is_terminal() {
        return print_bytes(&page);
    }
    // It chooses the pager of MANPAGER or PAGER itself.
    let mut file = tempfile::NamedTempFile::new()?;
    std::io::Write::write_all(&mut file, &page)?;
    let shown = Command::new("man").arg("-l").arg(file.path()).status();
    if shown.is_ok_and(|status| status.success()) {
        return Ok(End::Done);
    }
    // Without man nobody can read its markup.
    let text = command.render_long_help().to_string();
    match paged(&text) {
        true => Ok(End::Done),
        false => print_bytes(text.as_bytes()),
    }
}

/// Shows a text with the pager of the environment, or with less; true if that worked.
fn paged(text: &str) -> bool {
    let of_environment = ["MANPAGER", "PAGER"].iter().find_map(|name| {
        let pager = std::env::var(name).ok();
        pager.filter(|pager| !pager.trim().is_empty())
    });
    let pager = of_environment.unwrap_or_else(|| "less".to_owned());
    let mut shell = Command::new("sh");
    shell.arg("-c").arg(pager).stdin(Stdio::piped());
    if std::env::var_os("LESS").is_none() {
        shell.env("LESS", "FRX");
    }
    let Ok(mut shell) = shell.spawn() else {
        return false;
    };
    if let Some(mut input) = shell.stdin.take() {
        // Whoever has read enough closes it.
        let _ = std::io::Write::write_all(&mut input, text.as_bytes());
    }
    shell.wait().is_ok_and(|status| status.success())
}

/// The script by which a shell completes a command line.
fn completions(shell: Shell) -> String {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut completed(), "arena", &mut script);
    let script = String::from_utf8_lossy(&script);
    match shell {
        Shell::Bash => {
            let (functions, registered) = script.rsplit_once("\n}\n").unwrap_or((&script, ""));
            let registered = registered.replace(" -F _arena ", " -F _arena_joined ");
            format!(
                "{functions}\n}}\n{}{registered}",
                include_str!("completions.bash")
            )
        }
        _ => script.into_owned(),
    }
}

/// The command line with the values that a shell completes: games and built-in bots.
fn completed() -> clap::Command {
    let games = || PossibleValuesParser::new(GAMES.iter().map(|kind| game_name(kind.info().name)));
    let bots = || {
        let names = house_bots::HOUSE.iter();
        PossibleValuesParser::new(names.map(|bot| format!("house:{}", bot.name)))
    };
    let bot = |arg: clap::Arg| arg.value_parser(bots());
    let game = |arg: clap::Arg| arg.value_parser(games());
    Cli::command()
        .mut_subcommand("match", |verb| {
            verb.mut_arg("game", game).mut_arg("bots", bot)
        })
        .mut_subcommand("play", |verb| {
            verb.mut_arg("game", game).mut_arg("against", bot)
        })
        .mut_subcommand("selftest", |verb| {
            verb.mut_arg("game", game).mut_arg("bot", bot)
        })
        .mut_subcommand("check", |verb| {
            verb.mut_arg("games_played", game).mut_arg("bot", bot)
        })
        .mut_subcommand("bots", |verbs| {
            verbs.mut_subcommand("new", |verb| verb.mut_arg("game", game))
        })
}

/// The games of these names, each once, all of which the bot plays as far as can be known.
fn games_of(
    entry: &Entry,
    names: &[String],
    directory: &Path,
) -> anyhow::Result<Vec<&'static dyn GameKind>> {
    let mut kinds: Vec<&'static dyn GameKind> = Vec::new();
    for name in names {
        let kind = find_game(name)?;
        entry.check_game(kind.info(), directory)?;
        let is_kind = |known: &&dyn GameKind| known.info().name == kind.info().name;
        if !kinds.iter().any(is_kind) {
            kinds.push(kind);
        }
    }
    Ok(kinds)
}

/// Advice to users of other match runners, for an option, a value or a missing word that this one
/// does not have.
fn meant(error: &clap::Error) -> Option<&'static str> {
    let context = |kind| error.get(kind).map(ToString::to_string);
    let option = context(ContextKind::InvalidArg).unwrap_or_default();
    match error.kind() {
        ErrorKind::UnknownArgument => match option.trim_start_matches('-') {
            "games" | "repeat" => Some("--deals N; each deal is played from every seating"),
            "engine" | "player" | "cmd" => Some("--bot NAME=SPEC, once for each seat"),
            "tc" | "st" | "timeout" => Some("--move-limit 3s, for one move"),
            "threads" | "jobs" | "parallel" => Some("--concurrency N"),
            "out" | "output" => Some("--records DIR"),
            "pgnout" => Some("--records DIR, then `arena replay export DIR --as pgn`"),
            "json" => Some("--format json"),
            _ => None,
        },
        ErrorKind::InvalidValue if option.starts_with("--format") => {
            let value = context(ContextKind::InvalidValue).unwrap_or_default();
            (value == "csv").then_some("arena tournament export NAME --as csv")
        }
        ErrorKind::MissingRequiredArgument => std::env::args()
            .any(|word| word == "--sprt")
            .then_some("the game before --sprt, which takes all words that follow it"),
        _ => None,
    }
}

fn print_bytes(bytes: &[u8]) -> anyhow::Result<End> {
    use std::io::Write as _;
    let written = std::io::stdout().write_all(bytes);
    written.context(report::NOT_WRITTEN)?;
    Ok(End::Done)
}

//! `arena-serve`: what `arena` becomes for the verbs that need the page, pictures or a cluster. It
//! is a program of its own so that nobody has to compile them for a first game.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

mod adviser;
mod builder;
mod contest;
mod declared;
mod export;
mod health;
mod kubernetes;
mod page;
mod pods;
mod report;
mod serve;
mod written;

use std::process::ExitCode;

use arena_terminal::{
    beside::{ExportArgs, KubernetesCommand, PlotArgs, ReportArgs, ServeArgs},
    program::CommandLine,
};
use clap::{Parser, Subcommand};
use referee_cli::{End, Hidden, LogFormat, LogFormatArgs, on_runtime};

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// What `arena` does with this program: it is started as `arena VERB`.
#[derive(Parser)]
#[command(name = "arena", bin_name = "arena", version)]
struct Cli {
    #[command(flatten)]
    log: LogFormatArgs,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Play the tournaments that are queued in a store, with workers on any machine
    Serve(Box<ServeArgs>),
    /// Tournaments on a Kubernetes cluster: what is made, what is there, what is wrong
    #[command(subcommand)]
    Kubernetes(KubernetesCommand),
    /// A tournament as a file to hand out
    #[command(subcommand)]
    Tournament(Tournament),
    /// A game as a file to hand out
    #[command(subcommand)]
    Replay(Replay),
    /// Answer one request for a hint or an evaluation (what `serve` starts)
    #[command(hide = true)]
    Advise,
    /// Build one entry of a contest and host what was built: the program of the image `builder`
    #[command(hide = true)]
    Builder(builder::BuilderArgs),
    #[command(flatten)]
    Hidden(Hidden),
}

#[derive(Subcommand)]
enum Tournament {
    /// Write one HTML file to hand out: standings, plots, games
    Report(ReportArgs),
    /// Write a plot of the ratings with their error bars
    Plot(PlotArgs),
}

#[derive(Subcommand)]
enum Replay {
    /// Write a game as a picture, a moving picture, or a page to step through; `arena` writes text
    Export(ExportArgs),
}

fn main() -> ExitCode {
    arena_terminal::program::main::<Cli>()
}

impl CommandLine for Cli {
    fn log_format(&self) -> LogFormat {
        self.log.log_format
    }

    fn run(self) -> anyhow::Result<End> {
        match self.verb {
            Verb::Serve(args) => on_runtime(serve::run(&args)),
            Verb::Kubernetes(command) => on_runtime(kubernetes::run(command)),
            Verb::Tournament(Tournament::Report(args)) => on_runtime(report::report(&args)),
            Verb::Tournament(Tournament::Plot(args)) => on_runtime(report::plot(&args)),
            Verb::Replay(Replay::Export(args)) => on_runtime(export::export(&args)),
            Verb::Advise => adviser::answer(),
            Verb::Builder(args) => on_runtime(args.run()),
            Verb::Hidden(verb) => verb.run(),
        }
    }
}

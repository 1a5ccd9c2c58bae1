//! `arena tournament`: many bots, a schedule, and a store that holds all of it. Verbs that
//! belong together share a file.

mod export;
mod queue;
mod remove;
mod run;
mod status;
mod verify;
mod watch;

use arena_terminal::beside::{PlotArgs, ReportArgs};
use clap::Subcommand;

pub(super) use self::watch::Watch;
use crate::{End, beside};

#[derive(Subcommand)]
pub(crate) enum Tournament {
    /// Play the tournament that a TOML file describes
    #[command(after_help = run::FILE_HELP)]
    Run(run::Run),
    /// Go on with a tournament that was stopped or interrupted
    Resume(run::Resume),
    /// Queue a tournament for `arena serve`: a file, or the name of one that is stored
    #[command(after_help = run::FILE_HELP)]
    Submit(queue::Submit),
    /// Leave a queued tournament alone until it is submitted again
    Pause(queue::Pause),
    /// End a tournament for good, with the results that it has
    Cancel(queue::Cancel),
    /// Let a bot that was set aside take part again
    Readmit(queue::Readmit),
    /// Say which queued tournaments are played first
    Priority(queue::Priority),
    /// Show the table and the figures of a tournament, during and after it
    Status(status::Status),
    /// List the tournaments in the store
    List(status::List),
    /// Prove a whole tournament from its records and its root: exit code 1 if
    /// something in it is wrong
    Verify(verify::Verify),
    /// Write a whole tournament as text: JSON lines, CSV, or its games for other programs
    Export(export::Export),
    /// Write one HTML file to hand out: standings, plots, games
    Report(ReportArgs),
    /// Write a plot of the ratings with their error bars
    Plot(PlotArgs),
    /// Read a tournament from the JSON lines that export has written
    Import(export::Import),
    /// Remove a tournament from the store, with its results and records
    Remove(remove::Remove),
}

impl Tournament {
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Run(run) => run.run().await,
            Self::Resume(resume) => resume.run().await,
            Self::Submit(submit) => submit.run().await,
            Self::Pause(pause) => pause.run().await,
            Self::Cancel(cancel) => cancel.run().await,
            Self::Readmit(readmit) => readmit.run().await,
            Self::Priority(priority) => priority.run().await,
            Self::Status(status) => status.run().await,
            Self::List(list) => list.run().await,
            Self::Verify(verify) => verify.run().await,
            Self::Export(export) => export.run().await,
            Self::Report(_) | Self::Plot(_) => beside::go_on_as_serve(),
            Self::Import(import) => import.run().await,
            Self::Remove(remove) => remove.run().await,
        }
    }
}

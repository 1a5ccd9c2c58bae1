//! Measures how strong the built-in bots are: plays the experiments of `experiments.rs` in this
//! process, a few deals of each in turn, until the time is up, and writes docs/strength.md with
//! its plots. Each finished deal is a line of a file, so that it can be stopped at any moment and
//! continued; a line that was cut off is played again.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program"
)]

mod deal;
mod experiments;
mod plot;
mod report;
mod results;

use std::{
    fs,
    path::PathBuf,
    process::ExitCode,
    thread,
    time::{Duration, Instant},
};

use clap::Parser;
use parking_lot::Mutex;

use crate::{
    experiments::{Experiment, experiments},
    results::Results,
};

/// Measures how strong the built-in bots are.
#[derive(Parser)]
struct Arguments {
    /// How long to play; what is missing then is played next time
    #[arg(long, default_value = "2h", value_parser = humantime::parse_duration)]
    budget: Duration,
    /// The file of finished deals
    #[arg(long)]
    results: PathBuf,
    /// The folder that gets strength.md and the folder `strength` with its plots
    #[arg(long)]
    report: PathBuf,
    /// Only experiments whose title has this in it: their tables are printed, no file is written
    #[arg(long)]
    only: Option<String>,
}

/// This part of the time is for bots with more than one thread.
const ALONE: u32 = 4;

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), String> {
    let begin = Instant::now();
    let mut all = experiments();
    let results = Mutex::new(Results::open(&arguments.results, &all)?);
    if let Some(only) = &arguments.only {
        all.retain(|it| it.title().contains(only));
        if all.is_empty() {
            return Err(format!("no experiment has {only:?} in its title"));
        }
    }
    let cores = thread::available_parallelism().map_or(1, usize::from);
    // Bots that use more than one thread have the machine for themselves, for a part of the time.
    for is_alone in [true, false] {
        let end = match is_alone {
            true => begin + arguments.budget / ALONE,
            false => begin + arguments.budget,
        };
        let some: Vec<&Experiment> = all
            .iter()
            .filter(|it| (it.threads > 1) == is_alone)
            .collect();
        let workers = if is_alone { 1 } else { cores };
        play(&some, &results, end, workers)?;
    }
    let results = results.into_inner();
    if arguments.only.is_some() {
        print!("{}", report::page(&all, &results));
        return Ok(());
    }
    let folder = arguments.report.join("strength");
    fs::create_dir_all(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    for (name, text) in report::files(&all, &results) {
        let path = arguments.report.join(name);
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
        eprintln!("wrote {}", path.display());
    }
    Ok(())
}

/// Plays deals until all experiments are complete or the time is up.
fn play(
    experiments: &[&Experiment],
    results: &Mutex<Results>,
    end: Instant,
    workers: usize,
) -> Result<(), String> {
    let failed = Mutex::new(None);
    let work = || {
        while Instant::now() < end && failed.lock().is_none() {
            let Some((experiment, deal)) = results.lock().take(experiments) else {
                return;
            };
            let outcome =
                deal::play(experiment, deal).and_then(|played| results.lock().add(played));
            if let Err(error) = outcome {
                let title = experiment.title();
                *failed.lock() = Some(format!("{title}: {error}"));
            }
        }
    };
    thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(work);
        }
    });
    failed.into_inner().map_or(Ok(()), Err)
}

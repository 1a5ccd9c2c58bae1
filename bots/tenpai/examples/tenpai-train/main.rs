//! Learns the weights of the engine from rounds that it plays, and writes the same file each time: first
//! against an opponent that discards any unseen tile and never wins, as `simple` does, then against
//! one that discards and wins as `shanten` does, whose habits are learned at the same time.
//!
//! What is learned is kept in a folder every minute, in the stages that learn the same rounds several times
//! after each time; a run that was stopped continues there.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program"
)]

mod network;
mod opponent;
mod progress;
mod reading;
#[path = "../shared/round.rs"]
mod round;
mod stage;
mod sums;
mod table;
mod teacher;

use std::{fs, io, path::PathBuf, process::ExitCode};

use clap::Parser;
use tenpai::NetworkWeights;

use crate::{
    progress::{PassiveProgress, RacingProgress, WideProgress},
    stage::{Kind, STAGES, named},
};

/// Learns the weights of the engine.
#[derive(Parser)]
struct Arguments {
    /// The folder for what is learned so far; a run that was stopped continues there
    folder: PathBuf,
    /// The file of weights
    out: PathBuf,
    /// The file of the weights of the wide network
    wide: PathBuf,
    /// Write the files of weights with what the folder has, learn nothing
    #[arg(long)]
    now: bool,
    /// Play so many rounds with what the folder has, learn nothing and write nothing
    #[arg(long)]
    play: Option<u64>,
    /// What those rounds are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Only the stage of this name
    #[arg(long)]
    only: Option<String>,
    /// How many threads play the rounds of the last stages; what is learned does not depend on it
    #[arg(long, default_value_t = 1)]
    threads: usize,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> io::Result<()> {
    fs::create_dir_all(&arguments.folder)?;
    tenpai::prepare();
    for stage in &STAGES {
        let is_left_out = |only| only != stage.name;
        if arguments.only.as_deref().is_some_and(is_left_out) {
            continue;
        }
        match stage.network {
            Kind::Passive => PassiveProgress::run(arguments, stage)?,
            Kind::Racing => RacingProgress::run(arguments, stage)?,
            Kind::Wide => WideProgress::run(arguments, stage)?,
        }
    }
    if arguments.play.is_some() || arguments.only.is_some() {
        return Ok(());
    }
    let folder = &arguments.folder;
    let passive = PassiveProgress::open(folder, named("passive"))?;
    let racing = RacingProgress::open(folder, named("ahead"))?;
    let bytes = racing.bytes(&passive.network.weights, &racing.network.weights);
    fs::write(&arguments.out, bytes)?;
    let wide = WideProgress::open(folder, named("rescores"))?;
    let bytes = NetworkWeights::wide_to_bytes(&wide.network.weights);
    fs::write(&arguments.wide, bytes)
}

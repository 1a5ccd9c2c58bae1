//! Learns the weights of the evaluation: plays games against itself, fits weights to them, and
//! measures how well they fit. The README of the crate says how to go on with it.

#![allow(clippy::print_stdout, clippy::disallowed_methods, reason = "a program")]

mod data;
mod errors;
mod fit;
mod generate;
mod init;

use std::{fs, path::PathBuf, sync::Arc};

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use edge::weights::PatternWeights;

#[derive(Parser)]
#[command(about = "Learns the weights of the evaluation of edge")]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Writes weights to begin with: corners and mobility, made by hand
    Init {
        /// Where to write them
        weights: PathBuf,
    },
    /// Plays games against itself; goes on where an earlier call was stopped
    Generate(generate::Options),
    /// Fits weights to the positions of games
    Fit(fit::Options),
    /// Measures how far shallow searches are from deep ones, for Multi-ProbCut
    Errors(errors::Options),
    /// Measures weights on the positions of games that they were not fitted to
    Check {
        /// The weights
        weights: PathBuf,
        /// Files of positions
        #[arg(required = true)]
        positions: Vec<PathBuf>,
    },
}

fn main() -> Result<()> {
    match Arguments::parse().verb {
        Verb::Init { weights } => write(&weights, &init::weights()),
        Verb::Generate(options) => generate::run(&options),
        Verb::Fit(options) => fit::run(&options),
        Verb::Errors(options) => errors::run(&options),
        Verb::Check { weights, positions } => fit::check(&*read(&weights)?, &positions),
    }
}

fn read(path: &PathBuf) -> Result<Arc<PatternWeights>> {
    let file = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
    let weights =
        PatternWeights::read(&file).with_context(|| format!("could not use {}", path.display()))?;
    Ok(Arc::new(weights))
}

fn write(path: &PathBuf, weights: &PatternWeights) -> Result<()> {
    fs::write(path, weights.write()).with_context(|| format!("could not write {}", path.display()))
}

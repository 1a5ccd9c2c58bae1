//! The arguments of the verbs that write pages and pictures: `arena replay export`,
//! `arena tournament report` and `plot`.

use std::{path::PathBuf, time::Duration};

use arena_tournament::parse_limit;
use clap::{Args, ValueEnum};

use crate::{GameArgs, StoreAt};

/// A tournament as a page.
#[derive(Args)]
pub struct ReportArgs {
    /// Its name.
    pub name: String,
    /// The file: one page with standings, plots, and games, which needs no server.
    #[arg(long, aliases = ["out", "output"], value_name = "FILE")]
    pub html: PathBuf,
    /// Only the part of this bot, for its author: results, fouls with their reasons, games, logs.
    #[arg(long, value_name = "NAME")]
    pub bot: Option<String>,
    /// Where the bots' output went [default: arena-runs/NAME/logs].
    #[arg(long, requires = "bot")]
    pub logs: Option<PathBuf>,
    /// Overwrite the file.
    #[arg(long)]
    pub force: bool,
    /// Where it is stored.
    #[command(flatten)]
    pub store: StoreAt,
}

/// The ratings of a tournament as a plot.
#[derive(Args)]
pub struct PlotArgs {
    /// Its name.
    pub name: String,
    /// The file: the ratings with their error bars, as SVG.
    #[arg(long, short, alias = "output", value_name = "FILE")]
    pub out: PathBuf,
    /// Overwrite the file.
    #[arg(long)]
    pub force: bool,
    /// Where it is stored.
    #[command(flatten)]
    pub store: StoreAt,
}

/// What a game is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PictureFormat {
    /// One position, as a drawing.
    Svg,
    /// One position, in pixels.
    Png,
    /// The whole game as a drawing that moves.
    AnimatedSvg,
    /// The whole game as a moving picture in pixels (animated PNG).
    Apng,
    /// The whole game as one HTML file, to step through in a browser.
    Html,
}

/// A game as a file.
#[derive(Args)]
pub struct PictureArgs {
    /// Which game.
    #[command(flatten)]
    pub games: GameArgs,
    /// What is written [default: what the name of the file says].
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    pub format: Option<PictureFormat>,
    /// The file: .svg, .png, .apng or .html.
    #[arg(long, short, alias = "output", value_name = "FILE")]
    pub out: PathBuf,
    /// Of one position: after this many moves [default: all].
    #[arg(long)]
    pub ply: Option<usize>,
    /// Of one position: what this seat knew.
    #[arg(long)]
    pub seat: Option<u8>,
    /// Of a moving picture: how long each position is shown [default: 700ms].
    #[arg(long, value_parser = parse_limit)]
    pub pace: Option<Duration>,
    /// Of pixels: how many for each unit of the drawing, from 0.25 to 8 [default: 2].
    #[arg(long, value_parser = parse_scale)]
    pub scale: Option<f32>,
    /// Of a page: without an evaluation of each position, which may take a minute.
    #[arg(long)]
    pub no_evaluation: bool,
    /// Overwrite the file.
    #[arg(long)]
    pub force: bool,
}

fn parse_scale(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(scale) if (0.25..=8.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.25 to 8".to_owned()),
    }
}

//! The arguments of the verbs that write pages, pictures and files of games: `arena replay export`,
//! `arena tournament report` and `plot`.

use std::{path::PathBuf, time::Duration};

use arena_tournament::parse_limit;
use clap::{
    Args, ValueEnum,
    builder::{PossibleValue, PossibleValuesParser, TypedValueParser},
};
use referee_cli::usage;
use referee_core::GameFormat;
use referee_games::formats;

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

/// What a game is written as, where that is a picture or a page.
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

/// What games are written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExportFormat {
    /// One game, as a picture or a page.
    Picture(PictureFormat),
    /// Any number of games, as text for other programs.
    Text(GameFormat),
}

impl ExportFormat {
    /// All of them, as they are typed.
    fn all() -> impl Iterator<Item = (PossibleValue, Self)> {
        let pictures = PictureFormat::value_variants().iter().filter_map(|format| {
            let value = format.to_possible_value()?;
            Some((value, Self::Picture(*format)))
        });
        pictures.chain(text_formats().map(|(value, format)| (value, Self::Text(format))))
    }
}

/// The formats for other programs, as they are typed.
pub fn text_formats() -> impl Iterator<Item = (PossibleValue, GameFormat)> {
    let formats = formats().into_iter();
    formats.map(|format| (PossibleValue::new(format.name).help(format.about), format))
}

/// Reads one of these names as what it stands for.
pub fn one_of<T: Clone + Send + Sync + 'static>(
    known: impl Iterator<Item = (PossibleValue, T)>,
) -> impl TypedValueParser<Value = T> {
    let known: Vec<(PossibleValue, T)> = known.collect();
    let names = known.iter().map(|(value, _)| value.clone());
    PossibleValuesParser::new(names.collect::<Vec<_>>()).map(move |name| {
        let mut known = known.iter();
        let found = known.find(|(value, _)| value.get_name() == name);
        found.expect("it is one of the possible values").1.clone()
    })
}

/// Games as a file.
#[derive(Args)]
pub struct ExportArgs {
    /// Which games.
    #[command(flatten)]
    pub games: GameArgs,
    /// What is written [default: what the name of the file says].
    #[arg(long = "as", value_parser = one_of(ExportFormat::all()), value_name = "FORMAT")]
    format: Option<ExportFormat>,
    /// The file; what is text goes to standard output where none is named.
    #[arg(long, short, alias = "output", value_name = "FILE")]
    pub out: Option<PathBuf>,
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

impl ExportArgs {
    /// What is written.
    ///
    /// # Errors
    ///
    /// Nothing says it, or it does not go with the other arguments.
    pub fn format(&self) -> anyhow::Result<ExportFormat> {
        let format = match (self.format, &self.out) {
            (Some(format), _) => format,
            (None, Some(out)) => {
                let ending = out.extension().and_then(|ending| ending.to_str());
                let ending = match ending {
                    Some("htm") => "html",
                    ending => ending.unwrap_or_default(),
                };
                let mut all = ExportFormat::all();
                match all.find(|(value, _)| value.get_name() == ending) {
                    Some((_, format)) => format,
                    None => {
                        return usage(format!(
                            "--out {}: expected a name that ends in .{}, or --as",
                            out.display(),
                            Self::endings().join(", .")
                        ));
                    }
                }
            }
            (None, None) => {
                return usage("expected --as, or --out FILE with a name that says what is written");
            }
        };
        match format {
            ExportFormat::Picture(_) if self.out.is_none() => {
                usage("expected --out FILE: a picture or page is written to a file")
            }
            ExportFormat::Text(_) if self.has_picture_options() => {
                usage("--ply, --seat, --pace and --scale are of pictures: expected none of them")
            }
            format => Ok(format),
        }
    }

    /// The endings of files that say what is written.
    fn endings() -> Vec<String> {
        let names = ExportFormat::all().map(|(value, _)| value.get_name().to_owned());
        names.filter(|name| name.len() <= LONGEST_ENDING).collect()
    }

    fn has_picture_options(&self) -> bool {
        self.ply.is_some() || self.seat.is_some() || self.pace.is_some() || self.scale.is_some()
    }
}

/// The most letters of an ending that is told.
const LONGEST_ENDING: usize = 5;

fn parse_scale(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(scale) if (0.25..=8.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.25 to 8".to_owned()),
    }
}

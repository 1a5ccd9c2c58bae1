//! `arena replay export`: a game as a picture, as a moving one, or as a page.

use std::{path::PathBuf, time::Duration};

use arena_draw::{Fonts, Look, Picture, animated, apng, png};
use arena_tournament::parse_limit;
use arena_web::Language;
use clap::{Args, ValueEnum};
use referee_core::Scene;
use referee_games::replay;

use super::{games::GameArgs, position};
use crate::{
    End, NotReplayed, report, usage,
    verbs::{page::analyst, write_new},
};

/// What a game is written as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum As {
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

#[derive(Args)]
pub(crate) struct Export {
    #[command(flatten)]
    games: GameArgs,
    /// What is written [default: what the name of the file says].
    #[arg(long = "as", value_enum, value_name = "FORMAT")]
    format: Option<As>,
    /// The file: .svg, .png, .apng or .html.
    #[arg(long, short, value_name = "FILE")]
    out: PathBuf,
    /// Of one position: after this many moves [default: all].
    #[arg(long)]
    ply: Option<usize>,
    /// Of one position: what this seat knew.
    #[arg(long)]
    seat: Option<u8>,
    /// Of a moving picture: how long each position is shown.
    #[arg(long, default_value = "700ms", value_parser = parse_limit)]
    pace: Duration,
    /// Of pixels: how many for each unit of the drawing, from 0.25 to 8.
    #[arg(long, default_value_t = 2.0, value_parser = parse_scale)]
    scale: f32,
    /// Overwrite the file.
    #[arg(long)]
    force: bool,
}

fn parse_scale(text: &str) -> Result<f32, String> {
    match text.parse() {
        Ok(scale) if (0.25..=8.0).contains(&scale) => Ok(scale),
        _ => Err("expected a number from 0.25 to 8".to_owned()),
    }
}

impl Export {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let format = self.format()?;
        let found = self.games.one().await?;
        let record = found.read_typed()?;
        let mut moments = Vec::new();
        let last = replay(&record, |moment| moments.push(moment))
            .map_err(|mismatch| NotReplayed(found.name(), mismatch))?
            .scene();
        let is_one = matches!(format, As::Svg | As::Png);
        if !is_one && (self.ply.is_some() || self.seat.is_some()) {
            return usage("--ply and --seat are of one position: expected --as svg or --as png");
        }
        let title = record.header.players.as_slice().join(" - ");
        let picture = |scene: &Scene| {
            let look = Look {
                names: record.header.players.as_slice(),
                ..Look::default()
            };
            Picture::of(scene, &look)
        };
        let whole = || {
            let scenes = moments.iter().map(|moment| &moment.before).chain([&last]);
            scenes.map(picture).collect::<Vec<_>>()
        };
        let in_pixels = |raster: arena_draw::Raster| {
            if raster.labels_left_out {
                report::warning(
                    "this machine has no fonts, so the labels are left out; install one, such as \
                     fonts-dejavu-core",
                );
            }
            raster.bytes
        };
        let bytes = match format {
            As::Svg => {
                let scene = position(&record, &moments, &last, self.ply, self.seat)?;
                picture(&scene).standalone(&title).into_bytes()
            }
            As::Png => {
                let scene = position(&record, &moments, &last, self.ply, self.seat)?;
                let svg = picture(&scene).standalone(&title);
                in_pixels(png(&svg, self.scale, &Fonts::of_system())?)
            }
            As::AnimatedSvg => animated(&whole(), self.pace, &title).into_bytes(),
            As::Apng => in_pixels(apng(&whole(), self.pace, self.scale, &Fonts::of_system())?),
            As::Html => arena_web::game_html(record, &analyst(), Language::En)?.into_bytes(),
        };
        write_new(&self.out, &bytes, self.force)
    }

    fn format(&self) -> anyhow::Result<As> {
        if let Some(format) = self.format {
            return Ok(format);
        }
        let ending = self.out.extension().and_then(|ending| ending.to_str());
        match ending {
            Some("svg") => Ok(As::Svg),
            Some("png") => Ok(As::Png),
            Some("apng") => Ok(As::Apng),
            Some("html" | "htm") => Ok(As::Html),
            _ => usage(format!(
                "--out {}: expected a name that ends in .svg, .png, .apng or .html, or --as",
                self.out.display()
            )),
        }
    }
}

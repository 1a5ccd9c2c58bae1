//! `arena replay export`: a game as a picture, as a moving one, or as a page.

use std::time::Duration;

use arena_draw::{Fonts, Look, Picture, animated, apng, png};
use arena_terminal::{
    NotReplayed,
    beside::{ExportArgs, ExportFormat, PictureFormat},
    position, report,
};
use arena_web::Language;
use referee_cli::{End, usage};
use referee_core::Scene;
use referee_games::replay;

use crate::{page::analyst, written::write_new};

/// The time for which each position of a moving picture is shown, if nothing is said.
const PACE: Duration = Duration::from_millis(700);
/// Number of pixels for each unit of a drawing, if nothing is said.
const SCALE: f32 = 2.0;

pub(crate) async fn export(args: &ExportArgs) -> anyhow::Result<End> {
    let (ExportFormat::Picture(format), Some(out)) = (args.format()?, &args.out) else {
        return usage("expected a picture or a page here; `arena replay export` writes text");
    };
    let found = args.games.one().await?;
    let record = found.read_typed()?;
    let mut moments = Vec::new();
    let last = replay(&record, |moment| moments.push(moment))
        .map_err(|mismatch| NotReplayed(found.name(), mismatch))?
        .scene();
    use PictureFormat::{AnimatedSvg, Apng, Html, Png, Svg};
    if !matches!(format, Svg | Png) && (args.ply.is_some() || args.seat.is_some()) {
        return usage("--ply and --seat are of one position: expected --as svg or --as png");
    }
    if !matches!(format, AnimatedSvg | Apng) && args.pace.is_some() {
        return usage("--pace is of a moving picture: expected --as animated-svg or --as apng");
    }
    if !matches!(format, Png | Apng) && args.scale.is_some() {
        return usage("--scale is of pixels: expected --as png or --as apng");
    }
    if format != Html && args.no_evaluation {
        return usage("--no-evaluation is of a page: expected --as html");
    }
    let pace = args.pace.unwrap_or(PACE);
    let scale = args.scale.unwrap_or(SCALE);
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
        PictureFormat::Svg => {
            let scene = position(&record, &moments, &last, args.ply, args.seat)?;
            picture(&scene).standalone(&title).into_bytes()
        }
        PictureFormat::Png => {
            let scene = position(&record, &moments, &last, args.ply, args.seat)?;
            let svg = picture(&scene).standalone(&title);
            in_pixels(png(&svg, scale, &Fonts::of_system())?)
        }
        PictureFormat::AnimatedSvg => animated(&whole(), pace, &title).into_bytes(),
        PictureFormat::Apng => in_pixels(apng(&whole(), pace, scale, &Fonts::of_system())?),
        PictureFormat::Html => {
            let analyst = (!args.no_evaluation).then(analyst);
            arena_web::game_html(record, analyst.as_ref(), Language::En)?.into_bytes()
        }
    };
    write_new(out, &bytes, args.force)
}

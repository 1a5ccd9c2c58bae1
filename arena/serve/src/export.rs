//! `arena replay export`: a game as a picture, as a moving one, or as a page.

use arena_draw::{Fonts, Look, Picture, animated, apng, png};
use arena_terminal::{
    NotReplayed,
    beside::{PictureArgs, PictureFormat},
    position, report,
};
use arena_web::Language;
use referee_cli::{End, usage};
use referee_core::Scene;
use referee_games::replay;

use crate::{page::analyst, written::write_new};

pub(crate) async fn export(args: &PictureArgs) -> anyhow::Result<End> {
    let format = format(args)?;
    let found = args.games.one().await?;
    let record = found.read_typed()?;
    let mut moments = Vec::new();
    let last = replay(&record, |moment| moments.push(moment))
        .map_err(|mismatch| NotReplayed(found.name(), mismatch))?
        .scene();
    let is_one = matches!(format, PictureFormat::Svg | PictureFormat::Png);
    if !is_one && (args.ply.is_some() || args.seat.is_some()) {
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
        PictureFormat::Svg => {
            let scene = position(&record, &moments, &last, args.ply, args.seat)?;
            picture(&scene).standalone(&title).into_bytes()
        }
        PictureFormat::Png => {
            let scene = position(&record, &moments, &last, args.ply, args.seat)?;
            let svg = picture(&scene).standalone(&title);
            in_pixels(png(&svg, args.scale, &Fonts::of_system())?)
        }
        PictureFormat::AnimatedSvg => animated(&whole(), args.pace, &title).into_bytes(),
        PictureFormat::Apng => {
            in_pixels(apng(&whole(), args.pace, args.scale, &Fonts::of_system())?)
        }
        PictureFormat::Html => arena_web::game_html(record, &analyst(), Language::En)?.into_bytes(),
    };
    write_new(&args.out, &bytes, args.force)
}

fn format(args: &PictureArgs) -> anyhow::Result<PictureFormat> {
    if let Some(format) = args.format {
        return Ok(format);
    }
    let ending = args.out.extension().and_then(|ending| ending.to_str());
    match ending {
        Some("svg") => Ok(PictureFormat::Svg),
        Some("png") => Ok(PictureFormat::Png),
        Some("apng") => Ok(PictureFormat::Apng),
        Some("html" | "htm") => Ok(PictureFormat::Html),
        _ => usage(format!(
            "--out {}: expected a name that ends in .svg, .png, .apng or .html, or --as",
            args.out.display()
        )),
    }
}

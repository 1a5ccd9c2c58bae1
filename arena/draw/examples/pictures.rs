//! Draws every piece, and a random game of every kind, into a folder, so that a person can look at
//! them: `cargo run -p arena-draw --example pictures -- FOLDER`.

#[path = "../tests/random/mod.rs"]
mod random;

use std::{fs, path::PathBuf, time::Duration};

use arena_draw::{Fonts, Look, Picture, animated, apng, png};
use referee_core::{
    Area, CardSuit, Cell, Hidden, Mark, Piece, Scene, Seat, Shape, TileSuit, Words,
};
use referee_games::GAMES;

type Result = std::result::Result<(), Box<dyn std::error::Error>>;

const FRAME: Duration = Duration::from_millis(600);

fn main() -> Result {
    let folder = PathBuf::from(std::env::args_os().nth(1).ok_or("which folder?")?);
    fs::create_dir_all(&folder)?;
    let fonts = Fonts::of_system();
    let names = ["Ann", "Bob & Co.", "机器人", "<b>"].map(str::to_owned);
    let look = Look {
        names: &names,
        ..Look::default()
    };
    let save = |name: &str, picture: &Picture| -> Result {
        let file = picture.standalone(name);
        // What a browser does where the system's theme is dark.
        let dark = file
            .replace("#f8fafc", "#111827")
            .replace("#1f2937", "#e5e7eb");
        fs::write(folder.join(format!("{name}.svg")), &file)?;
        for width in [360.0, 800.0] {
            let image = png(&file, width / picture.width as f32, &fonts)?;
            fs::write(folder.join(format!("{name}-{width}.png")), image.bytes)?;
            let image = png(&dark, width / picture.width as f32, &fonts)?;
            fs::write(folder.join(format!("{name}-{width}-dark.png")), image.bytes)?;
        }
        Ok(())
    };

    save("pieces", &Picture::of(&pieces(), &look))?;
    for kind in &GAMES {
        let name = kind.info().name;
        let moments = random::played(*kind);
        let middle = &moments[moments.len() * 3 / 5];
        let look_to_move = Look {
            legal: &middle.legal,
            ..look
        };
        save(
            &format!("{name}-open"),
            &Picture::of(&middle.open, &look_to_move),
        )?;
        save(
            &format!("{name}-public"),
            &Picture::of(&middle.public, &look),
        )?;
        save(
            &format!("{name}-first"),
            &Picture::of(&moments[0].open, &look),
        )?;
        if let Some(last) = moments.last() {
            save(&format!("{name}-over"), &Picture::of(&last.open, &look))?;
        }
        let frames: Vec<Picture> = moments
            .iter()
            .map(|moment| Picture::of(&moment.open, &look))
            .collect();
        let plays = animated(&frames, FRAME, name);
        fs::write(folder.join(format!("{name}-plays.svg")), plays)?;
        let plays = apng(&frames, FRAME, 1.0, &fonts)?;
        fs::write(folder.join(format!("{name}-plays.png")), plays.bytes)?;
    }
    Ok(())
}

/// Every piece that lies in rows.
fn pieces() -> Scene {
    let row = |label: &str, pieces: Vec<Piece>| Area {
        label: Words::new(label, ""),
        seat: None,
        shape: Shape::Row,
        cells: pieces.into_iter().map(Cell::new).collect(),
    };
    let tiles = [TileSuit::Characters, TileSuit::Bamboos, TileSuit::Dots];
    let cards = [
        CardSuit::Clubs,
        CardSuit::Diamonds,
        CardSuit::Hearts,
        CardSuit::Spades,
    ];
    let mut areas = Vec::new();
    for suit in tiles {
        let tiles = (1..=9).map(|rank| Piece::Tile { rank, suit });
        areas.push(row("", tiles.collect()));
    }
    for suit in cards {
        let card = |rank| Piece::Card { rank, suit };
        areas.push(row("", (1..=7).map(card).collect()));
        areas.push(row("", (8..=13).map(card).collect()));
    }
    let discs = Seat::all(4).map(|seat| Piece::Disc { seat });
    areas.push(row(
        "others",
        [
            Piece::Joker { number: 1 },
            Piece::FaceDown { of: Hidden::Card },
            Piece::FaceDown { of: Hidden::Tile },
            Piece::Blocked,
        ]
        .into_iter()
        .chain(discs)
        .collect(),
    ));
    areas[4].cells[2].mark = Some(Mark::Last);
    areas[0].cells[2].mark = Some(Mark::Last);
    Scene {
        areas,
        captions: vec![Words::new("seat 0 has the first caption", "")],
        nearest: None,
    }
}

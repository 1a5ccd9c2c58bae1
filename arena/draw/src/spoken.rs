//! A scene in words, for who listens to it instead of looking.

use referee_core::{Area, CardSuit, Cell, Piece, Scene, Seat, Shape, Surface, TileSuit, printable};

use crate::{disc, text};

/// The scene as short plain text, one line for each row of a board, each hand and each caption.
/// Rows of a board that are empty are left out.
#[must_use]
pub fn spoken(scene: &Scene, names: &[String]) -> String {
    let mut lines = Vec::new();
    for area in &scene.areas {
        let label = text::with_names(&area.label, names);
        match &area.shape {
            Shape::Board {
                surface,
                rows,
                columns,
            } => {
                if !label.is_empty() {
                    lines.push(label);
                }
                board(area, (*surface, rows, columns), names, &mut lines);
            }
            Shape::Row => {
                let cells = row(&area.cells);
                lines.push(if label.is_empty() {
                    cells
                } else {
                    format!("{label}: {cells}")
                });
            }
        }
    }
    for caption in &scene.captions {
        lines.push(text::with_names(caption, names));
    }
    let lines: Vec<String> = lines.iter().map(|line| printable(line)).collect();
    lines.join("\n")
}

fn board(
    area: &Area,
    (surface, rows, columns): (Surface, &[String], &[String]),
    names: &[String],
    lines: &mut Vec<String>,
) {
    let mut first = format!("board of {} rows and {} columns", rows.len(), columns.len());
    let seats = u8::try_from(names.len()).unwrap_or(u8::MAX);
    for (seat, name) in Seat::all(seats).zip(names) {
        let colour = disc::of(surface, seat).name;
        first.push_str(&format!("; {colour} is {name}"));
    }
    lines.push(first);
    let before = lines.len();
    for (cells, name) in area.cells.chunks(columns.len().max(1)).zip(rows) {
        let pieces: Vec<String> = cells
            .iter()
            .zip(columns)
            .filter(|(cell, _)| cell.piece != Piece::Empty || cell.marked)
            .map(|(cell, column)| format!("{column} {}", piece(surface, cell)))
            .collect();
        if !pieces.is_empty() {
            lines.push(format!("row {name}: {}", pieces.join(", ")));
        }
    }
    if lines.len() == before {
        lines.push("the board is empty".to_owned());
    }
}

fn row(cells: &[Cell]) -> String {
    let hidden = |cell: &Cell| matches!(cell.piece, Piece::FaceDown { .. });
    if cells.is_empty() {
        "nothing".to_owned()
    } else if cells.iter().all(hidden) {
        format!("{} face down", cells.len())
    } else {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| piece(Surface::Plain, cell))
            .collect();
        cells.join(", ")
    }
}

fn piece(surface: Surface, cell: &Cell) -> String {
    let name = match cell.piece {
        Piece::Empty => "empty".to_owned(),
        Piece::Blocked => "forbidden".to_owned(),
        Piece::Disc { seat } => disc::of(surface, seat).name.to_owned(),
        Piece::FaceDown { .. } => "face down".to_owned(),
        // Their names say what they are.
        Piece::Tile { .. } | Piece::Card { .. } | Piece::Joker if !cell.says.is_empty() => {
            cell.says.clone()
        }
        Piece::Joker => "joker".to_owned(),
        Piece::Tile { rank, suit } => {
            let suit = match suit {
                TileSuit::Characters => 'c',
                TileSuit::Bamboos => 'b',
                TileSuit::Dots => 'd',
            };
            format!("{rank}{suit}")
        }
        Piece::Card { rank, suit } => {
            let suit = match suit {
                CardSuit::Clubs => 'C',
                CardSuit::Diamonds => 'D',
                CardSuit::Hearts => 'H',
                CardSuit::Spades => 'S',
            };
            match rank {
                1 => format!("A{suit}"),
                11 => format!("J{suit}"),
                12 => format!("Q{suit}"),
                13 => format!("K{suit}"),
                rank => format!("{rank}{suit}"),
            }
        }
    };
    if cell.marked {
        format!("{name} (marked)")
    } else {
        name
    }
}

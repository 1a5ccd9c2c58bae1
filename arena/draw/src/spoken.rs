//! A scene in words, for who listens to it instead of looking.

use arena_words::with_names;
use referee_core::{
    Area, CardSuit, Cell, Language, Mark, Piece, Scene, Seat, Shape, Surface, TileSuit, printable,
};

use crate::disc;

/// The scene as short plain text, one line for each row of a board, each hand and each caption.
/// Rows of a board that are empty are left out.
#[must_use]
pub fn spoken(scene: &Scene, names: &[String], language: Language) -> String {
    let mut lines = Vec::new();
    for area in &scene.areas {
        let label = with_names(&area.label, language, names);
        match &area.shape {
            Shape::Board {
                surface,
                rows,
                columns,
            } => {
                if !label.is_empty() {
                    lines.push(label);
                }
                board(area, (*surface, rows, columns), names, language, &mut lines);
            }
            Shape::Row | Shape::River => {
                let cells = row(&area.cells, language);
                lines.push(if label.is_empty() {
                    cells
                } else {
                    format!("{label}{}{cells}", language.pick(": ", "："))
                });
            }
        }
    }
    for caption in &scene.captions {
        lines.push(with_names(caption, language, names));
    }
    let lines: Vec<String> = lines.iter().map(|line| printable(line)).collect();
    lines.join("\n")
}

fn board(
    area: &Area,
    (surface, rows, columns): (Surface, &[String], &[String]),
    names: &[String],
    language: Language,
    lines: &mut Vec<String>,
) {
    let (many_rows, many_columns) = (rows.len(), columns.len());
    let mut first = match language {
        Language::En => format!("board of {many_rows} rows and {many_columns} columns"),
        Language::Zh => format!("棋盘 {many_rows} 行 {many_columns} 列"),
    };
    let seats = u8::try_from(names.len()).unwrap_or(u8::MAX);
    for (seat, name) in Seat::all(seats).zip(names) {
        let colour = disc::of(surface, seat).name.get(language);
        first += &match language {
            Language::En => format!("; {colour} is {name}"),
            Language::Zh => format!("；{colour}方是 {name}"),
        };
    }
    lines.push(first);
    let before = lines.len();
    for (cells, name) in area.cells.chunks(columns.len().max(1)).zip(rows) {
        let pieces: Vec<String> = cells
            .iter()
            .zip(columns)
            .filter(|(cell, _)| cell.piece != Piece::Empty || cell.mark.is_some())
            .map(|(cell, column)| format!("{column} {}", piece(surface, cell, language)))
            .collect();
        if !pieces.is_empty() {
            let pieces = pieces.join(language.pick(", ", "，"));
            lines.push(match language {
                Language::En => format!("row {name}: {pieces}"),
                Language::Zh => format!("第 {name} 行：{pieces}"),
            });
        }
    }
    if lines.len() == before {
        lines.push(language.pick("the board is empty", "棋盘为空").to_owned());
    }
}

fn row(cells: &[Cell], language: Language) -> String {
    let hidden = |cell: &Cell| matches!(cell.piece, Piece::FaceDown { .. });
    if cells.is_empty() {
        language.pick("nothing", "无").to_owned()
    } else if cells.iter().all(hidden) {
        format!("{} {}", cells.len(), language.pick("face down", "张暗牌"))
    } else {
        let cells: Vec<String> = cells
            .iter()
            .map(|cell| piece(Surface::Plain, cell, language))
            .collect();
        cells.join(language.pick(", ", "，"))
    }
}

fn piece(surface: Surface, cell: &Cell, language: Language) -> String {
    let name = match cell.piece {
        Piece::Empty => language.pick("empty", "空").to_owned(),
        Piece::Blocked => language.pick("forbidden", "禁用").to_owned(),
        Piece::Disc { seat } => disc::of(surface, seat).name.get(language).to_owned(),
        Piece::FaceDown { .. } => language.pick("face down", "暗牌").to_owned(),
        // Their names say what they are.
        Piece::Tile { .. } | Piece::Card { .. } | Piece::Joker { .. } if !cell.says.is_empty() => {
            cell.says.clone()
        }
        Piece::Joker { .. } => language.pick("joker", "王").to_owned(),
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
    let mark = match cell.mark {
        None => "",
        Some(Mark::Last) => language.pick(" (last)", "（最后）"),
        Some(Mark::Line) => language.pick(" (in the line)", "（连线）"),
        Some(Mark::Turned) => language.pick(" (turned)", "（被翻）"),
    };
    name + mark
}

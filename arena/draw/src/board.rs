//! An area that is a board: its ground with labels, and a part for each cell.

use std::fmt::Write as _;

use referee_core::{Area, Mark, Piece, Surface};

use crate::{
    disc,
    glyph::number,
    picture::{Canvas, CellPlace, LEAST_WIDTH, MARGIN, Motion},
    row, text,
};

/// Width and height of a cell.
const CELL: f32 = 40.0;
/// The rim of a board.
const RIM: f32 = 8.0;
/// The space for the labels of rows and of columns.
const LABELS: f32 = 20.0;

/// Draws a board of this surface with these labels of rows and columns, below what is drawn.
pub(crate) fn draw(
    canvas: &mut Canvas<'_>,
    index: usize,
    area: &Area,
    (surface, rows, columns): (Surface, &[String], &[String]),
    label: &str,
) {
    let size = (columns.len() as f32 * CELL, rows.len() as f32 * CELL);
    let width = 2.0 * MARGIN + LABELS + size.0 + 2.0 * RIM;
    // The middle of the board is the middle of the picture if there is room.
    let left = MARGIN + LABELS + RIM + ((LEAST_WIDTH - width) / 2.0).max(0.0);
    let top = canvas.y + LABELS + RIM;

    let mut ground = label.to_owned();
    ground.push_str(&plate(
        surface,
        left,
        top,
        size,
        (rows.len(), columns.len()),
    ));
    ground.push_str(r#"<g class="label" font-family="system-ui, sans-serif" font-size="13" text-anchor="middle">"#);
    for (column, name) in columns.iter().enumerate() {
        let x = left + (column as f32 + 0.5) * CELL;
        axis(&mut ground, name, x, top - RIM - 6.0);
    }
    for (row, name) in rows.iter().enumerate() {
        let y = top + (row as f32 + 0.5) * CELL;
        axis(&mut ground, name, left - RIM - 11.0, y + 4.5);
    }
    ground.push_str("</g>");
    canvas.ground(index, &ground);

    let spot = match surface {
        Surface::Plain => r##"<circle class="spot" r="5.5" fill="#3b2a10" fill-opacity=".4"/>"##,
        Surface::Holes | Surface::Cloth => {
            r##"<circle class="spot" r="5.5" fill="#fff" fill-opacity=".45"/>"##
        }
    };
    for (at, cell) in area.cells.iter().enumerate() {
        let (row, column) = (at / columns.len().max(1), at % columns.len().max(1));
        let mut inside = piece(surface, cell.piece);
        if inside.is_empty() {
            // A click needs something to hit.
            inside =
                r#"<path d="M-20-20h40v40h-40z" fill="none" pointer-events="all"/>"#.to_owned();
        }
        match cell.mark {
            Some(Mark::Last | Mark::Line) => inside.push_str(disc::RING),
            Some(Mark::Turned) => inside.push_str(disc::TURNED),
            None => {}
        }
        let motion = match (surface, Motion::of(cell.mark)) {
            (Surface::Holes, Motion::Lands) => Motion::Falls,
            (_, motion) => motion,
        };
        let place = CellPlace {
            x: left + (column as f32 + 0.5) * CELL,
            y: top + (row as f32 + 0.5) * CELL,
            scale: 1.0,
            turn: 0.0,
            spot,
            motion,
        };
        canvas.cell(index, at, cell, &place, &inside);
        canvas.mark_line(&cell.says, (place.x, place.y), |seat| {
            disc::disc(surface, seat)
        });
    }
    canvas.width = canvas.width.max(width);
    canvas.y = top + size.1 + RIM;
}

fn axis(ground: &mut String, name: &str, x: f32, y: f32) {
    let (x, y, name) = (number(x), number(y), text::escaped(name));
    let _ = write!(ground, r#"<text x="{x}" y="{y}">{name}</text>"#);
}

/// The surface under the cells.
fn plate(surface: Surface, left: f32, top: f32, size: (f32, f32), count: (usize, usize)) -> String {
    let rectangle = |out: f32, round: f32, paint: &str| {
        let (x, y) = (number(left - out), number(top - out));
        let (width, height) = (number(size.0 + 2.0 * out), number(size.1 + 2.0 * out));
        format!(r#"<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="{round}" {paint}/>"#)
    };
    let (ground, lines) = match surface {
        Surface::Holes => {
            let plate = rectangle(
                RIM - 1.0,
                12.0,
                r##"fill="#2160c4" stroke="#12397f" stroke-width="2""##,
            );
            return plate;
        }
        Surface::Cloth => (
            rectangle(RIM, 6.0, r##"fill="#4a2f1b""##)
                + &rectangle(1.5, 1.0, r##"fill="#23804f""##),
            "#0d4a2b",
        ),
        Surface::Plain => (
            rectangle(RIM, 6.0, r##"fill="#8a6a3f""##)
                + &rectangle(1.5, 1.0, r##"fill="#ead7ae""##),
            "#8a6a3f",
        ),
    };
    let mut path = String::new();
    for row in 0..=count.0 {
        let y = number(top + row as f32 * CELL);
        let _ = write!(path, "M{} {y}h{}", number(left), number(size.0));
    }
    for column in 0..=count.1 {
        let x = number(left + column as f32 * CELL);
        let _ = write!(path, "M{x} {}v{}", number(top), number(size.1));
    }
    let mut plate =
        format!(r#"{ground}<path d="{path}" fill="none" stroke="{lines}" stroke-width="1.4"/>"#);
    if surface == Surface::Cloth && count.0 > 5 && count.1 > 5 {
        let _ = write!(plate, r#"<g fill="{lines}">"#);
        for row in [2, count.0 - 2] {
            for column in [2, count.1 - 2] {
                let x = number(left + column as f32 * CELL);
                let y = number(top + row as f32 * CELL);
                let _ = write!(plate, r#"<circle cx="{x}" cy="{y}" r="3.6"/>"#);
            }
        }
        plate.push_str("</g>");
    }
    plate
}

/// A piece on a cell, around its middle.
fn piece(surface: Surface, piece: Piece) -> String {
    match piece {
        Piece::Empty if surface == Surface::Holes => disc::HOLE.to_owned(),
        Piece::Empty => String::new(),
        Piece::Blocked => disc::blocked(surface).to_owned(),
        Piece::Disc { seat } => disc::disc(surface, seat),
        // Tiles and cards are made smaller, to fit.
        Piece::Tile { .. } | Piece::Card { .. } | Piece::Joker { .. } | Piece::FaceDown { .. } => {
            let (width, height) = row::size(piece);
            let scale = (CELL - 4.0) / height;
            let (x, y) = (-width * scale / 2.0, -height * scale / 2.0);
            let face = row::face(piece);
            format!(
                r#"<g transform="translate({} {})scale({})">{face}</g>"#,
                number(x),
                number(y),
                number(scale)
            )
        }
    }
}

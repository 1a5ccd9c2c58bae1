//! An area that is a row: tiles side by side, cards that overlap if they are many.

use referee_core::{Area, Cell, Hidden, Piece, Scene, Shape, Surface};

use crate::{
    card, disc,
    glyph::number,
    picture::{Canvas, CellPlace, MARGIN},
    tile,
};

/// Largest width of a line of tiles or cards.
const LINE: f32 = 480.0;
/// Distance by which a marked piece is raised.
const RAISED: f32 = 7.0;
/// Smallest visible width of a card, so that its corner can be read.
const LEAST_VISIBLE: f32 = 27.0;
/// The size of what lies face down, in a row of nothing else.
const FACE_DOWN: f32 = 0.6;
/// Discs in a row.
const DISC: f32 = 36.0;

/// Width and height of a piece.
pub(crate) const fn size(piece: Piece) -> (f32, f32) {
    match piece {
        Piece::Tile { .. } | Piece::FaceDown { of: Hidden::Tile } => tile::SIZE,
        Piece::Card { .. } | Piece::Joker { .. } | Piece::FaceDown { of: Hidden::Card } => {
            card::SIZE
        }
        Piece::Empty | Piece::Blocked | Piece::Disc { .. } => (DISC, DISC),
    }
}

/// A piece from its upper left corner.
pub(crate) fn face(piece: Piece) -> String {
    match piece {
        Piece::Tile { rank, suit } => tile::tile(rank, suit),
        Piece::Card { rank, suit } => card::card(rank, suit),
        Piece::Joker { .. } => card::joker(),
        Piece::FaceDown { of: Hidden::Tile } => tile::back(),
        Piece::FaceDown { of: Hidden::Card } => card::back(),
        Piece::Empty => placeholder((DISC, DISC)),
        Piece::Blocked => in_the_middle(disc::blocked(Surface::Plain)),
        Piece::Disc { seat } => in_the_middle(&disc::disc(Surface::Plain, seat)),
    }
}

/// The largest piece in the rows of a scene: an empty row keeps the space for it.
pub(crate) fn largest(scene: &Scene) -> (f32, f32) {
    let rows = scene.areas.iter().filter(|area| area.shape == Shape::Row);
    rows.flat_map(|area| &area.cells)
        .map(|cell| size(cell.piece))
        .fold((DISC, DISC), |(width, height), (w, h)| {
            (width.max(w), height.max(h))
        })
}

/// Arrangement of the cells of a row.
struct Arrangement {
    scale: f32,
    /// From one cell to the next, and from one line to the next.
    step: (f32, f32),
    /// Number of cells on a line.
    on_a_line: usize,
}

impl Arrangement {
    fn of(cells: &[Cell]) -> Self {
        let hidden = |cell: &Cell| matches!(cell.piece, Piece::FaceDown { .. });
        let scale = if cells.iter().all(hidden) {
            FACE_DOWN
        } else {
            1.0
        };
        let (width, height) = cells
            .iter()
            .map(|cell| size(cell.piece))
            .fold((0.0_f32, 0.0_f32), |(width, height), (w, h)| {
                (width.max(w), height.max(h))
            });
        let overlap = cells.iter().all(|cell| size(cell.piece) == card::SIZE);
        let (width, height) = (width * scale, height * scale);
        let gap = if overlap { 4.0 } else { 1.0 };
        // Cards that do not fit side by side overlap.
        let least = if overlap {
            LEAST_VISIBLE * scale
        } else {
            width + gap
        };
        let fit = ((LINE - width) / least) as usize + 1;
        let lines = cells.len().div_ceil(fit);
        let on_a_line = if overlap {
            cells.len().div_ceil(lines)
        } else {
            fit
        };
        let others = on_a_line.saturating_sub(1).max(1) as f32;
        let step = if overlap {
            (width + gap).min((LINE - width) / others)
        } else {
            width + gap
        };
        Self {
            scale,
            step: (step, height + gap + if scale < 1.0 { 0.0 } else { RAISED }),
            on_a_line,
        }
    }
}

/// Draws a row below what is drawn.
pub(crate) fn draw(canvas: &mut Canvas<'_>, index: usize, area: &Area, label: &str) {
    canvas.width = canvas.width.max(LINE + 2.0 * MARGIN);
    if area.cells.is_empty() {
        let (x, y) = (number(MARGIN), number(canvas.y + RAISED));
        let size = canvas.largest;
        let nothing = placeholder(size);
        let ground = format!(r#"{label}<g transform="translate({x} {y})">{nothing}</g>"#);
        canvas.ground(index, &ground);
        canvas.y += RAISED + size.1;
        return;
    }
    canvas.ground(index, label);
    let Arrangement {
        scale,
        step,
        on_a_line,
    } = Arrangement::of(&area.cells);
    let raised = if scale < 1.0 { 0.0 } else { RAISED };
    for (at, cell) in area.cells.iter().enumerate() {
        let (line, column) = (at / on_a_line, at % on_a_line);
        let mut inside = face(cell.piece);
        if cell.marked {
            inside.push_str(&ring(size(cell.piece)));
        }
        let place = CellPlace {
            x: MARGIN + column as f32 * step.0,
            y: canvas.y + line as f32 * step.1 + if cell.marked { 0.0 } else { raised },
            scale,
            marked: cell.marked,
            spot: "",
        };
        canvas.cell(index, at, &cell.says, &place, &inside);
    }
    canvas.y += area.cells.len().div_ceil(on_a_line) as f32 * step.1;
}

fn in_the_middle(inside: &str) -> String {
    let middle = number(DISC / 2.0);
    format!(r#"<g transform="translate({middle} {middle})">{inside}</g>"#)
}

/// Mark of a place where something could lie: grey is seen on light and on dark.
fn placeholder((width, height): (f32, f32)) -> String {
    let (width, height) = (number(width - 2.0), number(height - 2.0));
    format!(
        r##"<rect x="1" y="1" width="{width}" height="{height}" rx="4" fill="none" stroke="#808080" stroke-opacity=".6" stroke-dasharray="4 4"/>"##
    )
}

/// A ring around what is marked: dark and bright, so that it is seen on every colour.
fn ring((width, height): (f32, f32)) -> String {
    let shape = format!(
        r#"x="-.5" y="-.5" width="{}" height="{}" rx="5" fill="none""#,
        number(width + 1.0),
        number(height + 1.0)
    );
    format!(
        r##"<rect {shape} stroke="#111827" stroke-width="4.4"/><rect {shape} stroke="#f5a70a" stroke-width="2.6"/>"##
    )
}

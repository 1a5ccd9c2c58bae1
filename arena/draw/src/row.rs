//! An area that is a row: tiles side by side, cards that overlap if they are many.

use referee_core::{Area, Cell, Hidden, Piece, Scene, Surface};

use crate::{
    card, disc,
    glyph::number,
    picture::{Canvas, CellPlace, MARGIN, Motion},
    tile,
};

/// Largest width of a line of tiles or cards.
const LINE: f32 = 480.0;
/// Distance by which a marked piece is raised.
pub(crate) const RAISED: f32 = 7.0;
/// Smallest visible width of a card, so that its corner can be read.
const LEAST_VISIBLE: f32 = 27.0;
/// The size of what lies face down, in a row of nothing else.
const FACE_DOWN: f32 = 0.6;
/// The space before a piece that lies apart.
const APART: f32 = 10.0;
/// Width of a rack of 13 tiles and the one that is drawn.
const RACK: f32 = 14.0 * 34.0 - 1.0 + APART;
/// Height of the corner of a card, with which its rank and suit can be read.
const CORNER: f32 = 42.0;
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
    let rows = scene.areas.iter().filter(|area| !area.shape.is_board());
    rows.flat_map(|area| &area.cells)
        .map(|cell| size(cell.piece))
        .fold((DISC, DISC), |(width, height), (w, h)| {
            (width.max(w), height.max(h))
        })
}

/// The room that a row has.
#[derive(Clone, Copy)]
pub(crate) struct Room {
    /// Its upper left corner.
    pub(crate) x: f32,
    pub(crate) y: f32,
    pub(crate) width: f32,
    /// The size of its pieces.
    pub(crate) scale: f32,
    /// True if the row is in the middle of it, and tiles are made smaller rather than put on
    /// several lines.
    pub(crate) is_middle: bool,
    /// How all of its pieces come; without it each as it is marked.
    pub(crate) motion: Motion,
}

/// Arrangement of the cells of a row.
struct Arrangement {
    x: f32,
    scale: f32,
    /// From one cell to the next, and from one line to the next.
    step: (f32, f32),
    /// Number of cells on a line.
    on_a_line: usize,
}

impl Arrangement {
    fn of(cells: &[Cell], room: Room) -> Self {
        let (width, height) = cells
            .iter()
            .map(|cell| size(cell.piece))
            .fold((0.0_f32, 0.0_f32), |(width, height), (w, h)| {
                (width.max(w), height.max(h))
            });
        let overlap = cells.iter().all(|cell| size(cell.piece) == card::SIZE);
        let gap = if overlap { 4.0 } else { 1.0 };
        let parts = cells.iter().skip(1).filter(|cell| cell.is_apart).count();
        let natural = cells.len() as f32 * (width + gap) - gap + parts as f32 * APART;
        let scale = match room.is_middle && !overlap {
            true => room.scale.min(room.width / natural),
            false => room.scale,
        };
        let (width, height) = (width * scale, height * scale);
        // Cards that do not fit side by side overlap.
        let least = if overlap {
            LEAST_VISIBLE * scale
        } else {
            width + gap * scale
        };
        let fit = match room.is_middle && !overlap {
            true => cells.len(),
            false => ((room.width - width) / least) as usize + 1,
        };
        let lines = cells.len().div_ceil(fit);
        let on_a_line = if overlap {
            cells.len().div_ceil(lines)
        } else {
            fit
        };
        let others = on_a_line.saturating_sub(1).max(1) as f32;
        let step = if overlap {
            (width + gap * scale).min((room.width - width) / others)
        } else {
            width + gap * scale
        };
        let taken = match overlap {
            true => width + (on_a_line - 1) as f32 * step,
            // A rack has room for the tile that is drawn, so that the others stay where they are.
            false => natural.max(RACK) * scale,
        };
        let aside = if room.is_middle {
            (room.width - taken) / 2.0
        } else {
            0.0
        };
        // On the next line the corners of the cards above it can be seen.
        let down = match room.is_middle && lines > 1 {
            true => CORNER * scale,
            false if scale < 1.0 => height + gap,
            false => height + gap + RAISED,
        };
        Self {
            x: room.x + aside.max(0.0),
            scale,
            step: (step, down),
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
    let hidden = |cell: &Cell| matches!(cell.piece, Piece::FaceDown { .. });
    let room = Room {
        x: MARGIN,
        y: canvas.y,
        width: LINE,
        scale: if area.cells.iter().all(hidden) {
            FACE_DOWN
        } else {
            1.0
        },
        is_middle: false,
        motion: Motion::Still,
    };
    canvas.y += draw_cells(canvas, index, &area.cells, room);
}

/// Draws the cells of a row; gives the height that they take.
pub(crate) fn draw_cells(canvas: &mut Canvas<'_>, index: usize, cells: &[Cell], room: Room) -> f32 {
    if cells.is_empty() {
        return 0.0;
    }
    let Arrangement {
        x: left,
        scale,
        step,
        on_a_line,
    } = Arrangement::of(cells, room);
    let raised = if scale < 1.0 { 0.0 } else { RAISED };
    let mut x = left;
    for (at, cell) in cells.iter().enumerate() {
        let (line, column) = (at / on_a_line, at % on_a_line);
        if column == 0 {
            x = left;
        } else if cell.is_apart {
            x += APART * scale;
        }
        let is_raised = cell.is_marked() && !cell.is_apart;
        let place = CellPlace {
            x,
            y: room.y + line as f32 * step.1 + if is_raised { 0.0 } else { raised },
            scale,
            turn: 0.0,
            spot: "",
            motion: match room.motion {
                Motion::Still => Motion::of(cell.mark),
                of_all => of_all,
            },
        };
        draw_cell(canvas, (index, at), cell, &place);
        x += step.0;
    }
    cells.len().div_ceil(on_a_line) as f32 * step.1
}

/// Draws one piece of a row.
pub(crate) fn draw_cell(
    canvas: &mut Canvas<'_>,
    (area, at): (usize, usize),
    cell: &Cell,
    place: &CellPlace,
) {
    let mut inside = face(cell.piece);
    if cell.is_marked() {
        inside.push_str(&ring(size(cell.piece)));
    }
    canvas.cell(area, at, cell, place, &inside);
    let (width, height) = size(cell.piece);
    let middle = (
        place.x + width * place.scale / 2.0,
        place.y + height * place.scale / 2.0,
    );
    canvas.mark_line(&cell.says, middle, |_| String::new());
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

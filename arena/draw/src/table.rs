//! A table with players around it: whoever looks sits at the bottom, and what belongs to nobody lies
//! in the middle.
//!
//! Every place is as large as it must ever be, so that nothing moves while a game goes on.

use referee_core::{Area, Cell, Piece, Scene, Seat, Shape};

use crate::{
    card,
    glyph::number,
    picture::{Canvas, CellPlace, Motion},
    row::{self, Room},
    text, tile,
};

/// Width of a table, and the space between its edge and what lies on it.
const WIDTH: f32 = 512.0;
const EDGE: f32 = 12.0;
const INNER: f32 = WIDTH - 2.0 * EDGE;
/// Height of a line of text, and the space between what lies on the table.
const LINE: f32 = 18.0;
const GAP: f32 = 8.0;
/// Width of the place of a seat at the left or the right, and how far above the middle it begins.
const SIDE: f32 = 152.0;
const SIDE_UP: f32 = 8.0;
/// Width of a corner between two seats.
const CORNER: f32 = 114.0;
/// How far below its label an open hand begins there.
const SIDE_DOWN: f32 = 8.0;
/// Letters of a line of a label there, and its lines; letters of a label elsewhere.
const SIDE_LETTERS: usize = 20;
const SIDE_LINES: usize = 2;
const LETTERS: usize = 60;
/// Size of what other seats hold, of cards in the middle, and of rivers.
const FAR_CARD: f32 = 0.6;
const FAR_TILE: f32 = 0.72;
const MIDDLE: f32 = 0.8;
const RIVER: f32 = 0.74;
/// A river has so many tiles on a line, and so many lines before it goes on beside them.
const RIVER_LINE: usize = 6;
const RIVER_LINES: usize = 3;
/// A fan of cards: from the point around which they turn to the middle of each, the degrees between
/// two, their size, its height, and how far its outer cards reach towards their holder.
const FAN: f32 = 62.0;
const FAN_STEP: f32 = 6.6;
const FAN_CARD: f32 = 0.46;
const FAN_HEIGHT: f32 = 62.0;
const FAN_DOWN: f32 = 17.0;

/// The side of a table at which a seat sits.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Bottom,
    Left,
    Top,
    Right,
}

impl Side {
    /// The side of a seat, as the nearest one sees it. None where a table has too few sides.
    fn of(seat: Seat, nearest: Seat, seats: usize) -> Option<Self> {
        let sides: &[Self] = match seats {
            2 => &[Self::Bottom, Self::Top],
            3 => &[Self::Bottom, Self::Left, Self::Right],
            4 => &[Self::Bottom, Self::Left, Self::Top, Self::Right],
            _ => return None,
        };
        let after = (seat.index() + seats).checked_sub(nearest.index())? % seats;
        sides.get(after).copied()
    }

    /// The degrees by which what lies before it is turned.
    const fn turn(self) -> f32 {
        match self {
            Self::Bottom => 0.0,
            Self::Left => 90.0,
            Self::Top => 180.0,
            Self::Right => 270.0,
        }
    }
}

/// What lies at one side, or in the middle: an area by its index.
type Placed<'a> = (usize, &'a Area);

/// The areas of a scene by their places on a table.
struct Places<'a> {
    hands: Vec<(Side, Placed<'a>)>,
    rivers: Vec<(Side, Placed<'a>)>,
    middle: Vec<Placed<'a>>,
}

impl<'a> Places<'a> {
    /// None where the areas do not lie around a table.
    fn of(scene: &'a Scene) -> Option<Self> {
        let nearest = scene.nearest?;
        let owners = scene.areas.iter().filter_map(|area| area.seat);
        let seats = owners.map(Seat::index).max()? + 1;
        let mut places = Self {
            hands: Vec::new(),
            rivers: Vec::new(),
            middle: Vec::new(),
        };
        for placed in scene.areas.iter().enumerate() {
            let side = match placed.1.seat {
                Some(seat) => Some(Side::of(seat, nearest, seats)?),
                None => None,
            };
            match (&placed.1.shape, side) {
                (Shape::Row, Some(side)) => places.hands.push((side, placed)),
                (Shape::River, Some(side @ (Side::Top | Side::Bottom))) => {
                    places.rivers.push((side, placed));
                }
                (Shape::Row, None) => places.middle.push(placed),
                _ => return None,
            }
        }
        Some(places)
    }

    fn hand(&self, side: Side) -> Option<Placed<'a>> {
        of_side(&self.hands, side)
    }

    fn river(&self, side: Side) -> Option<Placed<'a>> {
        of_side(&self.rivers, side)
    }
}

fn of_side<'a>(areas: &[(Side, Placed<'a>)], side: Side) -> Option<Placed<'a>> {
    let found = areas.iter().find(|(of, _)| *of == side);
    found.map(|(_, placed)| *placed)
}

/// Draws the areas of a scene around a table. False, and nothing is drawn, where they do not lie
/// around one.
pub(crate) fn draw(canvas: &mut Canvas<'_>, scene: &Scene) -> bool {
    let Some(places) = Places::of(scene) else {
        return false;
    };
    let top = canvas.y;
    let are_cards = canvas.largest.1 >= card::SIZE.1;
    let far = match are_cards {
        true => (canvas.largest.1 * FAR_CARD).max(FAN_HEIGHT),
        false => canvas.largest.1 * FAR_TILE,
    };

    let mut y = top + EDGE;
    if let Some(placed) = places.hand(Side::Top) {
        y += ground(canvas, placed, (WIDTH / 2.0, y), (LETTERS, 1), None);
        let width = match places.hand(Side::Left) {
            Some(_) => INNER - 2.0 * CORNER,
            None => INNER,
        };
        hand(canvas, Side::Top, placed, ((WIDTH - width) / 2.0, y, width));
        y += far + GAP;
    }
    if let Some(placed) = places.river(Side::Top) {
        y += river(canvas, placed, y) + GAP;
    }
    let middle = y;
    for &placed in &places.middle {
        let height = canvas.largest.1 * MIDDLE;
        let lines = (SIDE_LETTERS, SIDE_LINES);
        y += ground(canvas, placed, (WIDTH / 2.0, y), lines, Some(height));
        let room = Room {
            x: EDGE + SIDE,
            y,
            width: INNER - 2.0 * SIDE,
            scale: MIDDLE,
            is_middle: true,
            // What lies in the middle has just been played.
            motion: Motion::Lands,
        };
        row::draw_cells(canvas, placed.0, &placed.1.cells, room);
        y += height + GAP;
    }
    for (side, x) in [(Side::Left, EDGE), (Side::Right, WIDTH - EDGE - SIDE)] {
        let Some(placed) = places.hand(side) else {
            continue;
        };
        let lines = (SIDE_LETTERS, SIDE_LINES);
        let from = middle - SIDE_UP;
        let below = ground(canvas, placed, (x + SIDE / 2.0, from), lines, None);
        hand(canvas, side, placed, (x, from + below, SIDE));
        y = y.max(from + below + 2.0 * FAN_HEIGHT);
    }
    if let Some(placed) = places.river(Side::Bottom) {
        y += river(canvas, placed, y) + GAP;
    }
    if let Some(placed) = places.hand(Side::Bottom) {
        y += ground(canvas, placed, (WIDTH / 2.0, y), (LETTERS, 1), None);
        hand(canvas, Side::Bottom, placed, (EDGE, y, INNER));
        y += row::RAISED + canvas.largest.1;
    }
    y += EDGE;
    canvas.cloth(&format!(
        r##"<rect x="3" y="{}" width="{}" height="{}" rx="16" fill="#1e6b4a" stroke="#4a2f1b" stroke-width="4"/>"##,
        number(top - 5.0),
        number(WIDTH - 6.0),
        number(y - top + 5.0),
    ));
    canvas.width = WIDTH;
    canvas.y = y + GAP;
    true
}

/// The ground of an area: its label, whose middle and top are here, on at most so many lines of so
/// many letters, and below it a place of this height. Gives the height of the label, which is the same
/// for every one.
fn ground(
    canvas: &mut Canvas<'_>,
    (index, area): Placed<'_>,
    (x, y): (f32, f32),
    (letters, lines): (usize, usize),
    place: Option<f32>,
) -> f32 {
    let label = canvas.label_of(area);
    let height = match label.is_empty() {
        true => 0.0,
        false => lines as f32 * LINE + 2.0,
    };
    let mut drawn = place.map_or_else(String::new, |tall| {
        let wide = INNER - 2.0 * (SIDE + GAP);
        spot((x - wide / 2.0, y + height - 3.0), (wide, tall + 6.0))
    });
    for (line, words) in text::lines(&label, letters, lines).iter().enumerate() {
        let y = y + 14.0 + line as f32 * LINE;
        drawn.push_str(&text::on_cloth(words, x, y, letters));
    }
    canvas.ground(index, &drawn);
    height
}

/// A place on the cloth where something can lie.
fn spot((x, y): (f32, f32), (width, height): (f32, f32)) -> String {
    format!(
        r##"<rect x="{}" y="{}" width="{}" height="{}" rx="6" fill-opacity=".13"/>"##,
        number(x),
        number(y),
        number(width),
        number(height),
    )
}

/// What a seat holds, in a place from this corner and of this width.
fn hand(
    canvas: &mut Canvas<'_>,
    side: Side,
    (index, area): Placed<'_>,
    (x, y, width): (f32, f32, f32),
) {
    let is_hidden = |cell: &Cell| {
        matches!(cell.piece, Piece::FaceDown { .. }) && row::size(cell.piece) == card::SIZE
    };
    if !area.cells.is_empty() && area.cells.iter().all(is_hidden) {
        fan(canvas, side, (index, area), (x + width / 2.0, y));
        return;
    }
    let scale = match side {
        Side::Bottom => 1.0,
        _ if canvas.largest.1 >= card::SIZE.1 => FAR_CARD,
        _ => FAR_TILE,
    };
    let down = match side {
        Side::Left | Side::Right => SIDE_DOWN,
        Side::Bottom | Side::Top => 0.0,
    };
    let room = Room {
        x,
        y: y + down,
        width,
        scale,
        is_middle: true,
        motion: Motion::Still,
    };
    row::draw_cells(canvas, index, &area.cells, room);
}

/// Cards of which only the backs are seen, as their holder has them in hand, below this point.
fn fan(canvas: &mut Canvas<'_>, side: Side, (index, area): Placed<'_>, (x, y): (f32, f32)) {
    let (width, height) = (card::SIZE.0 * FAN_CARD, card::SIZE.1 * FAN_CARD);
    // The point around which the cards turn.
    let (x, y) = match side {
        Side::Top => (x, y + FAN_DOWN + height / 2.0 - FAN),
        Side::Bottom => (x, y + row::RAISED + height / 2.0 + FAN),
        Side::Left => (x - FAN, y + FAN_HEIGHT),
        Side::Right => (x + FAN, y + FAN_HEIGHT),
    };
    let first = (area.cells.len() - 1) as f32 / 2.0;
    for (at, cell) in area.cells.iter().enumerate() {
        let turn = side.turn() + (at as f32 - first) * FAN_STEP;
        let (sin, cos) = turn.to_radians().sin_cos();
        // Its upper left corner, from the middle of the card, which is turned, too.
        let (left, up) = (-width / 2.0, -FAN - height / 2.0);
        let place = CellPlace {
            x: x + left * cos - up * sin,
            y: y + left * sin + up * cos,
            scale: FAN_CARD,
            turn,
            spot: "",
            motion: Motion::Still,
        };
        row::draw_cell(canvas, (index, at), cell, &place);
    }
}

/// What a seat has discarded; gives the height of its place. The first lines are in the middle of the
/// table, the next ones to the right of it, the others to the left.
fn river(canvas: &mut Canvas<'_>, (index, area): Placed<'_>, y: f32) -> f32 {
    let step = ((tile::SIZE.0 + 1.0) * RIVER, (tile::SIZE.1 + 1.0) * RIVER);
    let width = RIVER_LINE as f32 * step.0;
    let height = RIVER_LINES as f32 * step.1;
    let left = (WIDTH - width) / 2.0;
    canvas.ground(
        index,
        &spot((left - 4.0, y - 3.0), (width + 7.0, height + 5.0)),
    );
    for (at, cell) in area.cells.iter().enumerate() {
        let (line, column) = (at / RIVER_LINE, at % RIVER_LINE);
        let (block, line) = (line / RIVER_LINES, line % RIVER_LINES);
        let aside = match block {
            0 => 0.0,
            1 => width + GAP,
            _ => -width - GAP,
        };
        let place = CellPlace {
            x: left + aside + column as f32 * step.0,
            y: y + line as f32 * step.1,
            scale: RIVER,
            turn: 0.0,
            spot: "",
            motion: Motion::of(cell.mark),
        };
        row::draw_cell(canvas, (index, at), cell, &place);
    }
    height
}

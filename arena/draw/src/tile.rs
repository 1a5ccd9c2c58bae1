//! Tiles, from their upper left corner: an ivory face on a green back.

use std::fmt::Write as _;

use referee_core::TileSuit;

use crate::glyph::{self, number};

/// Width and height of a tile.
pub(crate) const SIZE: (f32, f32) = (33.0, 46.0);

const BLUE: &str = "#1b4797";
const GREEN: &str = "#157a3c";
const RED: &str = "#c4251f";

/// The body of a tile and its face.
const BODY: &str = r##"<rect y="4" width="33" height="42" rx="4.5" fill="#17734a"/><rect width="33" height="43" rx="4.5" fill="#d6c79d"/><rect class="edge" x=".4" y=".4" width="32.2" height="40.2" rx="4" fill="#fffbef" stroke="#9d9271" stroke-width=".8"/>"##;

/// The middle of a face, and the columns and rows of what is on it.
const MIDDLE: (f32, f32) = (16.5, 20.5);

/// A tile, face up. A rank that there is not has an empty face.
pub(crate) fn tile(rank: u8, suit: TileSuit) -> String {
    let mut tile = BODY.to_owned();
    match suit {
        TileSuit::Dots => dots(rank, &mut tile),
        TileSuit::Bamboos => bamboos(rank, &mut tile),
        TileSuit::Characters => characters(rank, &mut tile),
    }
    tile
}

/// A tile, face down.
pub(crate) fn back() -> String {
    r##"<rect y="4" width="33" height="42" rx="4.5" fill="#d6c79d"/><rect width="33" height="43" rx="4.5" fill="#f3ead0"/><rect class="edge" x=".4" y=".4" width="32.2" height="38" rx="4" fill="#1d8a58" stroke="#0e5a37" stroke-width=".8"/><rect x="4.5" y="4.5" width="24" height="29.8" rx="2.5" fill="none" stroke="#4cb585" stroke-width="1.4"/>"##.to_owned()
}

/// Dots of one colour and one radius.
type Dots = (&'static str, f32, &'static [(f32, f32)]);

fn dots(rank: u8, tile: &mut String) {
    let groups: &[Dots] = match rank {
        1 => {
            tile.push_str(&one_dot());
            return;
        }
        2 => &[(GREEN, 7.0, &[(16.5, 11.4)]), (BLUE, 7.0, &[(16.5, 29.6)])],
        3 => &[
            (BLUE, 5.8, &[(8.6, 9.2)]),
            (RED, 5.8, &[MIDDLE]),
            (GREEN, 5.8, &[(24.4, 31.8)]),
        ],
        4 => &[
            (BLUE, 6.2, &[(9.4, 11.0), (23.6, 30.0)]),
            (GREEN, 6.2, &[(23.6, 11.0), (9.4, 30.0)]),
        ],
        5 => &[
            (BLUE, 5.3, &[(8.6, 9.4), (24.4, 31.6)]),
            (GREEN, 5.3, &[(24.4, 9.4), (8.6, 31.6)]),
            (RED, 5.3, &[MIDDLE]),
        ],
        6 => &[
            (GREEN, 4.9, &[(10.2, 8.4), (22.8, 8.4)]),
            (
                RED,
                4.9,
                &[(10.2, 21.4), (22.8, 21.4), (10.2, 32.6), (22.8, 32.6)],
            ),
        ],
        7 => &[
            (GREEN, 3.9, &[(7.2, 6.4), (16.5, 10.4), (25.8, 14.4)]),
            (
                RED,
                4.5,
                &[(10.6, 23.6), (22.4, 23.6), (10.6, 34.0), (22.4, 34.0)],
            ),
        ],
        8 => &[(
            BLUE,
            4.3,
            &[
                (10.4, 6.4),
                (22.6, 6.4),
                (10.4, 15.8),
                (22.6, 15.8),
                (10.4, 25.2),
                (22.6, 25.2),
                (10.4, 34.6),
                (22.6, 34.6),
            ],
        )],
        9 => &[
            (GREEN, 4.3, &[(7.0, 8.5), (16.5, 8.5), (26.0, 8.5)]),
            (RED, 4.3, &[(7.0, 20.5), (16.5, 20.5), (26.0, 20.5)]),
            (BLUE, 4.3, &[(7.0, 32.5), (16.5, 32.5), (26.0, 32.5)]),
        ],
        _ => &[],
    };
    tile.push_str(r#"<g fill="none" stroke-linecap="round">"#);
    for (colour, radius, places) in groups {
        // A line of no length with round ends is a circle, and a path has many of them.
        let mut path = String::new();
        for (x, y) in *places {
            let _ = write!(path, "M{} {}h.01", number(*x), number(*y));
        }
        for (paint, share) in [(*colour, 2.0), ("#fffbef", 1.4), (colour, 0.85)] {
            let width = number(radius * share);
            let _ = write!(
                tile,
                r#"<path d="{path}" stroke="{paint}" stroke-width="{width}"/>"#
            );
        }
    }
    tile.push_str("</g>");
}

/// A dot as large as the face.
fn one_dot() -> String {
    format!(
        r##"<g transform="translate(16.5 20.5)"><circle r="13" fill="{GREEN}"/><circle r="11" fill="#fffbef"/><circle r="8.6" fill="none" stroke="{BLUE}" stroke-width="2.6" stroke-dasharray="2.6 1.9"/><circle r="5.6" fill="{RED}"/><circle r="3.6" fill="#fffbef"/><circle r="2" fill="{RED}"/></g>"##
    )
}

/// A stick from one end to the other.
type Stick = [f32; 4];

/// A stick that stands, around this middle.
const fn stick(x: f32, y: f32, length: f32) -> Stick {
    [x, y - length / 2.0, x, y + length / 2.0]
}

fn bamboos(rank: u8, tile: &mut String) {
    const LEFT: f32 = 7.6;
    const RIGHT: f32 = 25.4;
    const CENTRE: f32 = MIDDLE.0;
    const UPPER: f32 = 11.3;
    const LOWER: f32 = 29.7;
    const LONG: f32 = 12.6;
    const SHORT: f32 = 8.0;
    let three = |y, length| [LEFT, CENTRE, RIGHT].map(|x| stick(x, y, length));
    let two = |y| [10.0, 23.0].map(|x| stick(x, y, LONG));
    let (green, red): (Vec<Stick>, Vec<Stick>) = match rank {
        1 => {
            tile.push_str(&bird());
            return;
        }
        2 => (
            vec![stick(CENTRE, UPPER, LONG), stick(CENTRE, LOWER, LONG)],
            vec![],
        ),
        3 => {
            let [left, right] = two(LOWER);
            (vec![stick(CENTRE, UPPER, LONG), left, right], vec![])
        }
        4 => ([two(UPPER), two(LOWER)].concat(), vec![]),
        5 => {
            let corners = [UPPER, LOWER].map(|y| [LEFT, RIGHT].map(|x| stick(x, y, LONG)));
            (corners.concat(), vec![stick(CENTRE, MIDDLE.1, LONG)])
        }
        6 => ([three(UPPER, LONG), three(LOWER, LONG)].concat(), vec![]),
        7 => (
            [three(20.8, SHORT), three(33.6, SHORT)].concat(),
            vec![stick(CENTRE, 7.6, SHORT)],
        ),
        8 => (
            vec![
                stick(6.4, UPPER, LONG),
                stick(26.6, UPPER, LONG),
                stick(6.4, LOWER, LONG),
                stick(26.6, LOWER, LONG),
                [11.6, 6.6, 15.0, 16.4],
                [21.4, 6.6, 18.0, 16.4],
                [15.0, 24.6, 11.6, 34.4],
                [18.0, 24.6, 21.4, 34.4],
            ],
            vec![],
        ),
        9 => {
            let rows = [7.4, 20.5, 33.6];
            let column = |x| rows.map(|y| stick(x, y, SHORT));
            (
                [column(LEFT), column(RIGHT)].concat(),
                column(CENTRE).to_vec(),
            )
        }
        _ => (vec![], vec![]),
    };
    tile.push_str(r#"<g fill="none" stroke-linecap="round">"#);
    let thick = if rank < 5 { 5.4 } else { 4.2 };
    for (colour, sticks) in [(GREEN, green), (RED, red)] {
        if !sticks.is_empty() {
            stalks(colour, thick, &sticks, tile);
        }
    }
    tile.push_str("</g>");
}

/// Sticks of one colour, each with a joint in the middle and a light line on each half.
fn stalks(colour: &str, thick: f32, sticks: &[Stick], tile: &mut String) {
    let (mut stems, mut joints, mut lights) = (String::new(), String::new(), String::new());
    for [x, y, to_x, to_y] in sticks {
        let (dx, dy) = (to_x - x, to_y - y);
        let length = dx.hypot(dy);
        let (ux, uy) = (dx / length, dy / length);
        let at = |share: f32, aside: f32| {
            let (x, y) = (x + dx * share - uy * aside, y + dy * share + ux * aside);
            format!("{} {}", number(x), number(y))
        };
        let _ = write!(stems, "M{}L{}", at(0.0, 0.0), at(1.0, 0.0));
        let _ = write!(
            joints,
            "M{}L{}",
            at(0.5, -0.62 * thick),
            at(0.5, 0.62 * thick)
        );
        let _ = write!(
            lights,
            "M{}L{}M{}L{}",
            at(0.06, 0.0),
            at(0.3, 0.0),
            at(0.7, 0.0),
            at(0.94, 0.0)
        );
    }
    let _ = write!(
        tile,
        r##"<path d="{stems}" stroke="{colour}" stroke-width="{thick}"/><path d="{joints}" stroke="{colour}" stroke-width="1.9"/><path d="{lights}" stroke="#fff" stroke-opacity=".7" stroke-width="1.1"/>"##
    );
}

/// The bird of the first bamboo.
fn bird() -> String {
    format!(
        r##"<g fill="none" stroke-width="2.2" stroke-linecap="round"><path d="M11 26Q6 30 5.4 36.4M13 27.5Q10.6 32 11 37.4" stroke="{GREEN}"/><path d="M12 27Q8 31 8 37" stroke="{RED}"/><path d="M17 29V36.6M21 28.4V36.6M17 36.6h3M21 36.6h3" stroke="{BLUE}" stroke-width="1.3"/></g><path d="M9 27.5C8.4 19 13 18.4 16.5 14.6C18 13 17.6 9 20 7C22.4 5 26.2 6.6 26.2 10C26.2 14.6 28 17.6 26.4 22.4C24.4 28.6 15.6 31.4 9 27.5Z" fill="{GREEN}"/><path d="M12.4 25.6C12.6 20.6 17 19 21.6 19.4C21 24.4 17.4 27 12.4 25.6Z" fill="{RED}"/><path d="M26 8.6L30.4 10.6L26 12Z" fill="#e0a100"/><path d="M20.6 6.4L18.6 3.2M22.4 5.8L22 2.6" stroke="{RED}" stroke-width="1.4" stroke-linecap="round"/><circle cx="22.8" cy="9.6" r="1.5" fill="#fff"/><circle cx="23.1" cy="9.6" r=".8"/>"##
    )
}

fn characters(rank: u8, tile: &mut String) {
    let numeral = glyph::numeral(rank);
    let below = glyph::TEN_THOUSAND;
    let _ = write!(
        tile,
        r#"<g fill="none" stroke-linecap="round" stroke-linejoin="round"><path transform="translate(6.7 3.4)scale(.98)" d="{numeral}" stroke="{BLUE}" stroke-width="2.4"/><path transform="translate(7.3 21)scale(.92)" d="{below}" stroke="{RED}" stroke-width="1.9"/></g>"#
    );
}

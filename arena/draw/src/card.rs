//! Playing cards, from their upper left corner.

use std::fmt::Write as _;

use referee_core::CardSuit;

use crate::glyph;

/// Width and height of a card.
pub(crate) const SIZE: (f32, f32) = (64.0, 88.0);

const RED: &str = "#c8201f";
const BLACK: &str = "#16181d";
/// A card without anything on it.
const BODY: &str = r##"<rect class="edge" x=".4" y=".4" width="63.2" height="87.2" rx="5" fill="#fffefa" stroke="#7c818b" stroke-width=".8"/>"##;

/// A card, face up.
pub(crate) fn card(rank: u8, suit: CardSuit) -> String {
    let colour = match suit {
        CardSuit::Diamonds | CardSuit::Hearts => RED,
        CardSuit::Clubs | CardSuit::Spades => BLACK,
    };
    let sign = glyph::rank(rank);
    // Signs are centred above their suit.
    let scale = 0.92;
    let corner = format!(
        r#"<g fill="none" stroke="{colour}" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round">{}</g><path d="{}" fill="{colour}"/>"#,
        sign.at(9.6 - sign.width * scale / 2.0, 6.0, scale),
        glyph::suit(suit, 9.6, 28.0, 0.86),
    );
    let middle = if rank > 10 {
        court(rank, suit, colour)
    } else {
        format!(r#"<path d="{}" fill="{colour}"/>"#, pips(rank, suit))
    };
    format!(r#"{BODY}{middle}{}"#, twice(&corner))
}

/// A joker, face up.
pub(crate) fn joker() -> String {
    let mut corner = String::from(
        r##"<g fill="none" stroke="#6b21a8" stroke-width="3" stroke-linecap="round" stroke-linejoin="round">"##,
    );
    for (at, letter) in glyph::JOKER.iter().enumerate() {
        corner.push_str(&letter.at(5.5, 6.0 + 12.0 * at as f32, 0.62));
    }
    corner.push_str("</g>");
    let jester = r##"<g transform="translate(3 3)"><path d="M20 62Q16 54 22 50H45Q51 54 47 62L40.6 57L33.5 64L26.4 57Z" fill="#1b4797"/><circle cx="33.5" cy="43" r="10" fill="#fbe0bd" stroke="#7c5a32" stroke-width=".8"/><path d="M23 40C23 28 17 24 12.5 33C13 20 25 16 30 27L33.5 16L37 27C42 16 54 20 54.5 33C50 24 44 28 44 40Q33.5 33 23 40Z" fill="#c8201f"/><path d="M33.5 16L37 27C38 31 37 34 36.8 36.7Q33.5 36 30.2 36.7C30 34 29 31 30 27Z" fill="#e0a100"/><circle cx="12.8" cy="34.5" r="2.8" fill="#e0a100"/><circle cx="54.2" cy="34.5" r="2.8" fill="#e0a100"/><circle cx="33.5" cy="14.5" r="2.8" fill="#c8201f"/><circle cx="29.8" cy="42" r="1.3"/><circle cx="37.2" cy="42" r="1.3"/><path d="M28.5 46.5Q33.5 51.5 38.5 46.5" fill="none" stroke="#7c1010" stroke-width="1.6" stroke-linecap="round"/></g>"##;
    format!("{BODY}{jester}{corner}")
}

/// A card, face down.
pub(crate) fn back() -> String {
    r##"<rect class="edge" x=".4" y=".4" width="63.2" height="87.2" rx="5" fill="#fffefa" stroke="#7c818b" stroke-width=".8"/><rect x="4" y="4" width="56" height="80" rx="3" fill="#27418f"/><rect x="7" y="7" width="50" height="74" rx="2" fill="none" stroke="#b9c6ee"/><path d="M12 14h42M16 21.5h34M12 29h42M16 36.5h34M12 44h42M16 51.5h34M12 59h42M16 66.5h34M12 74h42" fill="none" stroke="#8ea2dc" stroke-width="3" stroke-linecap="round" stroke-dasharray=".01 8"/>"##.to_owned()
}

/// The corner, and the same upside down in the opposite corner.
fn twice(corner: &str) -> String {
    format!(r#"{corner}<g transform="rotate(180 32 44)">{corner}</g>"#)
}

/// The suit once for each point, in the usual arrangement.
fn pips(rank: u8, suit: CardSuit) -> String {
    const LEFT: f32 = 24.0;
    const MIDDLE: f32 = 32.0;
    const RIGHT: f32 = 40.0;
    if rank == 1 {
        return glyph::suit(suit, MIDDLE, 44.0, 2.7);
    }
    let sides: &[f32] = match rank {
        4 | 5 => &[16.0, 72.0],
        6..=8 => &[16.0, 44.0, 72.0],
        9 | 10 => &[16.0, 34.7, 53.3, 72.0],
        _ => &[],
    };
    let middle: &[f32] = match rank {
        2 => &[16.0, 72.0],
        3 => &[16.0, 44.0, 72.0],
        5 | 9 => &[44.0],
        7 => &[30.0],
        8 => &[30.0, 58.0],
        10 => &[25.3, 62.7],
        _ => &[],
    };
    let columns = [(LEFT, sides), (MIDDLE, middle), (RIGHT, sides)];
    let mut path = String::new();
    for (x, rows) in columns {
        for &y in rows {
            let scale = if y > 44.0 { -0.86 } else { 0.86 };
            path.push_str(&glyph::suit(suit, x, y, scale));
        }
    }
    path
}

/// The middle of a jack, a queen or a king: a frame, a hat and a large letter.
fn court(rank: u8, suit: CardSuit, colour: &str) -> String {
    let hat = match rank {
        11 => {
            r#"<path d="M21 28V24Q22 17.5 30 17.5T39 24V28Z"/><path d="M38 20Q43 17 41.5 12.5Q36 14 35.5 18.5Z"/>"#
        }
        12 => {
            r#"<path d="M21.5 28L20 19.5Q24 23.5 26.5 19Q28.5 17 30 14Q31.5 17 33.5 19Q36 23.5 40 19.5L38.5 28Z"/><circle cx="30" cy="13.5" r="1.8"/>"#
        }
        _ => r#"<path d="M21 28L19.5 16.5L25.5 21.5L30 13.5L34.5 21.5L40.5 16.5L39 28Z"/>"#,
    };
    let mut court = format!(
        r##"<rect x="18.5" y="8.5" width="27" height="71" rx="2.5" fill="#f6ebc8" stroke="{colour}" stroke-width=".9"/><g transform="translate(2 1)" fill="#e2ac1c" stroke="#6d4c00" stroke-width=".9" stroke-linejoin="round">{hat}</g>"##
    );
    let _ = write!(
        court,
        r#"<g fill="none" stroke="{colour}" stroke-width="2.5" stroke-linecap="round" stroke-linejoin="round">{}</g><path d="{}" fill="{colour}"/>"#,
        glyph::rank(rank).at(32.0 - 8.5, 34.0, 1.7),
        glyph::suit(suit, 32.0, 70.0, 1.0),
    );

    court
}

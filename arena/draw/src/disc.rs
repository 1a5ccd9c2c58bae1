//! Discs, holes and forbidden cells, around the middle of a cell.

use referee_core::{Seat, Surface, Words};

/// The colours of one seat's discs.
pub(crate) struct Paint {
    /// Name of the colour for people.
    pub(crate) name: Words<&'static str>,
    fill: &'static str,
    edge: &'static str,
}

const COLOURED: [Paint; 4] = [
    paint(Words::of("red", "红"), "#d8382f", "#8c1712"),
    paint(Words::of("yellow", "黄"), "#f9cf2f", "#a87a00"),
    paint(Words::of("white", "白"), "#f4f4f0", "#8a8a84"),
    paint(Words::of("black", "黑"), "#2b2e34", "#0b0c0e"),
];
const TWO_SIDED: [Paint; 2] = [
    paint(Words::of("black", "黑"), "#1d2025", "#000"),
    paint(Words::of("white", "白"), "#f6f5f0", "#a9a8a2"),
];

const fn paint(name: Words<&'static str>, fill: &'static str, edge: &'static str) -> Paint {
    Paint { name, fill, edge }
}

/// Colour of a seat.
pub(crate) fn of(surface: Surface, seat: Seat) -> &'static Paint {
    match surface {
        Surface::Cloth => &TWO_SIDED[seat.index() % TWO_SIDED.len()],
        Surface::Plain | Surface::Holes => &COLOURED[seat.index() % COLOURED.len()],
    }
}

/// A hole that is empty.
pub(crate) const HOLE: &str =
    r##"<circle r="16.5" fill="#0a2559" stroke="#163f8c" stroke-width="2"/>"##;

/// A disc.
pub(crate) fn disc(surface: Surface, seat: Seat) -> String {
    let Paint { fill, edge, .. } = of(surface, seat);
    if surface == Surface::Cloth {
        let light = if seat.index().is_multiple_of(2) {
            r##"<path d="M-10.5-4.5A11.5 11.5 0 0 1 2-11.3" fill="none" stroke="#fff" stroke-opacity=".4" stroke-width="2.4" stroke-linecap="round"/>"##
        } else {
            r##"<path d="M10.8 5.5A12 12 0 0 1-3 11.8" fill="none" stroke="#c3c1b8" stroke-width="2.4" stroke-linecap="round"/>"##
        };
        return format!(
            r##"<circle cx="1" cy="2" r="16" fill-opacity=".35"/><circle r="15.6" fill="{fill}" stroke="{edge}" stroke-width=".8"/>{light}"##
        );
    }
    // The seats' discs differ in shape too, for who sees no difference of colour.
    let relief = match seat.index() % 2 {
        0 => format!(
            r#"<circle r="9.5" fill="none" stroke="{edge}" stroke-opacity=".6" stroke-width="2"/>"#
        ),
        _ => format!(r#"<circle r="5" fill="{edge}" fill-opacity=".55"/>"#),
    };
    format!(r#"<circle r="15.8" fill="{fill}" stroke="{edge}" stroke-width="2.2"/>{relief}"#)
}

/// A cell that nobody may use.
pub(crate) fn blocked(surface: Surface) -> &'static str {
    match surface {
        Surface::Holes => {
            r##"<circle r="17" fill="#565f6c" stroke="#232830" stroke-width="2"/><path d="M-8-8L8 8M8-8L-8 8" stroke="#e5e7eb" stroke-width="4.5" stroke-linecap="round"/>"##
        }
        Surface::Plain | Surface::Cloth => {
            r##"<rect x="-19.5" y="-19.5" width="39" height="39" fill="#3b4048"/><path d="M-10-10L10 10M10-10L-10 10" stroke="#e5e7eb" stroke-width="4.5" stroke-linecap="round"/>"##
        }
    }
}

/// A ring around what is marked: dark and bright, so that it is seen on every colour.
pub(crate) const RING: &str = r##"<circle r="16.4" fill="none" stroke="#111827" stroke-width="6"/><circle r="16.4" fill="none" stroke="#fff" stroke-width="3"/>"##;

/// A dot on a disc that was turned: it is seen on both sides.
pub(crate) const TURNED: &str =
    r##"<circle r="4.5" fill="#c2570c" stroke="#fff" stroke-width="1.6"/>"##;

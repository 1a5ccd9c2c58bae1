//! Signs as paths: ranks, letters, the suits of cards, the characters on tiles. They look the same
//! on every machine, since they need no fonts.

use std::fmt::Write as _;

use referee_core::CardSuit;

/// A coordinate, as short as it can be written.
pub(crate) fn number(value: f32) -> String {
    let mut text = format!("{value:.2}");
    while text.ends_with('0') {
        text.pop();
    }
    if text.ends_with('.') {
        text.pop();
    }
    match text.as_str() {
        "0" | "-0" => "0".to_owned(),
        short => match (short.strip_prefix("0."), short.strip_prefix("-0.")) {
            (Some(decimals), _) => format!(".{decimals}"),
            (_, Some(decimals)) => format!("-.{decimals}"),
            _ => text,
        },
    }
}

/// A sign made of strokes, in a box 14 high.
pub(crate) struct Strokes {
    /// Width of its box.
    pub(crate) width: f32,
    path: &'static str,
}

impl Strokes {
    /// From this corner, this much larger. The colour and width of lines come from around it.
    pub(crate) fn at(&self, x: f32, y: f32, scale: f32) -> String {
        let (x, y, scale) = (number(x), number(y), number(scale));
        format!(
            r#"<path transform="translate({x} {y})scale({scale})" d="{}"/>"#,
            self.path
        )
    }
}

const fn strokes(width: f32, path: &'static str) -> Strokes {
    Strokes { width, path }
}

/// The letters of a joker.
pub(crate) const JOKER: [Strokes; 5] = [
    strokes(10.0, J),
    strokes(10.0, O),
    strokes(10.0, K),
    strokes(10.0, "M9 0H1V14H9M1 6.8H7.5"),
    strokes(10.0, "M1 14V0H5.5C10 0 10 7.2 5.5 7.2H1M5.5 7.2L9.5 14"),
];
const J: &str = "M3.5 0H8.5V9.5C8.5 12.6 6.8 14 4.6 14C2.2 14 .8 12.6 .6 10.4";
const K: &str = "M1 0V14M9.5 0L1 8.6M4 5.8L9.8 14";
const O: &str = "M5 0C1.8 0 .4 3 .4 7S1.8 14 5 14S9.6 11 9.6 7S8.2 0 5 0Z";

/// A rank of cards: A, 2 to 10, J, Q, K. Others are a dash.
pub(crate) fn rank(rank: u8) -> Strokes {
    match rank {
        1 => strokes(10.0, "M0 14L5 0L10 14M2 9.4H8"),
        2 => strokes(
            10.0,
            "M.6 3.8C.6 1.4 2.4 0 5 0S9.4 1.5 9.4 3.8C9.4 7.4 3.6 9.6 .6 14H9.8",
        ),
        3 => strokes(
            10.0,
            "M1 0H9.2L4.8 5.4C7.8 5.3 9.7 7 9.7 9.5C9.7 12.2 7.6 14 4.8 14C2.5 14 1 12.9 .3 11.2",
        ),
        4 => strokes(10.0, "M7.4 14V0L.2 10H10"),
        5 => strokes(
            10.0,
            "M9 0H2L1.2 6.4C2.2 5.5 3.5 5.1 5 5.1C8 5.1 9.8 6.9 9.8 9.4C9.8 12.2 7.7 14 4.8 14C2.5 14 1 13 .3 11.4",
        ),
        6 => strokes(
            10.0,
            "M8.6 .8C4.5-.6 .3 2.6 .3 9C.3 12 2.2 14 5 14S9.7 12 9.7 9.4S7.9 5.2 5.2 5.2S.8 6.8 .4 9",
        ),
        7 => strokes(10.0, "M.4 0H9.8C6.4 4 4.6 9 4 14"),
        8 => strokes(
            10.0,
            "M5 6.4C2.6 6.4 1 5 1 3.2S2.6 0 5 0S9 1.4 9 3.2S7.4 6.4 5 6.4C2.2 6.4 .3 8 .3 10.2S2.2 14 5 14S9.7 12.4 9.7 10.2S7.8 6.4 5 6.4Z",
        ),
        9 => strokes(
            10.0,
            "M1.4 13.2C5.5 14.6 9.7 11.4 9.7 5C9.7 2 7.8 0 5 0S.3 2 .3 4.6S2.1 8.8 4.8 8.8S9.2 7.2 9.6 5",
        ),
        10 => strokes(
            12.5,
            "M0 2.6L2.8 0V14M9.3 0C6.9 0 6 3 6 7S6.9 14 9.3 14S12.6 11 12.6 7S11.7 0 9.3 0Z",
        ),
        11 => strokes(10.0, J),
        12 => strokes(
            10.0,
            "M5 0C1.8 0 .4 3 .4 7S1.8 14 5 14S9.6 11 9.6 7S8.2 0 5 0ZM6 10L10 15",
        ),
        13 => strokes(10.0, K),
        _ => strokes(10.0, "M1 7H9"),
    }
}

/// A suit of cards around this point, about 12 high at scale 1; upside down if the scale is
/// negative. It is the data of a path, so that one path can have all pips of a card.
pub(crate) fn suit(suit: CardSuit, x: f32, y: f32, scale: f32) -> String {
    let shape = match suit {
        CardSuit::Hearts => {
            "m0 5.6c-1.4-2-5.8-3.8-5.8-7.4c0-4.6 4.8-5 5.8-1.4c1-3.6 5.8-3.2 5.8 1.4c0 3.6-4.4 5.4-5.8 7.4z"
        }
        CardSuit::Diamonds => {
            "m0-6.6c1 2.4 2.6 4.6 4.6 6.6c-2 2-3.6 4.2-4.6 6.6c-1-2.4-2.6-4.6-4.6-6.6c2-2 3.6-4.2 4.6-6.6z"
        }
        CardSuit::Spades => {
            "m0-6.4c1.4 2.4 5.8 4.2 5.8 7.4c0 3.6-4 4.2-5.2 1.6q0.2 2.4 1.6 3.4h-4.4q1.4-1 1.6-3.4c-1.2 2.6-5.2 2-5.2-1.6c0-3.2 4.4-5 5.8-7.4z"
        }
        CardSuit::Clubs => {
            "m-0.6 2o2.8-1.15-3.15o2.8 3.5 0o2.8-1.15 3.15q0.2 2.8 1.7 4h-4.6q1.5-1.2 1.7-4z"
        }
    };
    format!("M{} {}{}", number(x), number(y), scaled(shape, scale))
}

/// A path of relative commands, larger by a factor. It may have `o`, a radius and a place: the
/// long way around a circle to there.
fn scaled(path: &str, scale: f32) -> String {
    let mut drawn = String::with_capacity(path.len());
    let mut rest = path;
    let mut is_radius = false;
    while let Some(first) = rest.chars().next() {
        if first == ' ' || first.is_ascii_alphabetic() {
            is_radius = first == 'o';
            drawn.extend(Some(first).filter(|&c| c != ' ' && c != 'o'));
            rest = &rest[1..];
            continue;
        }
        let end = rest[1..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(rest.len(), |at| at + 1);
        let value = rest[..end].parse::<f32>().unwrap_or_default() * scale;
        rest = &rest[end..];
        if is_radius {
            let radius = number(value.abs());
            let _ = write!(drawn, "a{radius} {radius} 0 1 1");
            is_radius = false;
            continue;
        }
        let value = number(value);
        if drawn.ends_with(|c: char| c.is_ascii_digit()) && !value.starts_with('-') {
            drawn.push(' ');
        }
        drawn.push_str(&value);
    }
    drawn
}

/// 一 to 九, in a box 20 wide and 16 high. Others are nothing.
pub(crate) fn numeral(rank: u8) -> &'static str {
    match rank {
        1 => "M1 8.4H19M16.6 7.2L19 8.4",
        2 => "M4.2 3.5H15.8M1 13H19",
        3 => "M3 1.6H17M4.6 8H15.4M1 14.6H19",
        4 => "M2.2 2H17.8V14.6H2.2ZM7.7 2V6Q7.5 9.4 4.6 10.6M12 2V8.4Q12 10 13.6 10H15.6",
        5 => "M2.6 1.4H17.4M9.4 1.4L7 14.6M4 7.4H15L14.4 14.6M1 14.6H19",
        6 => "M8.8 .2L11 3.2M1.2 5.8H18.8M7.4 8.6Q5.8 12.2 2.2 15.4M12.4 8.6L17.8 15.2",
        7 => "M1.2 8.2L18.8 5M8.8 .4V12.2Q8.8 14.8 11.4 14.8H16.4Q18.6 14.8 18.6 11.6",
        8 => "M7.6 2.4Q6.8 10.4 1.4 15M10.4 .8H12.4Q13 9.6 18.8 15",
        9 => "M1.8 5H14L13.6 12.4Q13.6 14.8 15.8 14.8H17Q19 14.8 18.8 11.6M8 .4V5Q7.6 12 1.6 15.4",
        _ => "",
    }
}

/// 萬, in a box 20 wide and 18 high.
pub(crate) const TEN_THOUSAND: &str = "M1.4 2.6H18.6M6.6 .4V4.8M13.4 .4V4.8M5 6.4H15V11H5ZM5 8.7H15M10 6.4V15.4M2.6 17.8V12.8H17.4V16.6Q17.4 17.8 15.6 17.8H14.6M6 16L12.6 15.2M11.6 13.8L14 16.4";

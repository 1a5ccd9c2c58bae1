//! Draws any scene on a terminal.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;
use referee_core::{Area, CardSuit, Cell, Language, Piece, Scene, Seat, Shape, TileSuit};

/// The widest line.
const WIDTH: usize = 78;
/// By how much what belongs to a label is set in.
const INDENT: usize = 4;

/// With which signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Signs {
    /// Discs as discs, suits as suits.
    Unicode,
    /// Letters: for terminals and files that know nothing else.
    Ascii,
}

/// The colour of a piece.
#[expect(missing_docs, reason = "each is its name")]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ink {
    Plain,
    Red,
    Green,
    Blue,
    Yellow,
    Dimmed,
}

/// A piece as text.
pub struct Sign {
    /// One to three characters.
    pub text: String,
    /// Its colour.
    pub ink: Ink,
}

impl Sign {
    /// The text with the codes of its colour.
    fn coloured(&self) -> String {
        let text = &self.text;
        match self.ink {
            Ink::Plain => text.clone(),
            Ink::Red => text.red().to_string(),
            Ink::Green => text.green().to_string(),
            Ink::Blue => text.blue().to_string(),
            Ink::Yellow => text.yellow().to_string(),
            Ink::Dimmed => text.dimmed().to_string(),
        }
    }
}

impl Signs {
    /// A disc of this seat, with the codes of its colour.
    pub fn disc(self, seat: Seat) -> String {
        self.sign(Piece::Disc { seat }).coloured()
    }

    /// The signs that the terminal can show, as its locale says.
    pub fn of_terminal() -> Self {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"]
            .iter()
            .find_map(|name| std::env::var(name).ok().filter(|value| !value.is_empty()));
        match locale {
            Some(locale) if locale.to_lowercase().replace('-', "").contains("utf8") => {
                Self::Unicode
            }
            _ => Self::Ascii,
        }
    }

    /// The sign of a piece. A terminal that shows letters only may not know colours either, so
    /// letters have none.
    pub fn sign(self, piece: Piece) -> Sign {
        let both = |ascii: &str, unicode: &str, ink| (ascii.to_owned(), unicode.to_owned(), ink);
        let (ascii, unicode, ink) = match piece {
            Piece::Empty => both(".", "·", Ink::Dimmed),
            Piece::Blocked => both("#", "▒", Ink::Dimmed),
            Piece::FaceDown { .. } => both("?", "▒", Ink::Dimmed),
            Piece::Joker { number } => {
                let joker = format!("JK{number}");
                both(&joker, &joker, Ink::Yellow)
            }
            Piece::Disc { seat } if seat.index() == 0 => both("X", "●", Ink::Red),
            Piece::Disc { .. } => both("O", "○", Ink::Yellow),
            Piece::Tile { rank, suit } => {
                let (letter, ink) = match suit {
                    TileSuit::Characters => ('c', Ink::Red),
                    TileSuit::Bamboos => ('b', Ink::Green),
                    TileSuit::Dots => ('d', Ink::Blue),
                };
                let tile = format!("{rank}{letter}");
                both(&tile, &tile, ink)
            }
            Piece::Card { rank, suit } => {
                let rank = match rank {
                    1 => "A".to_owned(),
                    11 => "J".to_owned(),
                    12 => "Q".to_owned(),
                    13 => "K".to_owned(),
                    rank => rank.to_string(),
                };
                let (letter, symbol, ink) = match suit {
                    CardSuit::Clubs => ('C', '♣', Ink::Plain),
                    CardSuit::Diamonds => ('D', '♦', Ink::Red),
                    CardSuit::Hearts => ('H', '♥', Ink::Red),
                    CardSuit::Spades => ('S', '♠', Ink::Plain),
                };
                both(&format!("{rank}{letter}"), &format!("{rank}{symbol}"), ink)
            }
        };
        match self {
            Self::Ascii => Sign {
                text: ascii,
                ink: Ink::Plain,
            },
            Self::Unicode => Sign { text: unicode, ink },
        }
    }
}

/// The whole table. What is marked is in brackets.
pub fn scene(scene: &Scene, signs: Signs, language: Language) -> String {
    let mut text = String::new();
    for area in &scene.areas {
        match &area.shape {
            Shape::Board { rows, columns, .. } => board(area, rows, columns, signs, &mut text),
            Shape::Row | Shape::River => row(area, signs, language, &mut text),
        }
    }
    for caption in &scene.captions {
        text.push_str(caption.get(language));
        text.push('\n');
    }
    text
}

/// Meaning of a scene's signs, where that is not plain.
pub fn legend(scene: &Scene, signs: Signs) -> String {
    let mut pieces = scene.areas.iter().flat_map(|area| &area.cells);
    if pieces.any(|cell| cell.piece == Piece::Blocked) {
        format!("; {} can't be used", signs.sign(Piece::Blocked).coloured())
    } else {
        String::new()
    }
}

/// True if discs tell the seats apart.
pub fn has_discs(scene: &Scene) -> bool {
    let mut pieces = scene.areas.iter().flat_map(|area| &area.cells);
    pieces.any(|cell| matches!(cell.piece, Piece::Disc { .. }))
}

fn board(area: &Area, rows: &[String], columns: &[String], signs: Signs, text: &mut String) {
    let mut line = String::from("    ");
    for column in columns {
        let _ = write!(line, "{column:>2} ");
    }
    push_line(&line, text);
    for (cells, name) in area.cells.chunks(columns.len().max(1)).zip(rows) {
        let mut line = format!("{name:>3} ");
        for cell in cells {
            line.push_str(&in_brackets(cell, signs).0);
        }
        push_line(&line, text);
    }
}

/// The label, and under it the cells on as many lines as they need.
fn row(area: &Area, signs: Signs, language: Language, text: &mut String) {
    let label = area.label.get(language);
    if !label.is_empty() {
        push_line(label, text);
    }
    let mut line = String::new();
    let mut width = WIDTH;
    for cell in &area.cells {
        let (sign, sign_width) = in_brackets(cell, signs);
        if width + sign_width > WIDTH {
            if !line.is_empty() {
                push_line(&line, text);
            }
            line = " ".repeat(INDENT - 1);
            width = INDENT - 1;
        }
        line.push_str(&sign);
        width += sign_width;
    }
    let nothing = area.cells.is_empty();
    push_line(if nothing { "    -" } else { &line }, text);
}

/// A cell in colour, and how wide it is.
fn in_brackets(cell: &Cell, signs: Signs) -> (String, usize) {
    let sign = signs.sign(cell.piece);
    let width = sign.text.chars().count() + 2;
    let text = sign.coloured();
    let text = if cell.is_marked() {
        format!("[{text}]")
    } else {
        format!(" {text} ")
    };
    (text, width)
}

fn push_line(line: &str, text: &mut String) {
    text.push_str(line.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use referee_core::{Hidden, Mark, Surface, Words};

    use super::*;

    #[test]
    fn a_board_in_letters() {
        let disc = |seat| {
            Cell::new(Piece::Disc {
                seat: Seat::new(seat),
            })
        };
        let empty = || Cell::new(Piece::Empty);
        let table = Scene {
            areas: vec![Area {
                label: Words::default(),
                seat: None,
                shape: Shape::Board {
                    surface: Surface::Plain,
                    rows: ["0", "1"].map(str::to_owned).to_vec(),
                    columns: ["0", "1", "2", "3"].map(str::to_owned).to_vec(),
                },
                cells: vec![
                    empty(),
                    empty(),
                    empty(),
                    Cell::new(Piece::Blocked),
                    disc(0),
                    disc(1).marked(Some(Mark::Last)),
                    empty(),
                    empty(),
                ],
            }],
            captions: vec![Words::new("it is over", "")],
            nearest: None,
        };
        assert_eq!(
            scene(&table, Signs::Ascii, Language::En),
            "     0  1  2  3\n  0  .  .  .  #\n  1  X [O] .  .\nit is over\n"
        );
    }

    /// A hand that is drawn is read where hands are read.
    #[test]
    fn hands_are_read_as_they_are_drawn() {
        use referee_games::{big_two::Cards, mahjong};

        for name in ["mahjong", "big_two"] {
            let kind = referee_games::game(name).expect("a game");
            let mut read = 0;
            for number in 0..20 {
                let seed = referee_core::Seed::new([number; 32]);
                let table = kind.deal(&Default::default(), &seed);
                let mut table = table.expect("the standard set-up");
                while let referee_core::TableStep::Tell(_) = table.step() {}
                let scene = table.open_scene();
                let hands = scene.areas.iter().filter(|area| !area.cells.is_empty());
                for hand in hands {
                    let says: Vec<&str> = hand.cells.iter().map(|cell| &*cell.says).collect();
                    for signs in [Signs::Ascii, Signs::Unicode] {
                        let cells = hand.cells.iter();
                        let drawn: Vec<String> = cells
                            .map(|cell| {
                                let sign = signs.sign(cell.piece).text;
                                if cell.is_marked() {
                                    format!("[{sign}]")
                                } else {
                                    sign
                                }
                            })
                            .collect();
                        let drawn = drawn.join("  ");
                        let expected = says.join(" ");
                        if name == "mahjong" {
                            let tiles = mahjong::parse(&drawn);
                            assert_eq!(tiles, mahjong::parse(&expected), "{drawn}");
                        } else {
                            let cards = drawn.parse::<Cards>();
                            assert_eq!(cards, expected.parse(), "{drawn}");
                        }
                        read += 1;
                    }
                }
            }
            assert!(read >= 80, "{name}: {read}");
        }
    }

    #[test]
    fn rows_of_tiles_and_cards_are_wrapped() {
        let tile = |rank| {
            Cell::new(Piece::Tile {
                rank,
                suit: TileSuit::Bamboos,
            })
        };
        let card = |rank, suit| Cell::new(Piece::Card { rank, suit });
        let row = |label: &str, cells| Area {
            label: Words::new(label, ""),
            seat: None,
            shape: Shape::Row,
            cells,
        };
        let table = Scene {
            areas: vec![
                row("river", (0..21).map(|i| tile(i % 9 + 1)).collect()),
                row(
                    "trick",
                    vec![
                        card(10, CardSuit::Hearts).marked(Some(Mark::Last)),
                        card(1, CardSuit::Spades),
                        Cell::new(Piece::Joker { number: 2 }),
                        Cell::new(Piece::FaceDown { of: Hidden::Card }),
                    ],
                ),
                row("nothing", Vec::new()),
            ],
            captions: Vec::new(),
            nearest: None,
        };
        let drawn = scene(&table, Signs::Ascii, Language::En);
        assert_eq!(
            drawn,
            "river\n    \
             1b  2b  3b  4b  5b  6b  7b  8b  9b  1b  2b  3b  4b  5b  6b  7b  8b  9b\n    \
             1b  2b  3b\ntrick\n   [10H] AS  JK2  ?\nnothing\n    -\n"
        );
        assert!(drawn.lines().all(|line| line.chars().count() <= WIDTH));
        let coloured = scene(&table, Signs::Unicode, Language::En);
        assert!(coloured.contains("10♥"), "{coloured}");
    }
}

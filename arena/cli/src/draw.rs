//! Draws any scene on a terminal.

use std::fmt::Write as _;

use owo_colors::OwoColorize as _;
use referee_core::{Item, Scene, Seat};

/// With which signs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Signs {
    /// Discs as discs.
    Unicode,
    /// Letters: for terminals and files that know nothing else.
    Ascii,
}

impl Signs {
    /// A disc of this seat.
    pub(crate) fn disc(self, seat: Seat) -> String {
        match (self, seat.index()) {
            (Self::Ascii, 0) => "X".to_owned(),
            (Self::Ascii, _) => "O".to_owned(),
            (Self::Unicode, 0) => "●".red().to_string(),
            (Self::Unicode, _) => "○".yellow().to_string(),
        }
    }

    /// A cell that nobody may use.
    pub(crate) fn blocked(self) -> String {
        match self {
            Self::Ascii => "#".to_owned(),
            Self::Unicode => "▒".dimmed().to_string(),
        }
    }

    /// What the terminal's locale says that it can show.
    pub(crate) fn of_terminal() -> Self {
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
}

/// The board with its rows and columns numbered. Discs are X and O, or round
/// ones in two colours; what can't be used is #; the last disc is in brackets.
pub(crate) fn board(scene: &Scene, signs: Signs) -> String {
    let mut text = String::from("    ");
    for column in 0..scene.columns {
        let _ = write!(text, "{column:>2} ");
    }
    trim(&mut text);
    for row in 0..scene.rows {
        let _ = write!(text, "{row:>3} ");
        for column in 0..scene.columns {
            let item = scene.items.iter().find(|item| place(item) == (row, column));
            text.push_str(&cell(item, signs));
        }
        trim(&mut text);
    }
    for caption in &scene.captions {
        text.push_str(caption);
        text.push('\n');
    }
    text
}

fn cell(item: Option<&Item>, signs: Signs) -> String {
    match (item, signs) {
        (None, Signs::Ascii) => " . ".to_owned(),
        (None, Signs::Unicode) => format!(" {} ", "·".dimmed()),
        (Some(Item::Blocked { .. }), signs) => format!(" {} ", signs.blocked()),
        (Some(Item::Disc { seat, marked, .. }), signs) => {
            let disc = signs.disc(*seat);
            if *marked {
                format!("[{disc}]")
            } else {
                format!(" {disc} ")
            }
        }
    }
}

const fn place(item: &Item) -> (u8, u8) {
    match item {
        Item::Blocked { row, column } | Item::Disc { row, column, .. } => (*row, *column),
    }
}

fn trim(text: &mut String) {
    text.truncate(text.trim_end().len());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_board_in_letters() {
        let disc = |row, column, seat, marked| Item::Disc {
            row,
            column,
            seat: Seat::new(seat),
            marked,
        };
        let scene = Scene {
            rows: 2,
            columns: 4,
            items: vec![
                disc(1, 0, 0, false),
                disc(1, 1, 1, true),
                Item::Blocked { row: 0, column: 3 },
            ],
            captions: vec!["it is over".to_owned()],
        };
        assert_eq!(
            board(&scene, Signs::Ascii),
            "     0  1  2  3\n  0  .  .  .  #\n  1  X [O] .  .\nit is over\n"
        );
    }
}

//! Text that somebody else wrote, made fit to be shown: nothing in it moves a cursor,
//! colours a terminal, turns the direction of a line or hides.

use std::fmt::Write as _;

/// True if a character is shown as itself. Others are control characters (also those above
/// 127), line and paragraph separators, marks that turn the direction of text (Unicode
/// Standard Annex 9), and characters that nobody sees. The two joiners are parts of words
/// in some languages.
#[must_use]
pub const fn is_printable(c: char) -> bool {
    !matches!(c,
        '\0'..='\u{1f}'
        | '\u{7f}'..='\u{9f}'
        | '\u{61c}'
        | '\u{200b}'
        | '\u{200e}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}')
}

/// A text in one line, with an escape for each character that is not printable: `\n`,
/// `\u{1b}`. A text that has been escaped stays as it is.
#[must_use]
pub fn printable(text: &str) -> String {
    escaped(text, is_printable)
}

/// The same, but a text of several lines keeps them.
#[must_use]
pub fn printable_lines(text: &str) -> String {
    escaped(text, |c| c == '\n' || is_printable(c))
}

/// The text, of at most this many letters: `…` stands for the rest.
///
/// # Panics
///
/// `most` is 0.
#[must_use]
pub fn shorten(text: &str, most: usize) -> String {
    assert!(most > 0, "one letter stands for the rest");
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.push('…');
    short
}

/// A text of somebody else as an error quotes it: each line is printable and of at most 300
/// letters, and there are at most 12 lines.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const LINES: usize = 12;
    const LETTERS: usize = 300;
    let mut lines = text.lines();
    let shown = lines.by_ref().take(LINES);
    let mut shown: Vec<String> = shown
        // What is left out is not escaped either.
        .map(|line| shorten(&printable(&shorten(line, LETTERS)), LETTERS))
        .collect();
    if lines.next().is_some() {
        shown.push("…".to_owned());
    }
    shown.join("\n")
}

fn escaped(text: &str, stays: impl Fn(char) -> bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if stays(c) {
            shown.push(c);
        } else {
            write!(shown, "{}", c.escape_default()).expect("writing to a string can't fail");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_obeys_is_escaped() {
        for (text, shown) in [
            ("best bot 2.0 棋 ♣ é \\ \"", "best bot 2.0 棋 ♣ é \\ \""),
            ("\u{1b}[2J\u{1b}]0;x\u{7}", r"\u{1b}[2J\u{1b}]0;x\u{7}"),
            ("\u{9b}31m\u{7f}\0", r"\u{9b}31m\u{7f}\u{0}"),
            ("a\r\n\tb\u{2028}c", r"a\r\n\tb\u{2028}c"),
            (
                "\u{202e}gpj\u{2066}\u{200f}",
                r"\u{202e}gpj\u{2066}\u{200f}",
            ),
            ("\u{feff}\u{e0041}\u{200b}", r"\u{feff}\u{e0041}\u{200b}"),
            // A family, and a word that needs a joiner.
            (
                "👨\u{200d}👩\u{200d}👧 می\u{200c}خواهم",
                "👨\u{200d}👩\u{200d}👧 می\u{200c}خواهم",
            ),
        ] {
            assert_eq!(printable(text), shown);
            assert_eq!(printable(shown), shown);
        }
        assert_eq!(printable_lines("a\n\u{1b}b\r\n"), "a\n\\u{1b}b\\r\n");
    }

    #[test]
    fn an_error_quotes_a_short_printable_part_of_a_text() {
        assert_eq!(
            excerpt("found \"f5\u{1b}[2J\"\nb"),
            "found \"f5\\u{1b}[2J\"\nb"
        );
        let long = excerpt(&"\u{1b}".repeat(1 << 20));
        assert_eq!(long.chars().count(), 300);
        assert!(
            long.starts_with(r"\u{1b}\u{1b}") && long.ends_with('…'),
            "{long}"
        );
        let lines = excerpt(&"a\n".repeat(100));
        assert_eq!(lines, format!("{}…", "a\n".repeat(12)));
    }
}

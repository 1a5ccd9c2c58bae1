//! Lines of text that fit a terminal.

/// The widest line that a terminal of the usual width shows in one piece.
pub const WIDTH: usize = 80;

/// A line on as many lines as it needs, the others indented by a little more than the
/// first.
#[must_use]
pub fn wrapped(line: &str) -> String {
    const MORE: usize = 4;
    let words = line.trim_start();
    let indent = line.len() - words.len();
    filled(" ".repeat(indent), words.split(' '), indent + MORE)
}

/// Words behind what a line begins with, on as many lines as they need; the lines below are
/// indented.
#[must_use]
pub fn filled<'a>(first: String, words: impl Iterator<Item = &'a str>, indent: usize) -> String {
    let mut width = first.chars().count();
    let mut lines = first;
    for (at, word) in words.enumerate() {
        let length = word.chars().count();
        if at > 0 && width + 1 + length > WIDTH {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            width = indent;
        } else if at > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}

/// A remark, on standard error.
pub fn note(words: &str) {
    anstream::eprintln!("{}", wrapped(&format!("note: {words}")));
}

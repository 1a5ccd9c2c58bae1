//! Lines of text that fit a terminal.

use std::io::{self, Write as _};

use anyhow::Context as _;

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

/// A line on standard error. Where that can't be written, as on a terminal that is gone, there is
/// nobody to tell so.
pub fn tell(line: &str) {
    let _ = writeln!(anstream::stderr(), "{line}");
}

/// A remark, on standard error.
pub fn note(words: &str) {
    note_with_lines(words, &[]);
}

/// A line on standard output, at once.
///
/// # Errors
///
/// It can't be written.
pub fn say(line: &str) -> anyhow::Result<()> {
    writeln!(anstream::stdout(), "{line}").context(NOT_WRITTEN)?;
    flush()
}

/// Writes out what was printed so far.
///
/// # Errors
///
/// It can't be written.
pub fn flush() -> anyhow::Result<()> {
    io::stdout().flush().context(NOT_WRITTEN)
}

/// The beginning of an error of standard output.
pub const NOT_WRITTEN: &str = "could not write to standard output";

/// Prints the help or the version that was asked for, or the mistake in the arguments.
///
/// # Errors
///
/// Help that was asked for can't be written.
pub fn print_help(found: &clap::Error) -> anyhow::Result<()> {
    let printed = found.print().and_then(|()| io::stdout().flush());
    match printed {
        // Whoever closed its end has read enough; and a mistake has its exit code, whether somebody
        // reads about it or not.
        Err(error) if !found.use_stderr() && error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context(NOT_WRITTEN)
        }
        _ => Ok(()),
    }
}

/// The same, with lines of somebody else's program below it.
pub fn note_with_lines(words: &str, lines: &[String]) {
    let note = wrapped(&format!("note: {words}"));
    tell(format!("{note}\n{}", quoted(lines, 6)).trim_end());
}

/// Lines of somebody else's program, each on as many lines as it needs, indented by so much.
#[must_use]
pub fn quoted(lines: &[String], indent: usize) -> String {
    let shown = lines.iter().map(|line| {
        let words = line.trim_start();
        let deep = indent + line.len() - words.len();
        filled(" ".repeat(deep), words.split(' '), deep + 4) + "\n"
    });
    shown.collect()
}

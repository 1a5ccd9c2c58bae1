//! Text, tables, events and progress on the terminal: nothing else prints.

use std::{
    io::Write as _,
    sync::{
        Arc,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use anyhow::{Context as _, Result};
use arena_events::{Event, Line};
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use owo_colors::OwoColorize as _;
use referee_core::shorten;

pub use arena_words::plural;
pub use referee_cli::text::{
    NOT_WRITTEN, WIDTH, filled, note, note_with_lines, quoted, tell, wrapped,
};

/// Text as it is.
pub fn text(text: &str) -> Result<()> {
    let written = anstream::stdout().lock().write_all(text.as_bytes());
    written.context(NOT_WRITTEN)
}

/// A line, on as many lines as it needs.
pub fn line(line: &str) -> Result<()> {
    text(&format!("{}\n", wrapped(line)))
}

/// A line that stands out, after an empty one.
pub fn heading(heading: &str) -> Result<()> {
    text(&format!("\n{}\n", heading.bold()))
}

/// Rows under a header, each column as wide as it must be.
pub fn plain_table<const N: usize>(
    header: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<()> {
    let rows = rows.into_iter().map(Vec::from).collect();
    table(header, rows, |_| false)
}

/// The same; columns of figures are set to the right.
pub fn table(
    header: &[&str],
    rows: Vec<Vec<String>>,
    is_figure: impl Fn(usize) -> bool,
) -> Result<()> {
    let lines = table_lines(header, rows, is_figure);
    text(&format!("{}\n", lines.join("\n")))
}

/// The width of the terminal, or the usual one where there is none.
pub fn width() -> usize {
    let (_, columns) = console::Term::stdout().size_checked().unwrap_or((0, 0));
    usize::from(columns).max(WIDTH)
}

/// Rows whose last column takes the width that the others leave, but at least so many
/// letters; the others have at most as many as said.
pub fn fitted<const N: usize>(
    header: &[&str; N],
    mut rows: Vec<[String; N]>,
    most: &[usize],
    last_at_least: usize,
) -> Vec<[String; N]> {
    for row in &mut rows {
        for (cell, most) in row.iter_mut().zip(most) {
            *cell = shorten(cell, *most);
        }
    }
    let widest = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([header[column].chars().count()]).max()
    };
    // Between columns there are two blanks, and one at either end.
    let taken: usize = (0..N - 1).filter_map(widest).map(|width| width + 2).sum();
    let left = width().saturating_sub(taken + 2).max(last_at_least);
    for row in &mut rows {
        row[N - 1] = shorten(&row[N - 1], left);
    }
    rows
}

/// The ranks, from 1, of values that are in order; equal ones share a rank.
#[must_use]
pub fn shared_ranks<T: PartialEq>(ordered: &[T]) -> Vec<usize> {
    let mut ranks = Vec::with_capacity(ordered.len());
    for (at, value) in ordered.iter().enumerate() {
        ranks.push(match at.checked_sub(1) {
            Some(before) if ordered[before] == *value => ranks[before],
            _ => at + 1,
        });
    }
    ranks
}

/// The lines of a table: a header and rows. Columns of figures are set to the right.
pub fn table_lines(
    header: &[&str],
    rows: Vec<Vec<String>>,
    is_figure: impl Fn(usize) -> bool,
) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    for column in (0..header.len()).filter(|column| is_figure(*column)) {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines();
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// Games that this run has played, games a second, time left; only on a terminal. Until the first game
/// is over, the moves so far say that it goes on, where they are known.
pub fn progress(games: Option<u64>, moves: Option<Arc<AtomicU64>>) -> ProgressBar {
    let style = match games {
        Some(_) => "{bar:30} {pos}/{len} games  {pace}  {left} left",
        None => "{spinner} {pos} games  {pace}",
    };
    let style = ProgressStyle::with_template(style)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "pace",
            move |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let moves = moves.as_ref().map(|moves| moves.load(Ordering::Relaxed));
                let _ = out.write_str(&pace(state.pos(), state.per_sec(), moves));
            },
        )
        .with_key(
            "left",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = out.write_str(&time_left(state.per_sec(), state.eta()));
            },
        );
    let bar = ProgressBar::with_draw_target(games, ProgressDrawTarget::stderr()).with_style(style);
    // It should be there before the first game has ended.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// Games a second, or the moves so far where no game is over.
fn pace(games: u64, a_second: f64, moves: Option<u64>) -> String {
    match (games, moves) {
        (0, Some(moves)) => plural(moves, "move"),
        _ => format!("{a_second:.1}/s"),
    }
}

/// The time that is left, by the games a second so far.
fn time_left(a_second: f64, estimate: Duration) -> String {
    match a_second > 0.0 {
        true => format!("{:#}", HumanDuration(estimate)),
        false => "?".to_owned(),
    }
}

/// One event as one line of JSON.
pub fn event(event: Event) -> Result<()> {
    let mut out = std::io::stdout().lock();
    let written = writeln!(out, "{}", Line::from(event));
    // Whoever reads along should not wait for a full buffer.
    written.and_then(|()| out.flush()).context(NOT_WRITTEN)
}

/// A warning, on standard error.
pub fn warning(words: &str) {
    let text = wrapped(&format!("warning: {words}"));
    let text = text.strip_prefix("warning:").unwrap_or(&text);
    tell(&format!("{}{text}", "warning:".yellow().bold()));
}

/// A length of time in three figures or so.
pub fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us}us"),
        1_000..10_000 => format!("{:.1}ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{}ms", us / 1_000),
        1_000_000..100_000_000 => format!("{:.1}s", us as f64 / 1e6),
        _ => format!("{}s", us / 1_000_000),
    }
}

/// The longest name in a table.
pub const LONGEST_NAME: usize = 16;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_line_is_broken_between_words() {
        assert_eq!(wrapped("  a bot   won"), "  a bot   won");
        let lines = wrapped(&format!("    {}", ["word"; 40].join(" ")));
        let lines: Vec<_> = lines.lines().collect();
        assert_eq!(lines[0], format!("    {}", ["word"; 15].join(" ")));
        assert_eq!(lines[1], format!("        {}", ["word"; 14].join(" ")));
        assert_eq!(lines[2], format!("        {}", ["word"; 11].join(" ")));
        assert!(lines.iter().all(|line| line.len() <= WIDTH));
    }

    #[test]
    fn progress_says_what_is_known() {
        assert_eq!(pace(0, 0.0, Some(0)), "0 moves");
        assert_eq!(pace(0, 0.0, Some(1)), "1 move");
        assert_eq!(pace(0, 0.0, None), "0.0/s");
        assert_eq!(pace(3, 0.5, Some(99)), "0.5/s");
        assert_eq!(time_left(0.0, Duration::ZERO), "?");
        assert_eq!(time_left(0.5, Duration::from_secs(80)), "80s");
    }

    #[test]
    fn times_are_short() {
        for (us, text) in [
            (0, "0us"),
            (999, "999us"),
            (1_000, "1.0ms"),
            (9_949, "9.9ms"),
            (10_000, "10ms"),
            (999_999, "999ms"),
            (2_940_000, "2.9s"),
            (3_600_000_000, "3600s"),
        ] {
            assert_eq!(time(us), text);
        }
    }
}

//! How a run went, for people and for programs. Nothing else prints results.

use std::{io::Write as _, time::Duration};

use anyhow::Result;
use comfy_table::{CellAlignment, Table, presets};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressState, ProgressStyle};
use owo_colors::OwoColorize as _;
use referee_core::Verdict;
use serde_json::json;

use crate::{
    run::Pairing,
    tally::{GameResult, Standing, Tally, Thinking, plural},
};

/// Text as it is.
pub(crate) fn text(text: &str) -> Result<()> {
    anstream::stdout().lock().write_all(text.as_bytes())?;
    Ok(())
}

/// The widest line that a terminal of the usual width shows in one piece.
pub(crate) const WIDTH: usize = 80;

/// Standings as a table that fits 80 columns.
pub(crate) fn table(tally: &Tally, names: &[String]) -> Result<()> {
    if tally.games() == 0 {
        return text("no game has come to its end\n");
    }
    let mut lines = standings(tally, names, LONGEST_NAME);
    // Many games make wide columns: the names give way.
    for most in [12, 8] {
        if lines.iter().any(|line| line.chars().count() > WIDTH) {
            lines = standings(tally, names, most);
        }
    }
    let mut out = anstream::stdout().lock();
    for (at, line) in lines.iter().enumerate() {
        if at == 0 {
            writeln!(out, "{}", line.bold())?;
        } else {
            writeln!(out, "{line}")?;
        }
    }
    if tally.is_scored() {
        writeln!(out, "\n{}", margins(tally, names))?;
    }
    let fouls: Vec<String> = tally
        .ranked()
        .into_iter()
        .filter(|standing| !standing.fouls.is_empty())
        .map(|standing| {
            let kinds: Vec<_> = standing
                .fouls
                .iter()
                .map(|(kind, count)| format!("{} {count}", kind.words()))
                .collect();
            format!("{}: {}", names[standing.bot], kinds.join(", "))
        })
        .collect();
    if !fouls.is_empty() {
        let fouls = format!("fouls: {}", fouls.join("; "));
        writeln!(out, "\n{}", wrapped(&fouls))?;
    }
    Ok(())
}

/// The lines of the table, with names of at most so many letters.
fn standings(tally: &Tally, names: &[String], longest_name: usize) -> Vec<String> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    let four = tally.seats() > 2;
    let (middle, how) = if four {
        ("place", "1-2-3-4")
    } else {
        ("score", "W-D-L")
    };
    table.set_header([
        "#", "bot", "games", "points", middle, how, "fouls", "median", "p99", "max",
    ]);
    for (rank, standing) in tally.ranked().into_iter().enumerate() {
        let thinking = standing.thinking();
        let time = |pick: fn(Thinking) -> u64| thinking.map_or("-".to_owned(), |t| time(pick(t)));
        table.add_row([
            (rank + 1).to_string(),
            shorten(&names[standing.bot], longest_name),
            standing.games().to_string(),
            points(standing.points),
            if four {
                place(standing)
            } else {
                score(standing)
            },
            if four {
                dashed(&standing.places)
            } else {
                dashed(&[standing.wins, standing.draws, standing.losses])
            },
            standing.fouls.values().sum::<u32>().to_string(),
            time(|t| t.median_us),
            time(|t| t.p99_us),
            time(|t| t.max_us),
        ]);
    }
    for column in [0, 2, 3, 4, 5, 6, 7, 8, 9] {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    let lines = table.lines();
    lines.map(|line| line.trim_end().to_owned()).collect()
}

/// A line on as many lines as it needs, the others set in a little more than the
/// first.
pub(crate) fn wrapped(line: &str) -> String {
    const MORE: usize = 4;
    let words = line.trim_start();
    let indent = line.len() - words.len();
    let mut lines = " ".repeat(indent);
    let mut width = indent;
    for (at, word) in words.split(' ').enumerate() {
        let length = word.chars().count();
        if at > 0 && width + 1 + length > WIDTH {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent + MORE));
            width = indent + MORE;
        } else if at > 0 {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines
}

/// A line that stands out, after an empty one.
pub(crate) fn heading(text: &str) -> Result<()> {
    let mut out = anstream::stdout().lock();
    writeln!(out, "\n{}", text.bold())?;
    Ok(())
}

/// Rows under a header, each column as wide as it must be.
pub(crate) fn plain_table<const N: usize>(
    header: &[&str; N],
    rows: impl IntoIterator<Item = [String; N]>,
) -> Result<()> {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header);
    table.add_rows(rows);
    let mut out = anstream::stdout().lock();
    for line in table.lines() {
        writeln!(out, "{}", line.trim_end())?;
    }
    Ok(())
}

/// Games done, games a second, time left; only on a terminal.
pub(crate) fn progress(games: Option<u64>) -> ProgressBar {
    let style = match games {
        Some(_) => "{bar:30} {pos}/{len} games  {rate}  {eta} left",
        None => "{spinner} {pos} games  {rate}",
    };
    let style = ProgressStyle::with_template(style)
        .unwrap_or_else(|_| ProgressStyle::default_bar())
        .with_key(
            "rate",
            |state: &ProgressState, out: &mut dyn std::fmt::Write| {
                let _ = write!(out, "{:.1}/s", state.per_sec());
            },
        );
    let bar = ProgressBar::with_draw_target(games, ProgressDrawTarget::stderr()).with_style(style);
    // It should be there before the first game has ended.
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

/// What a reader should know besides, on standard error.
pub(crate) fn warnings(tally: &Tally, names: &[String]) {
    for warning in tally.warnings(names) {
        anstream::eprintln!("{} {warning}", "warning:".yellow().bold());
    }
}

/// One event as one line of JSON.
pub(crate) fn event(value: &serde_json::Value) -> Result<()> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "{value}")?;
    // Whoever reads along should not wait for a full buffer.
    out.flush()?;
    Ok(())
}

/// A game that has ended.
pub(crate) fn game_event(result: &GameResult, names: &[String]) -> serde_json::Value {
    let Pairing {
        group,
        seating,
        bots,
    } = &result.pairing;
    let players: Vec<_> = bots.iter().map(|&bot| &names[bot]).collect();
    let (places, scores, reason, fouls) = match &result.verdict {
        Verdict::Finished { outcome, fouls } => (
            json!(outcome.places),
            json!(outcome.scores),
            json!(outcome.reason),
            json!(fouls),
        ),
        Verdict::Void { reason } => (json!(null), json!(null), json!(reason), json!([])),
    };
    json!({
        "type": "game",
        "game_id": result.pairing.id(),
        "round": group,
        "seating": seating,
        "players": players,
        "places": places,
        "scores": scores,
        "reason": reason,
        "fouls": fouls,
        "plies": result.plies,
        "thought_us": result.thought.iter().map(|t| t.as_micros() as u64).collect::<Vec<_>>(),
        "play_hash": result.play_hash,
        "record": result.record,
    })
}

/// The table as an event.
pub(crate) fn standings_event(tally: &Tally, names: &[String]) -> serde_json::Value {
    let standings: Vec<_> = tally
        .ranked()
        .into_iter()
        .enumerate()
        .map(|(rank, standing)| {
            json!({
                "rank": (standing.games() > 0).then_some(rank + 1),
                "bot": names[standing.bot],
                "games": standing.games(),
                "points": standing.points,
                "score": (standing.games() > 0).then(|| standing.score()),
                "wins": standing.wins,
                "draws": standing.draws,
                "losses": standing.losses,
                "places": standing.places,
                "mean_place": standing.mean_place(),
                "purse": tally.purse(standing),
                "margin": standing.margin().filter(|_| tally.is_scored()),
                "fouls": standing.fouls,
                "thinking": standing.thinking(),
            })
        })
        .collect();
    json!({
        "type": "standings",
        "games": tally.games(),
        "standings": standings,
        "warnings": tally.warnings(names),
    })
}

/// By how much each bot's score was above the others'.
fn margins(tally: &Tally, names: &[String]) -> String {
    let ranked = tally.ranked();
    let deals = ranked.first().and_then(|standing| standing.margin());
    let margins: Vec<_> = ranked
        .iter()
        .filter_map(|standing| {
            let margin = standing.margin()?;
            let error = match margin.error {
                Some(error) => format!(" ± {error:.1}"),
                None => String::new(),
            };
            let name = &names[standing.bot];
            let purse = tally
                .purse(standing)
                .map_or_else(String::new, |purse| format!(", {purse} in the purse"));
            // Nothing below nought is still nought.
            let mean = (10.0 * margin.mean).round() / 10.0 + 0.0;
            Some(format!("  {name}: {mean:+.1}{error}{purse}"))
        })
        .collect();
    let over = match deals {
        Some(margin) if margin.error.is_some() => {
            format!("mean of {} deals ± 95 %", margin.deals)
        }
        Some(margin) => format!(
            "mean of {}, too few to be sure",
            plural(margin.deals as u32, "deal")
        ),
        None => "no game was scored".to_owned(),
    };
    format!(
        "score a game above the others' ({over}):\n{}",
        margins.join("\n")
    )
}

fn dashed(counts: &[u32]) -> String {
    let counts: Vec<_> = counts.iter().map(u32::to_string).collect();
    counts.join("-")
}

fn place(standing: &Standing) -> String {
    standing
        .mean_place()
        .map_or_else(|| "-".to_owned(), |place| format!("{place:.2}"))
}

fn points(points: f64) -> String {
    if points.fract() == 0.0 {
        format!("{points}")
    } else {
        format!("{points:.1}")
    }
}

fn score(standing: &Standing) -> String {
    if standing.games() == 0 {
        "-".to_owned()
    } else {
        format!("{:.1}%", 100.0 * standing.score())
    }
}

/// A length of time in three figures or so.
pub(crate) fn time(us: u64) -> String {
    match us {
        0..1_000 => format!("{us}us"),
        1_000..10_000 => format!("{:.1}ms", us as f64 / 1e3),
        10_000..1_000_000 => format!("{}ms", us / 1_000),
        1_000_000..100_000_000 => format!("{:.1}s", us as f64 / 1e6),
        _ => format!("{}s", us / 1_000_000),
    }
}

/// The longest name in a table.
pub(crate) const LONGEST_NAME: usize = 16;

/// At most so many letters of it.
pub(crate) fn shorten(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let mut short: String = text.chars().take(most - 1).collect();
    short.push('…');
    short
}

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

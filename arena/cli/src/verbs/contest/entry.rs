//! `arena contest entry`: one entry of the store of this machine, or of an arena elsewhere, and the
//! words in which entries are printed.

use arena_contest::{ContestEntry, Fault, Viewer};
use arena_store::{DetailsOf, EntryState};
use arena_terminal::{Format, StoreAt};
use clap::Args;
use referee_core::{printable, shorten};

use super::{Opened, count, elsewhere::ArenaAt, told};
use crate::{End, report};

#[derive(Args)]
pub(crate) struct OfEntry {
    /// The contest's name.
    contest: String,
    /// The entry's number.
    entry: u64,
    #[command(flatten)]
    arena: ArenaAt,
    #[command(flatten)]
    store: StoreAt,
    /// What goes to standard output: text, or the entry as the API has it.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl OfEntry {
    pub(super) async fn show(self) -> anyhow::Result<End> {
        if let Some(elsewhere) = self.arena.open(&self.contest)? {
            return elsewhere.show(self.entry, self.format).await;
        }
        let opened = Opened::new(&self.store, &self.contest).await?;
        let (standing, viewer) = (&opened.standing, Viewer::Organiser);
        let entry = opened.entry(self.entry)?;
        let of = DetailsOf::Entry(entry.number);
        let details = standing.details(&opened.store, of, viewer);
        let details = told(details.await)?.remove(&entry.number);
        let entry_told = standing.told(entry, details.unwrap_or_default(), viewer);
        match self.format {
            Format::Json => json(&serde_json::to_string(&entry_told)?)?,
            Format::Text => {
                report::heading(&headline(&entry_told))?;
                let outcome = standing.outcome(entry, viewer).unwrap_or_default();
                if let Some(why) = outcome.ours {
                    report::line(&format!("our own failure: {}", printable(&why)))?;
                }
                show_details(&entry_told)?;
            }
        }
        opened.store.close().await;
        Ok(End::Done)
    }
}

/// An entry as the API has it.
pub(super) fn json(text: &str) -> anyhow::Result<()> {
    report::text(&format!("{}\n", text.trim_end()))
}

/// The state of an entry, in a sentence.
pub(super) fn headline(entry: &ContestEntry) -> String {
    let (number, result) = (entry.entry, result(entry));
    match (entry.state, entry.ahead) {
        (EntryState::Received, Some(0)) => format!("entry {number} waits and is next"),
        (EntryState::Received, _) => format!("entry {number} waits, {result}"),
        (EntryState::Building, _) => format!("entry {number} is being built"),
        (EntryState::Playing, None | Some(0)) => format!("entry {number} plays its exam"),
        (EntryState::Playing, Some(_)) => format!("entry {number} plays its exam, {result}"),
        (EntryState::Judged, _) => format!("entry {number} is judged: {result}"),
        (EntryState::Failed, _) => format!("entry {number} has failed: {result}"),
        (EntryState::Settled, _) => format!("entry {number} is settled: {result}"),
    }
}

/// What came of an entry, in few words.
pub(super) fn result(entry: &ContestEntry) -> String {
    match (&entry.fault, entry.score, entry.passed, entry.ahead) {
        (Some(fault), ..) => printable(&fault.verdict),
        (None, Some(score), Some([passed, of]), _) => {
            format!("{score} points, {passed} of {of} cases passed")
        }
        (None, Some(score), None, _) => format!("{score} points"),
        (None, None, _, Some(0)) => "next".to_owned(),
        (None, None, _, Some(ahead)) => {
            format!("{} before it", count(ahead as u64, "entry", "entries"))
        }
        (None, None, _, None) => "told when the contest is published".to_owned(),
    }
}

/// All that is known of an entry, below its headline.
pub(super) fn show_details(entry: &ContestEntry) -> anyhow::Result<()> {
    let ContestEntry {
        fault,
        log,
        findings,
        games,
        ..
    } = entry;
    if let Some(Fault { words, .. }) = fault {
        report::line(&printable(words))?;
    }
    if !log.is_empty() {
        report::heading("build")?;
        for line in log.lines() {
            report::line(&printable(line))?;
        }
    }
    for found in findings {
        let severity = match found.is_fault {
            true => "fault",
            false => "warning",
        };
        report::heading(&format!("check: {severity} {}", printable(&found.name)))?;
        for (what, words) in [
            ("seen", &found.seen),
            ("expected", &found.expected),
            ("fix", &found.fix),
        ] {
            report::line(&format!("{what}: {}", printable(words)))?;
        }
    }
    let first = games.iter().find_map(|game| game.foul.as_deref());
    if let Some(foul) = first.filter(|foul| **foul != in_short(foul)) {
        report::heading("the first foul")?;
        report::line(&printable(foul))?;
    }
    if games.is_empty() {
        return Ok(());
    }
    let rows = games.iter().map(|game| {
        [
            printable(&game.part_words),
            printable(&game.opponent),
            match game.seat {
                0 => "first",
                _ => "second",
            }
            .to_owned(),
            printable(&game.words),
            game.points.to_string(),
            game.plies.to_string(),
            game.foul.as_deref().map(in_short).unwrap_or_default(),
        ]
    });
    let header = [
        "part", "opponent", "seat", "verdict", "points", "moves", "why",
    ];
    report::plain_table(&header, rows)
}

/// A foul for a row of a table.
fn in_short(foul: &str) -> String {
    shorten(&printable(foul), 60)
}

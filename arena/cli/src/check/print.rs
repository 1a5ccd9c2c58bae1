//! What is found, for people and for programs.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize as _;
use serde_json::json;

use super::{Check, Finding, Id, Seen, Severity};
use crate::{report, tally::plural, verbs::Format};

/// What has been seen so far.
pub(crate) struct Report {
    format: Format,
    spinner: ProgressBar,
    findings: Vec<Finding>,
    /// The game whose checks were printed last.
    game: Option<Option<&'static str>>,
    strict: bool,
    /// The bot as it was written.
    spec: String,
}

impl Report {
    pub(crate) fn new(format: Format, strict: bool, spec: &str) -> Self {
        let spinner = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(200));
        Self {
            format,
            spinner,
            findings: Vec::new(),
            game: None,
            strict,
            spec: spec.to_owned(),
        }
    }

    /// Whether nothing has been found.
    pub(super) const fn is_clean(&self) -> bool {
        self.findings.is_empty()
    }

    /// Says on standard error what is looked at.
    pub(super) fn begins(&self, game: Option<&str>, check: Check, words: &str) {
        let game = game.map_or_else(String::new, |game| format!("{}: ", spoken(game)));
        self.spinner
            .set_message(format!("{game}{} {words}", check.name()));
    }

    /// One look is over.
    pub(super) fn seen(
        &mut self,
        game: Option<&'static str>,
        check: Check,
        seen: &Seen,
    ) -> anyhow::Result<()> {
        let (result, words) = match seen {
            Seen::NotLookedAt(why) => ("not looked at", why.clone()),
            Seen::Looked { words, findings } => {
                let worst = findings.iter().map(|found| found.id.about().severity).max();
                let names: Vec<&str> = findings.iter().map(|found| found.id.about().name).collect();
                let names = names.join(", ");
                let words = match (names.is_empty(), words.is_empty()) {
                    (true, _) => words.clone(),
                    (false, true) => names,
                    (false, false) => format!("{names}; {words}"),
                };
                (worst.map_or("ok", Severity::word), words)
            }
        };
        match self.format {
            Format::Json => {
                report::event(&json!({
                    "type": "check", "game": game, "check": check.name(),
                    "result": result.replace(' ', "_"), "words": words,
                }))?;
            }
            Format::Text => self.spinner.suspend(|| {
                if self.game != Some(game) {
                    report::heading(&game.map_or_else(|| "the program".to_owned(), spoken))?;
                }
                report::text(&columns(
                    &format!("  {:<13}{result:<14}", check.name()),
                    &words,
                ))
            })?,
        }
        self.game = Some(game);
        if let Seen::Looked { findings, .. } = seen {
            for found in findings {
                self.add(found.clone());
            }
        }
        Ok(())
    }

    /// The same thing in two games is one finding.
    fn add(&mut self, found: Finding) {
        let known = self
            .findings
            .iter_mut()
            .find(|known| known.id == found.id && known.came == found.came);
        match known {
            Some(known) => {
                for game in found.games {
                    if !known.games.contains(&game) {
                        known.games.push(game);
                    }
                }
            }
            None => self.findings.push(found),
        }
    }

    /// Prints what was found before somebody stopped it, which is no verdict.
    pub(crate) fn stopped(&self) -> anyhow::Result<()> {
        self.spinner.finish_and_clear();
        for found in &self.findings {
            self.finding(found)?;
        }
        match self.format {
            Format::Json => Ok(()),
            Format::Text => report::heading("stopped before the end"),
        }
    }

    /// Prints every finding and the verdict: whether it is fit to enter.
    pub(crate) fn end(&self) -> anyhow::Result<bool> {
        self.spinner.finish_and_clear();
        let count = |severity| {
            let of_it = |found: &&Finding| found.id.about().severity == severity;
            self.findings.iter().filter(of_it).count() as u32
        };
        let (faults, warnings) = (count(Severity::Fault), count(Severity::Warning));
        let fit = faults == 0 && !(self.strict && warnings > 0);
        for found in &self.findings {
            self.finding(found)?;
        }
        match self.format {
            Format::Json => report::event(&json!({
                "type": "summary", "bot": self.spec, "fit": fit, "faults": faults, "warnings": warnings,
                "strict": self.strict,
            }))?,
            Format::Text => {
                let verdict = match (fit, warnings) {
                    (true, 0) => "fit to enter".to_owned(),
                    (true, _) => format!("fit to enter, with {}", plural(warnings, "warning")),
                    (false, _) => format!(
                        "not fit to enter: {}, {}{}",
                        plural(faults, "fault"),
                        plural(warnings, "warning"),
                        if faults == 0 { " (--strict)" } else { "" }
                    ),
                };
                report::heading(&verdict)?;
            }
        }
        Ok(fit)
    }

    fn finding(&self, found: &Finding) -> anyhow::Result<()> {
        let about = found.id.about();
        if self.format == Format::Json {
            return report::event(&json!({
                "type": "finding", "id": about.name, "severity": about.severity,
                "games": found.games, "expected": about.expected, "came": found.came,
                "mend": about.mend, "evidence": found.evidence,
            }));
        }
        let games: Vec<String> = found.games.iter().map(|game| spoken(game)).collect();
        let games = match games.as_slice() {
            [] => String::new(),
            games => format!(" ({})", games.join(", ")),
        };
        report::heading(&format!("{} {}{games}", about.severity.word(), about.name))?;
        let evidence = found.evidence.as_deref().unwrap_or_default();
        for (what, words) in [
            ("expected", about.expected),
            ("came", &found.came),
            ("mend", about.mend),
            ("evidence", evidence),
        ] {
            if !words.is_empty() {
                report::text(&columns(&format!("  {what:<10}"), words))?;
            }
        }
        Ok(())
    }
}

/// Everything that can be found.
pub(crate) fn catalogue(format: Format) -> anyhow::Result<()> {
    for id in Id::ALL {
        let about = id.about();
        match format {
            Format::Json => report::event(&json!({
                "type": "possible", "id": about.name, "severity": about.severity,
                "expected": about.expected, "mend": about.mend,
            }))?,
            Format::Text => {
                let (name, severity) = (about.name, about.severity.word());
                report::text(&format!("{} ({severity})\n", name.bold()))?;
                for (what, words) in [("expected", about.expected), ("mend", about.mend)] {
                    report::text(&columns(&format!("  {what:<10}"), words))?;
                }
            }
        }
    }
    Ok(())
}

impl Severity {
    const fn word(self) -> &'static str {
        match self {
            Self::Warning => "warning",
            Self::Fault => "fault",
        }
    }
}

/// Words in a column of their own, on as many lines as they need.
fn columns(first: &str, words: &str) -> String {
    let indent = first.chars().count();
    let mut lines = first.to_owned();
    let mut width = indent;
    for word in words.split_whitespace() {
        let length = word.chars().count();
        if width > indent && width + 1 + length > report::WIDTH {
            lines.push('\n');
            lines.push_str(&" ".repeat(indent));
            width = indent;
        } else if width > indent {
            lines.push(' ');
            width += 1;
        }
        lines.push_str(word);
        width += length;
    }
    lines.truncate(lines.trim_end().len());
    lines.push('\n');
    lines
}

/// As people type it.
fn spoken(game: &str) -> String {
    game.replace('_', "-")
}

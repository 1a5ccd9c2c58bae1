//! Result of a check, for people and for programs.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use arena_check::{
    CATALOGUE, CheckObserver, CheckReport, Evidence, Finding, StageReport, fix_behind_adapter,
    words::{name, seen, stage},
};
use arena_events::{
    Event,
    check::{CheckStage, CheckStageEvent, FindingEvent, FindingHint, FindingSeverity, StageResult},
};
use arena_terminal::{
    Format,
    draw::{self, Signs},
    hint_words,
};
use indicatif::{ProgressBar, ProgressStyle};
use owo_colors::OwoColorize as _;
use referee_bots::{Entry, hint_for};
use referee_core::{FoulWords, Language, printable};
use referee_games::game_name;
use referee_sandbox::Walls;
use referee_worker::Stop;

use crate::report::{self, plural};

/// Advice for a strategy that fails only where a game begins in the middle.
const KEEPS_GLOBALS: &str = "it is right from the usual beginning and fails only where a game \
    begins in the middle, as a strategy does that keeps the game in globals from its first move; \
    then write FILE.so?keeps-globals: it is given no such games";

/// Prints each stage as it ends, and the findings in the end.
pub(super) struct Printer<'a> {
    format: Format,
    spinner: ProgressBar,
    /// The game whose stages were printed last.
    game: Option<Option<&'static str>>,
    entry: &'a Entry,
    /// The folder that the bot is run in.
    directory: &'a Path,
    /// The walls around it, if there are any.
    walls: Option<&'a Walls>,
    /// Ends the check when nobody reads what comes of it.
    stop: &'a Stop,
    /// Reason why something could not be printed.
    failed: anyhow::Result<()>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(
        format: Format,
        entry: &'a Entry,
        directory: &'a Path,
        walls: Option<&'a Walls>,
        stop: &'a Stop,
    ) -> Self {
        let spinner = ProgressBar::new_spinner();
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            spinner.set_style(style);
        }
        spinner.enable_steady_tick(Duration::from_millis(200));
        Self {
            format,
            spinner,
            game: None,
            entry,
            directory,
            walls,
            stop,
            failed: Ok(()),
        }
    }

    fn print(&self, ended: &StageReport) -> anyhow::Result<()> {
        if self.format == Format::Json {
            let outcome = &ended.outcome;
            return report::event(Event::CheckStage(CheckStageEvent {
                game: ended.game.map(game_name),
                stage: ended.stage,
                result: outcome.result(),
                findings: outcome.findings.iter().map(|found| found.name).collect(),
                skipped: outcome.skipped,
                ready: outcome.ready.clone(),
                calls: outcome.calls.clone(),
                figures: outcome.figures.clone(),
            }));
        }
        self.spinner.suspend(|| {
            if self.game != Some(ended.game) {
                report::heading(
                    &ended
                        .game
                        .map_or_else(|| "the program".to_owned(), game_name),
                )?;
            }
            let result = match ended.outcome.result() {
                StageResult::Ok => "ok",
                StageResult::Warning => "warning",
                StageResult::Fault => "fault",
                StageResult::Skipped => "skipped",
            };
            let kind = ended.game.and_then(referee_games::game);
            let seats = kind.map_or(0, |kind| kind.info().seats);
            let first = format!("  {:<13}{result:<9}", name(ended.stage));
            report::text(&columns(&first, &stage(ended, seats)))
        })
    }

    /// Prints every finding.
    pub(super) fn findings(&mut self, checked: &CheckReport) -> anyhow::Result<()> {
        self.spinner.finish_and_clear();
        std::mem::replace(&mut self.failed, Ok(()))?;
        checked
            .findings
            .iter()
            .try_for_each(|found| self.finding(found))
    }

    fn finding(&self, found: &Finding) -> anyhow::Result<()> {
        let possible = found.possible();
        let games = found.games.iter().map(|game| game_name(game));
        let games: Vec<String> = games.collect();
        let actual = match self.format {
            Format::Json => seen(found, ToString::to_string),
            Format::Text => seen(found, |foul| FoulWords::of(foul).sentence),
        };
        let record = found
            .record
            .as_ref()
            .map(|file: &PathBuf| file.display().to_string());
        let position = found.position.as_ref();
        if self.format == Format::Json {
            let question = match &found.evidence {
                Evidence::Foul(observed) => observed.question.as_ref(),
                _ => None,
            };
            return report::event(Event::Finding(FindingEvent {
                id: found.name,
                severity: possible.severity,
                games,
                actual,
                question: question.map(|asked| asked.number),
                call: question.and_then(|asked| asked.call.clone()),
                position: position.map(|scene| draw::scene(scene, Signs::Ascii, Language::En)),
                last_output: found.last_output.clone(),
                hint: found.may_keep_globals.then_some(FindingHint::KeepsGlobals),
                evidence: record,
            }));
        }
        let games = match &games[..] {
            [] => String::new(),
            games => format!(" ({})", games.join(", ")),
        };
        let severity = severity(possible.severity);
        report::heading(&format!("{severity} {}{games}", name(found.name)))?;
        let mut hint = self.hint(found);
        if found.may_keep_globals {
            hint = Some(KEEPS_GLOBALS.to_owned());
        }
        let fix = fix_behind_adapter(self.entry.launcher().interface(), found.name);
        // A program that ended has its last words in the foul.
        let mut said = match &found.evidence {
            Evidence::Foul(observed) => FoulWords::of(&observed.foul).printed,
            _ => Vec::new(),
        };
        if said.is_empty() {
            let last = found.last_output.iter().map(|line| printable(line));
            said = last.filter(|line| !actual.contains(line)).collect();
        }
        for (what, words) in [
            ("expected", &*possible.expected),
            ("actual", &actual),
            ("position", ""),
            ("printed", ""),
            ("hint", hint.as_deref().unwrap_or_default()),
            ("fix", fix.unwrap_or(&possible.fix)),
            ("evidence", record.as_deref().unwrap_or_default()),
        ] {
            match position {
                Some(scene) if what == "position" => {
                    report::text("  position\n")?;
                    for line in draw::scene(scene, Signs::of_terminal(), Language::En).lines() {
                        report::text(&format!("{line}\n"))?;
                    }
                }
                _ if what == "printed" && !said.is_empty() => {
                    report::text(&format!("  printed\n{}", report::quoted(&said, 4)))?;
                }
                _ if words.is_empty() => {}
                _ => report::text(&columns(&format!("  {what:<10}"), words))?,
            }
        }
        Ok(())
    }

    fn hint(&self, found: &Finding) -> Option<String> {
        let Evidence::Foul(observed) = &found.evidence else {
            return None;
        };
        let hint = hint_for(&observed.foul, self.entry, self.directory, self.walls)?;
        Some(hint_words(&hint))
    }
}

impl CheckObserver for Printer<'_> {
    fn stage_started(&mut self, game: Option<&'static str>, stage: CheckStage) {
        let game = game.map_or_else(String::new, |game| format!("{}: ", game_name(game)));
        self.spinner.set_message(format!("{game}{}", name(stage)));
    }

    fn stage_ended(&mut self, ended: &StageReport) {
        if self.failed.is_ok() {
            self.failed = self.print(ended);
            if self.failed.is_err() {
                self.stop.cut_off();
            }
        }
        self.game = Some(ended.game);
    }
}

/// Prints the verdict: fit to enter, or not.
pub(super) fn verdict(checked: &CheckReport, fit: bool) -> anyhow::Result<()> {
    let [faults, warnings] = [FindingSeverity::Fault, FindingSeverity::Warning]
        .map(|severity| checked.count(severity) as u64);
    report::heading(&match (fit, warnings) {
        (true, 0) => "fit to enter".to_owned(),
        (true, _) => format!("fit to enter, with {}", plural(warnings, "warning")),
        (false, _) => format!(
            "not fit to enter: {}, {}{}",
            plural(faults, "fault"),
            plural(warnings, "warning"),
            if faults == 0 { " (--strict)" } else { "" }
        ),
    })
}

/// Everything that can be found.
pub(super) fn catalogue(format: Format) -> anyhow::Result<()> {
    for possible in CATALOGUE {
        match format {
            Format::Json => report::event(Event::PossibleFinding(possible.clone()))?,
            Format::Text => {
                let (name, severity) = (name(possible.id), severity(possible.severity));
                report::text(&format!("{} ({severity})\n", name.bold()))?;
                for (what, words) in [("expected", &possible.expected), ("fix", &possible.fix)] {
                    report::text(&columns(&format!("  {what:<10}"), words))?;
                }
            }
        }
    }
    Ok(())
}

const fn severity(severity: FindingSeverity) -> &'static str {
    match severity {
        FindingSeverity::Warning => "warning",
        FindingSeverity::Fault => "fault",
    }
}

/// Words in a column of their own, on as many lines as they need.
fn columns(first: &str, words: &str) -> String {
    let indent = first.chars().count();
    let lines = report::filled(first.to_owned(), words.split_whitespace(), indent);
    format!("{}\n", lines.trim_end())
}

//! Results of a check: of each stage, and in the end.

use std::{collections::BTreeMap, time::Duration};

use arena_events::check::{
    CheckStage, FindingSeverity, ReadyAnswer, SkipCause, StageFigure, StageResult,
};

use crate::finding::Finding;

/// Hears what a check does, while it goes on.
pub trait CheckObserver: Send {
    /// A stage begins. `game` is none where the stage is of the program.
    fn stage_started(&mut self, game: Option<&'static str>, stage: CheckStage);

    /// A stage is over.
    fn stage_ended(&mut self, report: &StageReport);
}

/// Result of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    /// The game's name; none where the stage is of the program.
    pub game: Option<&'static str>,
    /// Which stage.
    pub stage: CheckStage,
    /// Its result.
    pub outcome: StageOutcome,
}

/// Findings and figures of a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageOutcome {
    /// Reason why it was skipped, where it was.
    pub skipped: Option<SkipCause>,
    /// The faults that were found.
    pub findings: Vec<Finding>,
    /// The bot's statements about itself, in the stage `start`.
    pub ready: Option<ReadyAnswer>,
    /// Number of times that each call was sent, in the stage `calls`; 0 for one that was not.
    pub calls: Option<BTreeMap<String, u64>>,
    /// Counts and measurements; the figures say in which unit.
    pub figures: BTreeMap<StageFigure, u64>,
}

/// Result of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// Everything that was found. What was found in several games is here once.
    pub findings: Vec<Finding>,
    /// The median of how long its answers took in whole games, over the games that it plays
    /// the longest one; none where it was asked nothing.
    pub usual_thought: Option<Duration>,
    /// True if it was stopped before the end: then this is no verdict.
    pub is_stopped: bool,
}

impl StageOutcome {
    pub(crate) fn skipped(cause: SkipCause) -> Self {
        Self {
            skipped: Some(cause),
            ..Self::default()
        }
    }

    pub(crate) fn found(findings: impl IntoIterator<Item = Finding>) -> Self {
        Self {
            findings: findings.into_iter().collect(),
            ..Self::default()
        }
    }

    /// The same with a number.
    pub(crate) fn with(mut self, figure: StageFigure, value: usize) -> Self {
        self.figures.insert(figure, value as u64);
        self
    }

    /// The same with a time, in microseconds.
    pub(crate) fn with_time(mut self, figure: StageFigure, time: Duration) -> Self {
        let micros = u64::try_from(time.as_micros()).unwrap_or(u64::MAX);
        self.figures.insert(figure, micros);
        self
    }

    /// The worst of its findings.
    #[must_use]
    pub fn result(&self) -> StageResult {
        let severities = self.findings.iter().map(|found| found.possible().severity);
        match (
            self.skipped,
            severities.max_by_key(|severity| *severity as u8),
        ) {
            (Some(_), _) => StageResult::Skipped,
            (None, None) => StageResult::Ok,
            (None, Some(FindingSeverity::Warning)) => StageResult::Warning,
            (None, Some(FindingSeverity::Fault)) => StageResult::Fault,
        }
    }
}

impl CheckReport {
    /// Number of findings of this severity.
    #[must_use]
    pub fn count(&self, severity: FindingSeverity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|found| found.possible().severity == severity)
            .count()
    }

    /// True if the bot is fit to enter; `strict` where warnings make it unfit.
    #[must_use]
    pub fn is_fit(&self, strict: bool) -> bool {
        self.count(FindingSeverity::Fault) == 0
            && !(strict && self.count(FindingSeverity::Warning) > 0)
    }

    /// Adds a finding; the same thing in two games is one finding.
    pub(crate) fn add(&mut self, found: &Finding) {
        let mut known = self.findings.iter_mut();
        match known.find(|known| known.name == found.name && known.evidence == found.evidence) {
            Some(known) => {
                for game in &found.games {
                    if !known.games.contains(game) {
                        known.games.push(game);
                    }
                }
            }
            None => self.findings.push(found.clone()),
        }
    }
}

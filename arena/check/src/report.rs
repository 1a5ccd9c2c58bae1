//! What comes of a check: of each stage, and in the end.

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

/// What came of one stage.
#[derive(Clone, Debug, PartialEq)]
pub struct StageReport {
    /// The game's name; none where the stage is of the program.
    pub game: Option<&'static str>,
    /// Which stage.
    pub stage: CheckStage,
    /// What came of it.
    pub outcome: StageOutcome,
}

/// What was found and measured in a stage.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StageOutcome {
    /// Why it was skipped, where it was.
    pub skipped: Option<SkipCause>,
    /// What is wrong.
    pub findings: Vec<Finding>,
    /// What the bot says of itself, in the stage `start`.
    pub ready: Option<ReadyAnswer>,
    /// How often each call was sent, in the stage `calls`; 0 for one that was not.
    pub calls: Option<BTreeMap<String, u64>>,
    /// What was counted and measured; the figures say in which unit.
    pub figures: BTreeMap<StageFigure, u64>,
}

/// What came of a check.
#[derive(Clone, Debug, PartialEq)]
pub struct CheckReport {
    /// Everything that was found. What was found in several games is here once.
    pub findings: Vec<Finding>,
    /// The median of how long its answers took in whole games, over the games that it plays
    /// the longest one; none where it was asked nothing.
    pub usual_thought: Option<Duration>,
    /// Whether it was stopped before the end: then this is no verdict.
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
    /// How many findings are so bad.
    #[must_use]
    pub fn count(&self, severity: FindingSeverity) -> usize {
        let findings = self.findings.iter();
        findings
            .filter(|found| found.possible().severity == severity)
            .count()
    }

    /// Whether the bot is fit to enter; `strict` where warnings make it unfit.
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

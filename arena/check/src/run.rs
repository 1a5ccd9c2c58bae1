//! A check: its stages in order, for each game.

use arena_events::check::{CheckStage, FindingName, SkipCause, StageResult};
use referee_bots::{BotOptions, Entry, LaunchContext};
use referee_core::GameKind;
use referee_worker::Stop;

use crate::{
    error::{CheckError, Halt},
    evidence::{Circumstance, Evidence, ObservedFoul},
    examiner::{CheckOptions, Examiner, median},
    finding::name_of_foul,
    host::Death,
    report::{CheckObserver, CheckReport, StageOutcome, StageReport},
    stages,
    subject::{Subject, finding},
};

/// The stages of a game.
const OF_A_GAME: [CheckStage; 10] = [
    CheckStage::Discovery,
    CheckStage::WholeGames,
    CheckStage::FirstMoves,
    CheckStage::Calls,
    CheckStage::Resumed,
    CheckStage::NewFields,
    CheckStage::AtOnce,
    CheckStage::Deadlines,
    CheckStage::Cancelled,
    CheckStage::Memory,
];

/// Checks a bot. Its processes are started in this context with `bot_options`, and have been
/// stopped when this returns. Any request of `stop` ends the check at once.
///
/// # Errors
///
/// [`CheckError`], only for failures of our own.
pub async fn check(
    entry: &Entry,
    context: &LaunchContext,
    bot_options: &BotOptions,
    options: &CheckOptions,
    stop: &Stop,
    observer: &mut dyn CheckObserver,
) -> Result<CheckReport, CheckError> {
    let mut run = CheckRun {
        examiner: Examiner::new(entry, context, bot_options, options),
        observer,
        report: CheckReport {
            findings: Vec::new(),
            usual_thought: None,
            is_stopped: false,
        },
    };
    let examined = tokio::select! {
        examined = run.examine() => Some(examined),
        () = stop.finishing() => None,
    };
    run.examiner.host.renew().await;
    run.report.is_stopped = examined.is_none();
    examined.transpose()?;
    Ok(run.report)
}

struct CheckRun<'a> {
    examiner: Examiner<'a>,
    observer: &'a mut dyn CheckObserver,
    report: CheckReport,
}

impl CheckRun<'_> {
    async fn examine(&mut self) -> Result<(), CheckError> {
        let subjects = self.start().await?;
        let number = subjects.len();
        for subject in subjects {
            self.examine_game(subject, number as u32).await?;
        }
        if number > 0 {
            self.observer.stage_started(None, CheckStage::Stop);
            let outcome = settled(None, stages::stop(&mut self.examiner).await)?;
            self.ended(None, CheckStage::Stop, outcome);
            let outcome = stages::output(&self.examiner);
            self.ended(None, CheckStage::Output, outcome);
        }
        Ok(())
    }

    /// The stage `start` for each game.
    async fn start(&mut self) -> Result<Vec<Subject>, CheckError> {
        self.observer.stage_started(None, CheckStage::Start);
        let mut start = match stages::Start::new(&mut self.examiner).await {
            Ok(start) => start,
            Err(Halt::Failed(error)) => return Err(error),
            Err(Halt::Gone(foul)) => {
                self.report(None, CheckStage::Start, stages::not_started(foul));
                return Ok(Vec::new());
            }
        };
        while let Some(kind) = start.kinds.next() {
            let game = Some(kind.info().name);
            if !start.is_kept_waiting {
                self.observer.stage_started(game, CheckStage::Start);
            }
            if let Some(outcome) = start.game(&mut self.examiner, kind).await? {
                self.report(game, CheckStage::Start, outcome);
            }
        }
        if start.subjects.is_empty() && self.report.findings.is_empty() {
            let none = finding(FindingName::Unsupported, None, Evidence::NoGame);
            self.report(None, CheckStage::Start, StageOutcome::found([none]));
        }
        Ok(start.subjects)
    }

    async fn examine_game(&mut self, mut subject: Subject, of: u32) -> Result<(), CheckError> {
        let (game, kind) = (Some(subject.name()), subject.kind);
        // Why the rest is skipped.
        let mut broken = None;
        for stage in OF_A_GAME {
            let outcome = if let Some(cause) = broken
                && stage != CheckStage::Calls
            {
                StageOutcome::skipped(cause)
            } else {
                self.observer.stage_started(game, stage);
                let is_broken = broken.is_some();
                let outcome =
                    stages::of_game(&mut self.examiner, &mut subject, stage, of, is_broken);
                settled(Some(kind), outcome.await)?
            };
            let outcome = self.ended(Some(kind), stage, outcome);
            if outcome.result() == StageResult::Fault {
                if stage == CheckStage::WholeGames {
                    broken = Some(SkipCause::FoulInWholeGame);
                } else if self.is_gone(&outcome) {
                    broken = Some(SkipCause::BotGone);
                }
                // The next stage must not suffer from what this one did to the process.
                self.examiner.host.renew().await;
            }
        }
        self.examiner.is_left_open |= subject.open > 0;
        let usual = median(&subject.own_thoughts);
        self.report.usual_thought = self.report.usual_thought.max(usual);
        Ok(())
    }

    /// Reports a stage. That the bot's process has ended by itself is added where nothing
    /// else is wrong.
    fn ended(
        &mut self,
        kind: Option<&'static dyn GameKind>,
        stage: CheckStage,
        mut outcome: StageOutcome,
    ) -> StageOutcome {
        if let Some(Death { foul, after }) = self.examiner.host.take_death()
            && outcome.skipped.is_none()
            && outcome.findings.is_empty()
        {
            let (name, circumstance) = match stage {
                CheckStage::Cancelled => (FindingName::Cancelled, Circumstance::DuringCancellation),
                _ => (name_of_foul(foul.kind()), Circumstance::AfterGame),
            };
            let evidence = Evidence::Foul(ObservedFoul {
                foul,
                question: None,
                circumstance,
            });
            outcome = StageOutcome::found([finding(name, after.or(kind), evidence)]);
        }
        self.report(kind.map(|kind| kind.info().name), stage, outcome)
    }

    fn report(
        &mut self,
        game: Option<&'static str>,
        stage: CheckStage,
        outcome: StageOutcome,
    ) -> StageOutcome {
        for found in &outcome.findings {
            self.report.add(found);
        }
        let report = StageReport {
            game,
            stage,
            outcome,
        };
        self.observer.stage_ended(&report);
        report.outcome
    }

    /// True if the bot could not be reached any more, and we can't start it again.
    fn is_gone(&self, outcome: &StageOutcome) -> bool {
        let gone = [FindingName::Unreachable, FindingName::NoReady];
        let mut findings = outcome.findings.iter();
        !self.examiner.host.is_started_by_us() && findings.any(|found| gone.contains(&found.name))
    }
}

/// The outcome of a stage; where the bot was gone, that is what was found.
fn settled(
    kind: Option<&'static dyn GameKind>,
    outcome: Result<StageOutcome, Halt>,
) -> Result<StageOutcome, CheckError> {
    match outcome {
        Ok(outcome) => Ok(outcome),
        Err(Halt::Failed(error)) => Err(error),
        Err(Halt::Gone(foul)) => {
            let name = match kind {
                Some(_) => name_of_foul(foul.kind()),
                None => FindingName::NoStart,
            };
            Ok(StageOutcome::found([finding(name, kind, foul)]))
        }
    }
}

//! The exam of cases: eight rounds that are the same for everyone, the bot
//! always in seat 0, and a sum of scores that must be reached.

use std::{collections::BTreeSet, path::PathBuf, time::Duration};

use arena_events::{
    Event,
    exam::{ExamCaseEnd, ExamCaseEvent, ExamEvent, ExamGroupEvent, ExamVerdict},
    run::{ExamPlan, RunEndedEvent},
};
use arena_ladder::{ScheduleShape, Seatings};
use arena_store::GameRow;
use arena_tournament::{Plan, events, find_game};
use clap::Args;
use referee_bots::{Entry, read_input_text};
use referee_cli::LaunchArgs;
use referee_core::{Limits, Root, Seat, expected_words, is_printable};
use referee_worker::Stop;
use serde::Deserialize;

use super::{Answer, HEADER, Paper, started};
use crate::{
    End,
    play::{LimitArgs, RecordArgs, RunFolder, Settings},
    report::{self, plural},
    usage,
};

const GAME: &str = "mahjong";
const OPPONENT: &str = "simple=house:simple";
const ROUNDS: u64 = 8;
/// Limits of the arcade in a case.
const BUDGET: Duration = Duration::from_secs(4);
const MEMORY: u64 = 2 * 1024 * 1024;

/// The most bytes of a file of cases.
const LARGEST_CASES: u64 = 1024 * 1024;
const MOST_CASES: usize = 1000;
const LONGEST_NAME: usize = 60;

/// The cases that everybody may practise on. What is asked for is a share of
/// what `shanten` scores: see `docs/exams.md`.
const PRACTICE: &str = include_str!("practice.toml");

/// Cases of eight fixed rounds against `simple`. A case is passed when the sum
/// of the eight scores reaches its minimum.
#[derive(Args)]
#[command(after_help = "A file of cases is TOML:
  [[case]]
  name = \"case 1\"
  seed = \"a word, or the 64 digits of a root: keep it to yourself\"
  minimum = 250

Examples:
  arena exam mahjong --bot house:shanten
  arena exam mahjong --bot me=exec:./my_bot --enforce --scores scores.json
  arena exam mahjong --bot me=exec:./my_bot --cases exam.toml --format json

Exit codes: 0 every case was passed; 1 one was not; 2 bad usage; 3 our own
failure.")]
pub(crate) struct Cases {
    #[command(flatten)]
    paper: Paper,
    /// The cases [default: ten for practice].
    #[arg(long, value_name = "FILE")]
    cases: Option<PathBuf>,
    /// Only this case, by its name; may be given several times.
    #[arg(long = "case", value_name = "NAME")]
    only: Vec<String>,
    /// Hold the bot to the arcade's limits: 4 s of its time in a case, and
    /// 2 MiB of memory. They are shown in any case.
    #[arg(long)]
    enforce: bool,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    launch: LaunchArgs,
    #[command(flatten)]
    records: RecordArgs,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[serde(default)]
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    name: String,
    seed: String,
    minimum: i64,
}

/// Result of a case.
struct CaseResult<'a> {
    case: &'a Case,
    answers: Vec<Answer>,
    /// All of the bot's time.
    thought: Duration,
    /// The most memory that it added; none where the arena does not start it.
    memory: Option<u64>,
    /// Memory that it may add, where that is enforced.
    memory_limit: Option<u64>,
}

impl CaseResult<'_> {
    fn score(&self) -> i64 {
        self.answers.iter().map(|answer| answer.points).sum()
    }

    /// True if all of its rounds have been played.
    fn is_whole(&self) -> bool {
        self.answers.len() as u64 == ROUNDS
    }

    fn end(&self) -> ExamCaseEnd {
        // It may have too much memory at the end, when no round is left that could end by it.
        let exceeds = |limit| self.memory.is_some_and(|memory| memory > limit);
        if !self.is_whole() {
            ExamCaseEnd::Stopped
        } else if self.memory_limit.is_some_and(exceeds) {
            ExamCaseEnd::TooMuchMemory
        } else if self.score() >= self.case.minimum {
            ExamCaseEnd::Passed
        } else {
            ExamCaseEnd::Failed
        }
    }

    fn passed(&self) -> bool {
        self.end() == ExamCaseEnd::Passed
    }

    fn words(&self) -> &'static str {
        match self.end() {
            ExamCaseEnd::Passed => "passed",
            ExamCaseEnd::Failed => "not passed",
            ExamCaseEnd::TooMuchMemory => "too much memory",
            ExamCaseEnd::Stopped => "stopped",
        }
    }
}

impl Cases {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let kind = find_game(GAME)?;
        let cases = self.read()?;
        let mut settings = Settings::defaults(kind)?;
        settings.records = self.records.clone();
        settings.launch = self.launch.clone();
        // It has the seeds.
        settings.hidden.extend(self.cases.clone());
        settings.concurrency = Some(1);
        settings.limits = Limits {
            budget: self.enforce.then_some(BUDGET),
            ..self.limits.limits()
        };
        let opponent = Entry::read(OPPONENT, &settings.schemes)?;
        let candidates = self.paper.candidates(&settings, &[&opponent.name])?;
        let examine = async |candidate: &Entry, folder: Option<&RunFolder>, stop: &Stop| {
            let bots = [candidate, &opponent];
            self.examine(&settings, &cases, bots, folder, stop).await
        };
        self.paper.hold(&settings, &candidates, examine).await
    }

    /// Examines one bot, the first of these two.
    async fn examine(
        &self,
        settings: &Settings,
        cases: &[Case],
        bots: [&Entry; 2],
        folder: Option<&RunFolder>,
        stop: &Stop,
    ) -> anyhow::Result<(ExamEvent, End)> {
        let mut plans = Vec::new();
        for (number, case) in (1..).zip(cases) {
            plans.push(self.plan(settings, number, case, bots)?);
        }
        let exam = ExamPlan {
            parts: cases.iter().map(|case| case.name.clone()).collect(),
            enforced: self.enforce,
        };
        let mut started = started(settings, &plans, folder, &exam)?;
        // Each case has a root of its own.
        started.root_commitment = None;
        self.paper.begin(&started, folder)?;
        let mut results = Vec::new();
        let mut ended = Vec::new();
        let mut rounds = 0;
        for (case, plan) in cases.iter().zip(plans) {
            let (result, part) = self.play(settings, case, plan, folder, stop).await?;
            ended.push(part);
            rounds += result.answers.len();
            if self.paper.is_json() {
                report::event(Event::ExamCase(self.case_event(&result)))?;
            } else {
                show(&result)?;
            }
            let whole = result.is_whole();
            results.push(result);
            if !whole {
                break;
            }
        }
        self.paper.end(&started, ended, folder)?;
        let stopped = results.len() < cases.len() || results.iter().any(|one| !one.is_whole());
        let exam_name = settings.kind.info().name;
        let exam = self.close(exam_name, &bots[0].name, &results, stopped)?;
        if let Some(folder) = folder {
            report::tell(&format!("records: {}", folder.path().display()));
        }
        let end = if stopped {
            report::tell(&format!("stopped after {}", plural(rounds as u64, "round")));
            End::Interrupted
        } else if results.iter().all(CaseResult::passed) {
            End::Done
        } else {
            End::No
        };
        let mut answers = results.iter().flat_map(|result| &result.answers);
        let has_fouls = answers.any(Answer::has_foul);
        Ok((exam, self.paper.fouls.end(end, has_fouls)))
    }

    /// The rounds of a case: one after another, by one process while it lives, the
    /// examined bot always in seat 0.
    fn plan(
        &self,
        settings: &Settings,
        number: u64,
        case: &Case,
        bots: [&Entry; 2],
    ) -> anyhow::Result<Plan> {
        let bots = bots.map(Entry::clone).to_vec();
        let shape = ScheduleShape::RoundRobin {};
        let mut plan = settings.plan(bots, shape, ROUNDS, Seatings::Fixed, None)?;
        plan.root = case.seed.parse()?;
        plan.prefix = format!("case-{number:02}-");
        plan.series = true;
        let [candidate, opponent] = &mut plan.bots[..] else {
            unreachable!("there are two");
        };
        candidate.memory_limit = self.enforce.then_some(MEMORY);
        candidate.measure_memory = candidate.entry.is_started_by_us();
        // The opponent is ours and has all the time that it wants.
        opponent.budget = false;
        Ok(plan)
    }

    async fn play<'a>(
        &self,
        settings: &Settings,
        case: &'a Case,
        plan: Plan,
        folder: Option<&RunFolder>,
        stop: &Stop,
    ) -> anyhow::Result<(CaseResult<'a>, RunEndedEvent)> {
        let played = self
            .paper
            .play(settings, &case.name, points, plan, folder, stop);
        let (played, answers) = played.await?;
        played.warn();
        let mut ended = played.ended(settings, folder);
        // Each case has a root of its own, which is a secret of the exam.
        ended.root = None;
        let thought = answers.iter().map(|answer| answer.game.row.thought_us[0]);
        let result = CaseResult {
            case,
            thought: Duration::from_micros(thought.sum()),
            answers,
            memory: played.outcome.memory.values().next().copied(),
            memory_limit: self.enforce.then_some(MEMORY),
        };
        Ok((result, ended))
    }

    fn case_event(&self, result: &CaseResult<'_>) -> ExamCaseEvent {
        ExamCaseEvent {
            part: result.case.name.clone(),
            end: result.end(),
            marks: result.score(),
            min_marks: result.case.minimum,
            games: result.answers.len() as u64,
            thought_us: events::us(result.thought),
            budget_us: events::us(BUDGET),
            memory_bytes: result.memory,
            memory_limit_bytes: MEMORY,
            enforced: self.enforce,
        }
    }

    /// The sum of it all, and the scoreboard.
    fn close(
        &self,
        exam: &str,
        name: &str,
        results: &[CaseResult<'_>],
        stopped: bool,
    ) -> anyhow::Result<ExamEvent> {
        let parts = results.iter().map(|result| ExamGroupEvent {
            part: result.case.name.clone(),
            games: result.answers.len() as u64,
            marks: result.score(),
            max_marks: None,
        });
        let total = results.iter().map(CaseResult::score).sum();
        let passed = results.iter().filter(|result| result.passed()).count();
        let event = ExamEvent {
            game: GAME.to_owned(),
            bot: name.to_owned(),
            parts: parts.collect(),
            marks: total,
            max_marks: None,
            passed_cases: Some(passed as u64),
            scoreboard: None,
        };
        self.paper.close(exam, event, !stopped, || {
            let of = results.len();
            report::heading(&format!(
                "{name}: {passed} of {of} cases passed, {total} points"
            ))?;
            let rows = results.iter().map(|result| {
                [
                    result.case.name.clone(),
                    result.words().to_owned(),
                    result.score().to_string(),
                    result.case.minimum.to_string(),
                    report::time(events::us(result.thought)),
                    memory(result.memory),
                ]
            });
            let header = ["case", "verdict", "score", "minimum", "time", "memory"];
            report::plain_table(&header, rows)
        })
    }

    fn read(&self) -> anyhow::Result<Vec<Case>> {
        let (what, text) = match &self.cases {
            None => ("the practice cases".to_owned(), PRACTICE.to_owned()),
            Some(file) => (
                format!("--cases {}", file.display()),
                read_input_text(file, LARGEST_CASES)
                    .or_else(|error| usage(format!("--cases {}: {error}", file.display())))?,
            ),
        };
        let File { mut case } = toml::from_str(&text).or_else(|error: toml::de::Error| {
            // Without the line itself, which may be the one with the seed.
            let line = error
                .span()
                .map_or(0, |span| text[..span.start].matches('\n').count());
            let why = expected_words(error.message());
            usage(format!("{what}, line {}: {why}", line + 1))
        })?;
        for name in &self.only {
            if !case.iter().any(|case| case.name == *name) {
                let names: Vec<_> = case.iter().map(|case| case.name.as_str()).collect();
                return usage(format!("--case \"{name}\": there are {}", names.join(", ")));
            }
        }
        if !self.only.is_empty() {
            case.retain(|case| self.only.contains(&case.name));
        }
        if case.is_empty() {
            return usage(format!("{what}: expected one [[case]] or more, found none"));
        }
        if case.len() > MOST_CASES {
            return usage(format!(
                "{what}: expected at most {MOST_CASES} cases, found {}",
                case.len()
            ));
        }
        let mut names = BTreeSet::new();
        for one in &case {
            let length = one.name.chars().count();
            if !(1..=LONGEST_NAME).contains(&length) || !one.name.chars().all(is_printable) {
                return usage(format!(
                    "{what}: expected a name of 1 to {LONGEST_NAME} characters in one line, found \
                     \"{}\"",
                    one.name
                ));
            }
            if !names.insert(&one.name) {
                return usage(format!("{what}: two cases are called \"{}\"", one.name));
            }
            if let Err(error) = one.seed.parse::<Root>() {
                return usage(format!("{what}: case \"{}\": {error}", one.name));
            }
        }
        Ok(case)
    }
}

/// Points of a round: the score of seat 0.
fn points(game: &GameRow, seat: Seat, _: ExamVerdict) -> i64 {
    game.scores
        .get(seat.index())
        .map_or(0, |score| i64::from(*score))
}

fn show(result: &CaseResult<'_>) -> anyhow::Result<()> {
    report::heading(&format!(
        "{}: {}, {} points of {} asked for; {} and {}",
        result.case.name,
        result.words(),
        result.score(),
        result.case.minimum,
        report::time(events::us(result.thought)),
        memory(result.memory),
    ))?;
    report::plain_table(&HEADER, result.answers.iter().map(Answer::row))
}

fn memory(bytes: Option<u64>) -> String {
    match bytes {
        None => "-".to_owned(),
        Some(bytes) if bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        Some(bytes) => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    }
}

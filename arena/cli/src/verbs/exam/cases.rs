//! The exam of cases: eight rounds that are the same for everyone, the bot
//! always in seat 0, and a sum of scores that must be reached.

use std::{fs, path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
use referee::{Bot, Game, Memory, MemoryGauge, Pool};
use referee_core::{GameKind, Limits, PerSeat, Root, Seat};
use referee_games::Fixture;
use serde::Deserialize;
use serde_json::json;

use super::{Answer, HEADER, Paper, scores::Scores};
use crate::{
    End,
    entry::{Entry, Start},
    files::RunFolder,
    report,
    run::{self, Pairing},
    stop::Stop,
    tally::{GameResult, Tally, plural},
    usage,
    verbs::{Format, r#match::find_game},
};

const GAME: &str = "mahjong";
const OPPONENT: &str = "simple=house:simple";
const ROUNDS: u64 = 8;
/// What the arcade allows in a case.
const BUDGET: Duration = Duration::from_secs(4);
const MEMORY: u64 = 2 * 1024 * 1024;

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
    /// What one move may take; an answer at exactly this time is late.
    #[arg(long, env = "ARENA_MOVE_LIMIT", default_value = "3s", value_parser = run::positive_duration)]
    move_limit: Duration,
    /// What a bot has to start and say that it is ready.
    #[arg(long, env = "ARENA_START_LIMIT", default_value = "10s", value_parser = run::positive_duration)]
    start_limit: Duration,
    /// Where records and logs go [default: a new folder in arena-runs].
    #[arg(long)]
    records: Option<PathBuf>,
    /// Keep no records.
    #[arg(long, conflicts_with = "records")]
    no_records: bool,
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

/// How a case went.
struct Sheet {
    name: String,
    minimum: i64,
    answers: Vec<Answer>,
    /// All of the bot's time.
    thought: Duration,
    /// The most memory that it added; none where it is not ours to look at.
    memory: Option<u64>,
    /// How much it may add, where that is enforced.
    memory_limit: Option<u64>,
}

impl Sheet {
    fn score(&self) -> i64 {
        self.answers.iter().map(|answer| answer.points).sum()
    }

    fn passed(&self) -> bool {
        self.is_whole() && !self.is_too_large() && self.score() >= self.minimum
    }

    /// Whether it had more memory than it may, when it was looked at: at the end too,
    /// when no round is left that could end by it.
    fn is_too_large(&self) -> bool {
        let exceeds = |limit| self.memory.is_some_and(|memory| memory > limit);
        self.memory_limit.is_some_and(exceeds)
    }

    /// Whether all of its rounds have been played.
    fn is_whole(&self) -> bool {
        self.answers.len() as u64 == ROUNDS
    }

    fn verdict(&self) -> &'static str {
        if !self.is_whole() {
            "stopped"
        } else if self.is_too_large() {
            "too much memory"
        } else if self.passed() {
            "passed"
        } else {
            "not passed"
        }
    }
}

impl Cases {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let kind = find_game(GAME)?;
        let cases = self.read()?;
        let candidate = Entry::read(&self.paper.bot)?;
        candidate.must_play(kind.info())?;
        let opponent = Entry::read(OPPONENT)?;
        if candidate.name == opponent.name {
            return usage(format!(
                "--bot {}: the opponent is called {} too; name yours, as in me={}",
                self.paper.bot, opponent.name, candidate.spec
            ));
        }
        if let Some(file) = &self.paper.scores {
            Scores::read(file)?;
        }
        let folder = if self.no_records {
            None
        } else {
            Some(RunFolder::create(self.records.as_deref(), "exam")?)
        };
        if let Some(folder) = &folder {
            folder.describe(&json!({
                "verb": "exam",
                "game": kind.info().name,
                "rules_version": kind.info().rules_version,
                "bot": {"name": candidate.name, "spec": candidate.spec},
                "cases": cases.iter().map(|case| &case.name).collect::<Vec<_>>(),
                "enforced": self.enforce,
            }))?;
        }
        let stop = Stop::on_signals(None)?;
        let pool = Pool::new(1)?;
        let logs = folder.as_ref().map(RunFolder::logs);
        let start = Start::new(self.start_limit, Memory::default(), logs)?;
        let json = self.paper.format == Format::Json;
        let mut sheets = Vec::new();
        let mut tally = Tally::new(2, kind.info());
        for (number, case) in (0..).zip(&cases) {
            let mut hall = Hall {
                exam: &self,
                kind,
                start: &start,
                pool: &pool,
                folder: folder.as_ref(),
                stop: &stop,
                tally: &mut tally,
            };
            let sheet = hall.sit(number, case, &candidate, &opponent).await?;
            if json {
                for answer in &sheet.answers {
                    report::event(&answer.event())?;
                }
                report::event(&sheet_event(&sheet))?;
            } else {
                show(&sheet)?;
            }
            let whole = sheet.is_whole();
            sheets.push(sheet);
            if !whole {
                break;
            }
        }
        pool.drain().await;
        drop(pool);
        let stopped = sheets.len() < cases.len() || sheets.iter().any(|sheet| !sheet.is_whole());
        self.close(kind, &candidate.name, &sheets, stopped)?;
        report::warnings(&tally, &[candidate.name, opponent.name]);
        if let Some(folder) = &folder {
            anstream::eprintln!("records: {}", folder.path().display());
        }
        Ok(if stopped {
            anstream::eprintln!("stopped after {}", plural(tally.games(), "round"));
            End::Interrupted
        } else if sheets.iter().all(Sheet::passed) {
            End::Done
        } else {
            End::No
        })
    }

    /// The sum of it all, and the scoreboard.
    fn close(
        &self,
        kind: &dyn GameKind,
        name: &str,
        sheets: &[Sheet],
        stopped: bool,
    ) -> anyhow::Result<()> {
        let exam = kind.info().name;
        let kept: Vec<(String, i64)> = sheets
            .iter()
            .map(|sheet| (sheet.name.clone(), sheet.score()))
            .collect();
        let scores = match &self.paper.scores {
            Some(file) if !stopped => Some(Scores::keep(file, exam, name, &kept)?),
            _ => None,
        };
        let passed = sheets.iter().filter(|sheet| sheet.passed()).count();
        let total: i64 = kept.iter().map(|(_, score)| score).sum();
        if self.paper.format == Format::Json {
            return report::event(&json!({
                "type": "exam",
                "exam": exam,
                "bot": name,
                "cases": sheets.len(),
                "passed": passed,
                "score": total,
                "scoreboard": scores.map(|scores| scores.ranked(exam)),
            }));
        }
        report::heading(&format!(
            "{name}: {passed} of {} cases passed, {total} points",
            sheets.len()
        ))?;
        let rows = sheets.iter().map(|sheet| {
            [
                sheet.name.clone(),
                sheet.verdict().to_owned(),
                sheet.score().to_string(),
                sheet.minimum.to_string(),
                report::time(sheet.thought.as_micros() as u64),
                memory(sheet.memory),
            ]
        });
        report::plain_table(
            &["case", "verdict", "score", "minimum", "time", "memory"],
            rows,
        )?;
        if let Some(scores) = scores {
            scores.show(exam)?;
        }
        Ok(())
    }

    fn read(&self) -> anyhow::Result<Vec<Case>> {
        let (what, text) = match &self.cases {
            None => ("the practice cases".to_owned(), PRACTICE.to_owned()),
            Some(file) => (
                format!("--cases {}", file.display()),
                fs::read_to_string(file)
                    .or_else(|error| usage(format!("--cases {}: {error}", file.display())))?,
            ),
        };
        let File { mut case } = toml::from_str(&text).or_else(|error: toml::de::Error| {
            // Without the line itself, which may be the one with the seed.
            let line = error
                .span()
                .map_or(0, |span| text[..span.start].matches('\n').count());
            usage(format!("{what}, line {}: {}", line + 1, error.message()))
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
        for (at, one) in case.iter().enumerate() {
            if case[..at].iter().any(|other| other.name == one.name) {
                return usage(format!("{what}: two cases are called \"{}\"", one.name));
            }
            if let Err(error) = one.seed.parse::<Root>() {
                return usage(format!("{what}: case \"{}\": {error}", one.name));
            }
        }
        Ok(case)
    }
}

/// Where a case is sat.
struct Hall<'a> {
    exam: &'a Cases,
    kind: &'static dyn GameKind,
    start: &'a Start,
    pool: &'a Pool,
    folder: Option<&'a RunFolder>,
    stop: &'a Stop,
    /// What there is to warn of.
    tally: &'a mut Tally,
}

impl Hall<'_> {
    /// Eight rounds one after another, by one process while it lives.
    async fn sit(
        &mut self,
        number: u64,
        case: &Case,
        candidate: &Entry,
        opponent: &Entry,
    ) -> anyhow::Result<Sheet> {
        let gauge = Arc::new(MemoryGauge::default());
        let watched = Memory {
            limit: self.exam.enforce.then_some(MEMORY),
            gauge: Some(gauge.clone()),
        };
        let lot = self.start.next_lot();
        let bots = [
            candidate.bot_with(self.start, watched, lot)?,
            opponent.bot(self.start, lot)?,
        ];
        let root: Root = case.seed.parse()?;
        let names = [&candidate.name, &opponent.name];
        let mut sheet = Sheet {
            name: case.name.clone(),
            minimum: case.minimum,
            answers: Vec::new(),
            thought: Duration::ZERO,
            memory: None,
            memory_limit: self.exam.enforce.then_some(MEMORY),
        };
        for round in 0..ROUNDS {
            if self.stop.is_asked() {
                break;
            }
            let pairing = Pairing {
                group: number * ROUNDS + round,
                seating: 0,
                bots: vec![0, 1],
            };
            let id = format!("case-{:02}-round-{}", number + 1, round + 1);
            let seed = root.seed(self.kind.info().name, round);
            let game = self.game(id, seed, names, &bots, sheet.thought);
            let played = tokio::select! {
                played = game.play(self.pool) => played?,
                () = self.stop.cut_off() => break,
            };
            let mut result = GameResult::new(&pairing, &played.record);
            self.tally.add(&result, &played.record, played.voided);
            if let Some(folder) = self.folder {
                result.record = Some(folder.write(played.record).await?);
            }
            sheet.thought += result.thought[0];
            sheet
                .answers
                .push(answer(&case.name, &result, &opponent.name));
        }
        for bot in &bots {
            bot.stop().await;
        }
        // Looked at once more when it was stopped.
        sheet.memory = candidate.is_ours_to_start().then(|| gauge.peak());
        Ok(sheet)
    }

    fn game(
        &self,
        game_id: String,
        seed: referee_core::Seed,
        names: [&String; 2],
        bots: &[Arc<Bot>; 2],
        thought: Duration,
    ) -> Game {
        let limits = Limits {
            start: self.exam.start_limit,
            per_move: self.exam.move_limit,
            budget: self.exam.enforce.then_some(BUDGET),
            ..Limits::default()
        };
        let spent = if self.exam.enforce {
            // The opponent is ours and has all the time that it wants.
            PerSeat::from(vec![thought, Duration::ZERO])
        } else {
            PerSeat::default()
        };
        Game {
            fixture: Fixture {
                kind: self.kind,
                game_id,
                setup: serde_json::Value::Null,
                seed,
                players: PerSeat::from(names.map(String::clone).to_vec()),
                limits,
                spent,
            },
            bots: bots.to_vec(),
            watch: None,
        }
    }
}

fn answer(case: &str, game: &GameResult, opponent: &str) -> Answer {
    let seat = Seat::new(0);
    let points = game
        .verdict
        .outcome()
        .map_or(0, |outcome| i64::from(outcome.scores[seat]));
    Answer::new(case.to_owned(), opponent, seat, points, game)
}

fn show(sheet: &Sheet) -> anyhow::Result<()> {
    report::heading(&format!(
        "{}: {}, {} points of {} asked for; {} and {}",
        sheet.name,
        sheet.verdict(),
        sheet.score(),
        sheet.minimum,
        report::time(sheet.thought.as_micros() as u64),
        memory(sheet.memory),
    ))?;
    report::plain_table(&HEADER, sheet.answers.iter().map(Answer::row))
}

fn sheet_event(sheet: &Sheet) -> serde_json::Value {
    json!({
        "type": "exam_case",
        "case": sheet.name,
        "passed": sheet.passed(),
        "score": sheet.score(),
        "minimum": sheet.minimum,
        "rounds": sheet.answers.len(),
        "thought_us": sheet.thought.as_micros() as u64,
        "budget_us": BUDGET.as_micros() as u64,
        "memory_bytes": sheet.memory,
        "memory_limit_bytes": MEMORY,
    })
}

fn memory(bytes: Option<u64>) -> String {
    match bytes {
        None => "-".to_owned(),
        Some(bytes) if bytes < 1 << 20 => format!("{} KiB", bytes >> 10),
        Some(bytes) => format!("{:.1} MiB", bytes as f64 / f64::from(1 << 20)),
    }
}

//! `arena exam`: how good is one bot, in points.

mod cases;
mod graded;
mod scores;

use std::{path::PathBuf, sync::Arc};

use arena_contest::exam_verdict;
use arena_events::{
    Event,
    exam::{ExamEvent, ExamGameEvent, ExamRank, ExamVerdict},
    run::{ExamPlan, RunCommand, RunEndedEvent, RunStartedEvent},
};
use arena_store::GameRow;
use arena_terminal::{Format, Reporter};
use arena_tournament::{EndedGame, Plan, events};
use clap::{Args, Subcommand};
use parking_lot::Mutex;
use referee::BotSandbox;
use referee_bots::Entry;
use referee_core::{Seat, printable};
use referee_games::game_name;
use referee_worker::Stop;

use self::scores::{Scores, in_order};
use crate::{
    End,
    play::{FoulArgs, PlayedRun, RunFolder, Settings, describe},
    report, stop, usage,
};

/// One bot against graded opponents.
#[derive(Subcommand)]
pub(crate) enum Exam {
    /// Five groups of ten games against the graded strategies of the ladder
    ConnectFour(graded::Graded),
    /// Cases of eight fixed rounds against `simple`, each with a minimum score
    Mahjong(cases::Cases),
}

impl Exam {
    /// Holds it.
    pub(crate) async fn run(self) -> anyhow::Result<End> {
        match self {
            Self::ConnectFour(exam) => exam.run().await,
            Self::Mahjong(exam) => exam.run().await,
        }
    }
}

/// What all exams are asked.
#[derive(Args)]
struct Paper {
    /// The bot that is examined: SPEC or NAME=SPEC. May be given several times: they are examined
    /// one after another, on the same boards and deals, and compared at the end.
    #[arg(long = "bot", value_name = "SPEC", required = true)]
    bots: Vec<String>,
    /// Keep the best scores of every contestant in this file, and show the scoreboard.
    #[arg(long, value_name = "FILE")]
    scores: Option<PathBuf>,
    #[command(flatten)]
    fouls: FoulArgs,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Paper {
    fn is_json(&self) -> bool {
        self.format == Format::Json
    }

    /// Refuses a file of scores that can't be used, before anything is played.
    fn check_scores(&self) -> anyhow::Result<()> {
        match &self.scores {
            Some(file) => Scores::read(file).map(drop),
            None => Ok(()),
        }
    }

    /// The bots that are examined. None has the name of an opponent.
    fn candidates(&self, settings: &Settings, opponents: &[&str]) -> anyhow::Result<Vec<Entry>> {
        let candidates = Entry::read_all(&self.bots, &settings.schemes)?;
        for (text, entry) in self.bots.iter().zip(&candidates) {
            if opponents.contains(&&*entry.name) {
                return usage(format!(
                    "--bot {text}: an opponent is called {} too; name yours, as in me={}",
                    entry.name, entry.spec
                ));
            }
        }
        settings.check_bots(&candidates)?;
        Ok(candidates)
    }

    /// A folder for the records of each of these, where they are kept. Of several bots each has a
    /// folder in the one that is named.
    fn folders(
        settings: &Settings,
        candidates: &[Entry],
    ) -> anyhow::Result<Vec<Option<RunFolder>>> {
        let one_of_several = candidates.len() > 1;
        let folders = candidates.iter().map(|one| match one_of_several {
            true => settings.folder_of("exam", &one.name),
            false => settings.folder("exam"),
        });
        folders.collect()
    }

    /// Examines these bots one after another, and compares them.
    async fn hold(
        &self,
        settings: &Settings,
        candidates: &[Entry],
        examine: impl AsyncFn(&Entry, Option<&RunFolder>, &Stop) -> anyhow::Result<(ExamEvent, End)>,
    ) -> anyhow::Result<End> {
        self.check_scores()?;
        let folders = Self::folders(settings, candidates)?;
        let stop = stop::on_signals(None)?;
        let (mut exams, mut end) = (Vec::new(), End::Done);
        for (candidate, folder) in candidates.iter().zip(&folders) {
            let (exam, its_end) = examine(candidate, folder.as_ref(), &stop).await?;
            exams.push(exam);
            end = worse(end, its_end);
            if end == End::Interrupted {
                break;
            }
        }
        self.compare(exams)?;
        Ok(end)
    }

    /// Compares the bots, where there are several, and shows the scoreboard.
    fn compare(&self, exams: Vec<ExamEvent>) -> anyhow::Result<()> {
        if self.is_json() {
            return Ok(());
        }
        let scoreboard = exams.iter().rev().find_map(|exam| exam.scoreboard.clone());
        if self.bots.len() > 1 {
            let ranks = exams.into_iter().map(|exam| ExamRank {
                rank: 0,
                bot: printable(&exam.bot),
                marks: exam.marks,
                parts: exam.parts.len() as u64,
            });
            scores::show("all bots of this exam", in_order(ranks.collect()))?;
        }
        scoreboard.map_or(Ok(()), |ranks| {
            scores::show("scoreboard, the best of each part", ranks)
        })
    }

    /// Says that the exam begins.
    fn begin(&self, started: &RunStartedEvent, folder: Option<&RunFolder>) -> anyhow::Result<()> {
        describe(folder, started, None)?;
        if self.is_json() {
            report::event(Event::RunStarted(started.clone()))?;
        }
        Ok(())
    }

    /// Says how the exam ended, from how each of its parts did.
    fn end(
        &self,
        started: &RunStartedEvent,
        parts: Vec<RunEndedEvent>,
        folder: Option<&RunFolder>,
    ) -> anyhow::Result<()> {
        let whole = parts.into_iter().reduce(|mut whole, part| {
            whole.end = part.end;
            whole.games += part.games;
            whole.excluded_games += part.excluded_games;
            whole.half_deals += part.half_deals;
            add_new(&mut whole.never_started, part.never_started);
            whole
        });
        let whole = whole.expect("an exam has a part");
        describe(folder, started, Some(whole.clone()))?;
        if self.is_json() {
            report::event(Event::RunEnded(whole))?;
        }
        Ok(())
    }

    /// Plays a part of the exam and gives its games in their order.
    async fn play(
        &self,
        settings: &Settings,
        part: &str,
        points: Points,
        plan: Plan,
        folder: Option<&RunFolder>,
        stop: &Stop,
    ) -> anyhow::Result<(PlayedRun, Vec<Answer>)> {
        let answers = Arc::new(Mutex::new(Vec::new()));
        let (kept, part) = (answers.clone(), part.to_owned());
        let on_game = move |game: &EndedGame| {
            let answer = Answer::new(part.clone(), points, game);
            let event = answer.event();
            let mut kept = kept.lock();
            kept.push(answer);
            event
        };
        let game = game_name(plan.kind.info().name);
        let sandbox = settings.sandbox(&plan, folder)?;
        let walls = sandbox.as_ref().map(BotSandbox::walls);
        let reporter = Reporter::new(&game, None, self.is_json(), stop)
            .with_bots(&plan, walls)
            .with_game_event(Box::new(on_game));
        let played = settings.play(plan, folder, false, stop, reporter).await?;
        let mut answers = answers.lock();
        let mut answers: Vec<Answer> = std::mem::take(&mut *answers);
        answers.sort_by_key(|answer| (answer.game.row.group, answer.game.row.seating));
        Ok((played, answers))
    }

    /// Keeps the scores of an exam that is `whole`, and tells the sum, which `show` puts
    /// into words, and gives it with the scoreboard. `exam` is its name in the file of scores.
    fn close(
        &self,
        exam: &str,
        mut event: ExamEvent,
        whole: bool,
        show: impl FnOnce() -> anyhow::Result<()>,
    ) -> anyhow::Result<ExamEvent> {
        let scores = match &self.scores {
            Some(file) if whole => Some(Scores::keep(file, exam, &event.bot, &event.parts)?),
            _ => None,
        };
        event.scoreboard = scores.as_ref().map(|scores| scores.ranked(exam));
        match self.is_json() {
            true => report::event(Event::Exam(event.clone()))?,
            false => show()?,
        }
        Ok(event)
    }
}

/// The end of an exam of several bots so far, with that of one more.
const fn worse(one: End, other: End) -> End {
    match (one, other) {
        (_, End::Interrupted) => End::Interrupted,
        (End::Done, other) => other,
        (one, _) => one,
    }
}

/// The beginning of a run of an exam, from the plans of its parts.
fn started<'a>(
    settings: &Settings,
    plans: impl IntoIterator<Item = &'a Plan>,
    folder: Option<&RunFolder>,
    exam: &ExamPlan,
) -> anyhow::Result<RunStartedEvent> {
    let mut plans = plans.into_iter().peekable();
    if let Some(first) = plans.peek() {
        referee_cli::sandbox::note(settings.sandbox(first, folder)?.as_ref());
    }
    let mut parts =
        plans.map(|plan| settings.started(RunCommand::Exam, plan, folder, Some(exam.clone())));
    let mut whole = parts.next().expect("an exam has a part")?;
    let sum = |(some, more): (u64, u64)| some + more;
    for part in parts {
        let part = part?;
        whole.planned_groups = whole.planned_groups.zip(part.planned_groups).map(sum);
        whole.planned_games = whole.planned_games.zip(part.planned_games).map(sum);
        add_new(&mut whole.bots, part.bots);
    }
    Ok(whole)
}

/// Adds what is not there yet.
fn add_new<T: PartialEq>(all: &mut Vec<T>, more: Vec<T>) {
    for one in more {
        if !all.contains(&one) {
            all.push(one);
        }
    }
}

/// Points of a game.
type Points = fn(&GameRow, Seat, ExamVerdict) -> i64;

/// One game of an exam.
struct Answer {
    /// The part of the exam that it belongs to.
    part: String,
    opponent: String,
    /// Seat of the examined bot.
    seat: Seat,
    verdict: ExamVerdict,
    /// Its points, in the exam's unit.
    points: i64,
    game: EndedGame,
}

impl Answer {
    /// A game of the examined bot, which is the first of the lineup.
    fn new(part: String, points: Points, game: &EndedGame) -> Self {
        let row = &game.row;
        let seat = row.order.iter().take_while(|place| **place != 0).count();
        let others = game.players.iter().enumerate();
        let mut others = others.filter(|(other, _)| *other != seat);
        let opponent = others.next().map_or("", |(_, name)| name);
        let seat = Seat::new(seat as u8);
        let verdict = exam_verdict(row, seat);
        Self {
            part,
            opponent: opponent.to_owned(),
            seat,
            verdict,
            points: points(row, seat, verdict),
            game: game.clone(),
        }
    }

    /// True if a bot committed a foul in it.
    fn has_foul(&self) -> bool {
        !self.game.row.fouls.is_empty()
    }

    fn event(&self) -> Event {
        let row = &self.game.row;
        let foul = row.fouls.iter().find(|foul| foul.seat == self.seat);
        let record = self.game.record.as_ref();
        Event::ExamGame(ExamGameEvent {
            part: self.part.clone(),
            opponent: self.opponent.clone(),
            seat: self.seat.index() as u8,
            verdict: self.verdict,
            marks: self.points,
            reason: (!row.places.is_empty()).then(|| row.reason.clone()),
            foul: foul.map(|foul| events::evidence(&foul.foul)),
            plies: row.plies.into(),
            thought_us: row.thought_us[self.seat.index()],
            play_hash: row.play_hash.clone(),
            record: record.map(|record| record.display().to_string()),
        })
    }

    /// Its row in the table.
    fn row(&self) -> [String; 7] {
        let seat = match self.seat.index() {
            0 => "first",
            _ => "second",
        };
        [
            self.opponent.clone(),
            seat.to_owned(),
            words(self.verdict).to_owned(),
            self.points.to_string(),
            self.game.row.plies.to_string(),
            report::time(self.game.row.thought_us[self.seat.index()]),
            match self.game.record {
                Some(_) => self.game.game_id.clone(),
                None => String::new(),
            },
        ]
    }
}

const HEADER: [&str; 7] = [
    "opponent", "seat", "verdict", "points", "moves", "time", "record",
];

/// As the rules page of the exam names it.
const fn words(verdict: ExamVerdict) -> &'static str {
    match verdict {
        ExamVerdict::Win => "win",
        ExamVerdict::Draw => "draw",
        ExamVerdict::Loss => "loss",
        ExamVerdict::IllegalMove => "illegal move",
        ExamVerdict::TimeLimitExceeded => "time limit exceeded",
        ExamVerdict::MemoryLimitExceeded => "memory limit exceeded",
        ExamVerdict::OutputLimitExceeded => "output limit exceeded",
        ExamVerdict::RuntimeError => "runtime error",
        ExamVerdict::SystemError => "system error",
    }
}

#[cfg(test)]
mod tests {
    use arena_ladder::MatchId;
    use referee_core::{Foul, SeatFoul};

    use super::*;

    #[test]
    fn every_game_gets_a_word() {
        let seat = Seat::new(1);
        let game = |places: &[u8], foul: Option<Foul>| GameRow {
            group: 0,
            seating: 0,
            games_in_group: 1,
            matchup: MatchId(0),
            lineup: vec![None, None],
            order: vec![0, 1],
            places: places.to_vec(),
            scores: vec![0, 0],
            reason: "it is over".to_owned(),
            fouls: foul
                .into_iter()
                .map(|foul| SeatFoul { seat, foul })
                .collect(),
            plies: 0,
            thought_us: vec![0, 0],
            course: 0,
            play_hash: String::new(),
            finished_unix_ms: 0,
            worker: None,
            counters: Vec::new(),
        };
        let late = Foul::Late {
            limit: std::time::Duration::from_secs(3),
        };
        for (game, expected) in [
            (game(&[2, 1], None), "win"),
            (game(&[1, 1], None), "draw"),
            (game(&[1, 2], None), "loss"),
            (game(&[1, 2], Some(Foul::HungUp)), "runtime error"),
            (game(&[1, 2], Some(late)), "time limit exceeded"),
            (game(&[], None), "system error"),
        ] {
            assert_eq!(words(exam_verdict(&game, seat)), expected);
        }
    }
}

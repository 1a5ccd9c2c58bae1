//! The graded exam: five groups of ten games, each opponent of a group once
//! from either side on one board.

use arena_contest::{GradedOpponent, graded_points};
use arena_events::{
    Event,
    exam::{ExamEvent, ExamGroupEvent, ExamVerdict},
    run::ExamPlan,
};
use arena_ladder::{ScheduleShape, Seatings};
use arena_store::GameRow;
use arena_tournament::{Plan, find_game};
use clap::Args;
use referee_bots::Entry;
use referee_core::Seat;
use referee_worker::Stop;

use super::{Answer, HEADER, Paper, started};
use crate::{
    End,
    play::{RunArgs, RunFolder, Settings},
    report,
};

const GAME: &str = "connect-four";
const GROUPS: i64 = 5;
/// Memory that the contest allows a process, in MiB.
const MEMORY: u64 = 1024;

/// Five groups of ten games against the graded strategies of the ladder. A win
/// is 10 points, a draw 5, anything else 0: 100 a group and 500 in all.
#[derive(Args)]
#[command(
    after_help = "Group 1 plays levels 1, 3, 5, 7 and 9 of house:ladder, group 2 levels 11 to 19,
and so on to 49; the even ones are for practice.

Examples:
  arena exam connect-four --bot 'house:uct?time=100ms' --group 1
  arena exam connect-four --bot me='exec:python3 my_bot.py' --scores scores.json
  arena exam connect-four --bot ann=strategy:ann/s.so --bot bob=strategy:bob/s.so

Exit codes: 0 the bot played; 1 it never started; 2 bad usage; 3 our own failure."
)]
pub(crate) struct Graded {
    #[command(flatten)]
    paper: Paper,
    /// Only this group, 1 to 5; may be given several times.
    #[arg(long = "group", value_parser = clap::value_parser!(u32).range(1..=GROUPS))]
    groups: Vec<u32>,
    #[command(flatten)]
    run: RunArgs,
}

impl Graded {
    pub(super) async fn run(mut self) -> anyhow::Result<End> {
        let kind = find_game(GAME)?;
        if self.groups.is_empty() {
            self.groups = (1..=GROUPS as u32).collect();
        }
        self.groups.sort_unstable();
        self.groups.dedup();
        let mut settings = self.run.resolve(kind)?;
        settings.memory_mib.get_or_insert(MEMORY);
        let opponents = self.groups.iter().copied();
        let opponents = opponents.flat_map(GradedOpponent::of_group);
        let opponents: Vec<String> = opponents.map(GradedOpponent::name).collect();
        let opponents: Vec<&str> = opponents.iter().map(String::as_str).collect();
        let candidates = self.paper.candidates(&settings, &opponents)?;
        let examine = async |candidate: &Entry, folder: Option<&RunFolder>, stop: &Stop| {
            self.examine(&settings, candidate, folder, stop).await
        };
        self.paper.hold(&settings, &candidates, examine).await
    }

    /// Examines one bot.
    async fn examine(
        &self,
        settings: &Settings,
        candidate: &Entry,
        folder: Option<&RunFolder>,
        stop: &Stop,
    ) -> anyhow::Result<(ExamEvent, End)> {
        let plans = self.plans(settings, candidate)?;
        let exam = ExamPlan {
            parts: self.groups.iter().map(|group| part(*group)).collect(),
            enforced: true,
        };
        let started = started(settings, plans.iter().map(|(_, plan)| plan), folder, &exam)?;
        self.paper.begin(&started, folder)?;
        let mut groups: Vec<ExamGroupEvent> = Vec::new();
        let mut ended = Vec::new();
        let mut end = End::Done;
        let mut has_fouls = false;
        for (group, plan) in plans {
            let part = part(group);
            let played = self.paper.play(settings, &part, points, plan, folder, stop);
            let (played, answers) = played.await?;
            has_fouls |= answers.iter().any(Answer::has_foul);
            if !answers.is_empty() {
                groups.push(self.tell_group(part, &answers)?);
            }
            ended.push(played.ended(settings, folder));
            match played.close(None) {
                End::Done => {}
                other => end = other,
            }
            if end == End::Interrupted {
                break;
            }
        }
        self.paper.end(&started, ended, folder)?;
        if let Some(folder) = folder {
            report::tell(&format!("records: {}", folder.path().display()));
        }
        let name = &candidate.name;
        let marks = groups.iter().map(|group| group.marks).sum();
        let of = 100 * self.groups.len() as i64;
        let exam = ExamEvent {
            game: GAME.to_owned(),
            bot: name.clone(),
            parts: groups,
            marks,
            max_marks: Some(of),
            passed_cases: None,
            scoreboard: None,
        };
        // Neither a bot that never started nor an exam that was cut off is kept.
        let whole = end == End::Done;
        let show = || report::heading(&format!("{name}: {marks} of {of}"));
        let exam_name = settings.kind.info().name;
        let exam = self.paper.close(exam_name, exam, whole, show)?;
        Ok((exam, self.paper.fouls.end(end, has_fouls)))
    }

    /// The plan of each group that was chosen.
    fn plans(&self, settings: &Settings, candidate: &Entry) -> anyhow::Result<Vec<(u32, Plan)>> {
        let mut plans = Vec::new();
        for &group in &self.groups {
            plans.push((group, plan(settings, group, candidate)?));
        }
        Ok(plans)
    }

    /// Prints what a group has brought.
    fn tell_group(&self, part: String, answers: &[Answer]) -> anyhow::Result<ExamGroupEvent> {
        let brought = ExamGroupEvent {
            part,
            games: answers.len() as u64,
            marks: answers.iter().map(|answer| answer.points).sum(),
            max_marks: Some(100),
        };
        if self.paper.is_json() {
            report::event(Event::ExamGroup(brought.clone()))?;
        } else {
            report::heading(&format!("{}: {} of 100", brought.part, brought.marks))?;
            report::plain_table(&HEADER, answers.iter().map(Answer::row))?;
        }
        Ok(brought)
    }
}

/// The games of a group: the examined bot against each of its opponents.
fn plan(settings: &Settings, group: u32, candidate: &Entry) -> anyhow::Result<Plan> {
    let mut bots = vec![candidate.clone()];
    for opponent in GradedOpponent::of_group(group) {
        let spec = format!("{}={}", opponent.name(), opponent.spec());
        bots.push(Entry::read(&spec, &settings.schemes)?);
    }
    let shape = ScheduleShape::Gauntlet { challengers: 1 };
    let mut plan = settings.plan(bots, shape, 1, Seatings::Rotations, None)?;
    plan.prefix = format!("group-{group}-");
    // The board of an opponent is the same whatever groups are played.
    let first = GradedOpponent::of_group(group).next();
    plan.first_deal = first.map_or(0, |first| first.number.into());
    Ok(plan)
}

/// Points of a game.
fn points(_: &GameRow, _: Seat, verdict: ExamVerdict) -> i64 {
    graded_points(verdict)
}

fn part(group: u32) -> String {
    format!("group {group}")
}

//! How an entry is examined: the tournaments that are its exam, and what their games are worth.

use std::path::PathBuf;

use arena_events::exam::ExamVerdict;
use arena_ladder::{Entrant, ScheduleShape, Seatings};
use arena_store::{Contest, ContestRunKind, ENTRY_BOT, Entry, GameRow, NewContestRun, NewEntrant};
use arena_tournament::{Definition, OnKubernetes, find_game};
use referee_core::{FoulKind, Limits, Root, Seat};

use crate::{
    ContestError, ContestRules,
    file::{ExamCase, ExamRules},
    ladder::Player,
};

/// The opponents of a group, each from either side.
const OPPONENTS: u32 = 5;
/// The rounds of a case.
const ROUNDS: u64 = 8;
/// Exams are played before leagues: people wait for them.
const EXAM: i64 = 10;
/// Leagues and finals.
const LEAGUE: i64 = 0;

/// Where the games of contests are played.
#[derive(Clone, Debug)]
pub(crate) struct GamesPlace {
    /// The folder of the tournaments.
    pub(crate) folder: PathBuf,
    /// How they are played on Kubernetes, if they are.
    pub(crate) kubernetes: Option<OnKubernetes>,
}

/// A part of an exam, by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExamPart<'a> {
    /// A group of graded opponents, from 1.
    Group(u32),
    /// A case.
    Case(&'a ExamCase),
}

/// A graded opponent of the exam in Connect Four.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct GradedOpponent {
    /// Its number among those of all groups, from 0.
    pub number: u32,
    /// Its level of the ladder.
    pub level: u32,
}

impl GradedOpponent {
    /// The opponents of a group, from 1: levels 1, 3, 5, 7 and 9 in group 1, 11 to 19 in group 2, and
    /// so on. The even ones are for practice.
    pub fn of_group(group: u32) -> impl Iterator<Item = Self> {
        let first = (group - 1) * OPPONENTS;
        (first..first + OPPONENTS).map(|number| Self {
            number,
            level: 2 * number + 1,
        })
    }

    /// Its name as a bot.
    #[must_use]
    pub fn name(self) -> String {
        format!("ladder-{}", self.level)
    }

    /// Its SPEC.
    #[must_use]
    pub fn spec(self) -> String {
        format!("house:ladder?level={}", self.level)
    }
}

/// How a game ended for the bot in a seat.
#[must_use]
pub fn exam_verdict(game: &GameRow, seat: Seat) -> ExamVerdict {
    let Some(place) = game.places.get(seat.index()) else {
        return ExamVerdict::SystemError;
    };
    if let Some(foul) = game.fouls.iter().find(|foul| foul.seat == seat) {
        return match foul.foul.kind() {
            FoulKind::Illegal => ExamVerdict::IllegalMove,
            FoulKind::Late => ExamVerdict::TimeLimitExceeded,
            FoulKind::MemoryExceeded => ExamVerdict::MemoryLimitExceeded,
            FoulKind::Oversized => ExamVerdict::OutputLimitExceeded,
            FoulKind::Unreachable
            | FoulKind::NoStart
            | FoulKind::Unsupported
            | FoulKind::Crashed
            | FoulKind::HungUp
            | FoulKind::Resigned
            | FoulKind::ErrorStatus
            | FoulKind::Malformed
            | FoulKind::WrongNumber
            | FoulKind::Unsolicited
            | FoulKind::Flooded
            | FoulKind::Interfered => ExamVerdict::RuntimeError,
        };
    }
    let best = game.places.iter().filter(|place| **place == 1).count();
    match (place, best) {
        (1, 1) => ExamVerdict::Win,
        (1, _) => ExamVerdict::Draw,
        _ => ExamVerdict::Loss,
    }
}

/// A verdict as the course's contest page names it.
#[must_use]
pub const fn verdict_words(verdict: ExamVerdict) -> &'static str {
    match verdict {
        ExamVerdict::Win => "You Win",
        ExamVerdict::Draw => "Draw",
        ExamVerdict::Loss => "You Lose",
        ExamVerdict::IllegalMove => "Illegal Instruction",
        ExamVerdict::TimeLimitExceeded => "Time Limit Exceeded",
        ExamVerdict::MemoryLimitExceeded => "Memory Limit Exceeded",
        ExamVerdict::OutputLimitExceeded => "Output Limit Exceeded",
        ExamVerdict::RuntimeError => "Runtime Error",
        ExamVerdict::SystemError => "System Error",
    }
}

/// The points of a game against a graded opponent.
#[must_use]
pub const fn graded_points(verdict: ExamVerdict) -> i64 {
    match verdict {
        ExamVerdict::Win => 10,
        ExamVerdict::Draw => 5,
        _ => 0,
    }
}

/// The points of a game: of a group 10 for a win and 5 for a draw, of a case the score.
#[must_use]
pub fn exam_points(part: ExamPart<'_>, game: &GameRow, seat: Seat) -> i64 {
    match part {
        ExamPart::Group(_) => graded_points(exam_verdict(game, seat)),
        ExamPart::Case(_) => {
            let score = game.scores.get(seat.index());
            score.map_or(0, |score| i64::from(*score))
        }
    }
}

/// The name of an opponent: that of its SPEC, as in `house:simple`.
fn name_of(spec: &str) -> &str {
    let name = spec.rsplit(':').next().unwrap_or(spec);
    name.split('?').next().unwrap_or(name)
}

/// The name of an entry as a bot.
pub(crate) fn bot_name(entry: u64) -> String {
    format!("{ENTRY_BOT}{entry}")
}

/// The entry whose name as a bot this is.
pub(crate) fn entry_of(name: &str) -> Option<u64> {
    name.strip_prefix(ENTRY_BOT)?.parse().ok()
}

/// The beginning of the names of the tournaments that are the exam of an entry, in this attempt.
pub(crate) fn prefix(contest: &Contest, entry: &Entry) -> String {
    format!("{}.e{}.{}.", contest.name, entry.number, entry.attempt)
}

/// The tournaments that are the exam of an entry whose bot is started by `spec`.
///
/// # Errors
///
/// The rules name a game that is not there.
pub(crate) fn exam(
    contest: &Contest,
    rules: &ContestRules,
    entry: &Entry,
    spec: &str,
    place: &GamesPlace,
    now_unix_ms: i64,
) -> Result<Vec<NewContestRun>, ContestError> {
    let own = NewEntrant::new(bot_name(entry.number), spec);
    let kind = ContestRunKind::Exam;
    let priority = EXAM;
    let mut runs = Vec::new();
    let mut add = |part, definition: &Definition, entrants, root| {
        let name = format!("{}{part}", prefix(contest, entry));
        let tournament = definition.tournament(&name, entrants, root, now_unix_ms)?;
        runs.push(NewContestRun {
            kind,
            part,
            priority,
            tournament,
        });
        Ok::<_, ContestError>(())
    };
    let base = Definition {
        shape: ScheduleShape::Gauntlet { challengers: 1 },
        ..definition(rules, place)?
    };
    match &rules.exam {
        ExamRules::Groups { .. } => {
            let graded = GradedOpponent::of_group(entry.part);
            let graded = graded.map(|one| NewEntrant::new(one.name(), one.spec()));
            let entrants = [own].into_iter().chain(graded).collect();
            let root = derived(contest, "exam", entry.part);
            let definition = Definition { deals: 1, ..base };
            add(entry.part, &definition, entrants, root)?;
        }
        ExamRules::Cases(cases) => {
            let definition = Definition {
                deals: ROUNDS,
                seatings: Seatings::Fixed,
                ..base
            };
            for (number, case) in (1..).zip(cases) {
                let opponent = NewEntrant::new(name_of(&case.opponent), &case.opponent);
                let root = case.seed.parse::<Root>();
                let root = root.map_err(|error| ContestError::Invalid(error.to_string()))?;
                add(number, &definition, vec![own.clone(), opponent], root)?;
            }
        }
        // It brings nothing, but shows that the bot starts and plays.
        ExamRules::None {} => {
            let opponent = NewEntrant::new("random", "house:random");
            let root = derived(contest, "exam", 0);
            let definition = Definition { deals: 1, ..base };
            add(0, &definition, vec![own, opponent], root)?;
        }
    }
    Ok(runs)
}

/// A meeting of all entries that count: a round of the league, or the final.
#[derive(Clone, Copy)]
pub(crate) struct Meeting<'a> {
    pub(crate) kind: ContestRunKind,
    pub(crate) round: u32,
    /// The deals of a match.
    pub(crate) deals: u64,
    /// Those who play.
    pub(crate) players: &'a [Player],
    /// Who meets whom; empty where everybody meets everybody.
    pub(crate) tables: &'a [Vec<Entrant>],
}

/// The tournament of a meeting.
///
/// # Errors
///
/// The rules name a game that is not there.
pub(crate) fn meeting(
    contest: &Contest,
    rules: &ContestRules,
    meeting: Meeting<'_>,
    place: &GamesPlace,
    now_unix_ms: i64,
) -> Result<NewContestRun, ContestError> {
    let Meeting {
        kind,
        round,
        deals,
        players,
        tables,
    } = meeting;
    let root = match kind {
        ContestRunKind::Final => contest.final_root.clone(),
        ContestRunKind::League | ContestRunKind::Exam => derived(contest, "league", round),
    };
    let mut definition = Definition {
        deals,
        ..definition(rules, place)?
    };
    if !tables.is_empty() {
        definition.shape = ScheduleShape::Listed {
            tables: tables.to_vec(),
        };
    }
    let entrants = players.iter();
    let entrants = entrants.map(|one| NewEntrant::new(bot_name(one.entry), one.spec.clone()));
    let name = format!("{}.{}.{round}", contest.name, kind.word());
    Ok(NewContestRun {
        kind,
        part: round,
        priority: LEAGUE,
        tournament: definition.tournament(&name, entrants.collect(), root, now_unix_ms)?,
    })
}

fn definition(rules: &ContestRules, place: &GamesPlace) -> Result<Definition, ContestError> {
    let kind = find_game(&rules.game)?;
    let setup = kind.setup(&serde_json::Value::Null);
    let setup = setup.map_err(|error| ContestError::Invalid(error.to_string()))?;
    Ok(Definition {
        limits: Limits {
            per_move: rules.per_move,
            ..Limits::default()
        },
        memory_mib: Some(rules.memory_mib),
        logs: true,
        directory: place.folder.clone(),
        kubernetes: place.kubernetes,
        ..Definition::round_robin(&rules.game, vec![setup])
    })
}

/// A root that follows from that of the contest, which it does not tell.
fn derived(contest: &Contest, purpose: &str, number: u32) -> Root {
    Root::new(*contest.root.seed(purpose, number.into()).bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_plays_five_odd_levels() {
        let levels = |group| GradedOpponent::of_group(group).map(|one| one.level);
        let levels: Vec<Vec<u32>> = (1..=5).map(|group| levels(group).collect()).collect();
        assert_eq!(
            levels,
            [
                [1, 3, 5, 7, 9],
                [11, 13, 15, 17, 19],
                [21, 23, 25, 27, 29],
                [31, 33, 35, 37, 39],
                [41, 43, 45, 47, 49],
            ]
        );
        let numbers = (1..=5).flat_map(GradedOpponent::of_group);
        assert!(numbers.map(|one| one.number).eq(0..25));
    }
}

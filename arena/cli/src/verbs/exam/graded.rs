//! The graded exam: five groups of ten games, each opponent of a group once
//! from either side on one board.

use arena_ladder::Seatings;
use clap::Args;
use referee_core::Seat;
use serde_json::json;

use super::{Answer, HEADER, Mark, Paper, scores::Scores};
use crate::{
    End,
    entry::Entry,
    report,
    run::{Pairing, RunEnd},
    tally::GameResult,
    usage,
    verbs::{
        Format,
        r#match::{Terms, find_game},
    },
};

const GAME: &str = "connect-four";
const GROUPS: u64 = 5;
/// The levels of the ladder that a group plays: 1, 3, 5, 7, 9 and so on. The
/// even ones are for practice.
const OPPONENTS: u64 = 5;
/// What the contest allows a process, in MiB.
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

Exit codes: 0 the bot played; 1 it never started; 2 bad usage; 3 our own failure."
)]
pub(crate) struct Graded {
    #[command(flatten)]
    paper: Paper,
    /// Only this group, 1 to 5; may be given several times.
    #[arg(long = "group", value_parser = clap::value_parser!(u64).range(1..=GROUPS))]
    groups: Vec<u64>,
    #[command(flatten)]
    terms: Terms,
}

/// What a group brought.
struct Group {
    name: String,
    answers: Vec<Answer>,
}

impl Graded {
    pub(super) async fn run(mut self) -> anyhow::Result<End> {
        let kind = find_game(GAME)?;
        if self.groups.is_empty() {
            self.groups = (1..=GROUPS).collect();
        }
        self.groups.sort_unstable();
        self.groups.dedup();
        self.terms.allow_at_most(MEMORY);
        let candidate = Entry::read(&self.paper.bot)?;
        let name = candidate.name.clone();
        if let Some(file) = &self.paper.scores {
            // Before anything is played: a file that can't be used.
            Scores::read(file)?;
        }
        let mut entries = vec![candidate];
        let mut pairings = Vec::new();
        for &group in &self.groups {
            for (number, level) in opponents(group) {
                let spec = format!("ladder-{level}=house:ladder?level={level}");
                let bots = [0, entries.len()];
                entries.push(Entry::read(&spec)?);
                // The board of an opponent is the same whatever groups are played.
                pairings.extend(Pairing::rounds(&bots, Seatings::Rotations, number, 1));
            }
        }
        if entries.iter().skip(1).any(|entry| entry.name == name) {
            return usage(format!(
                "--bot {}: an opponent is called {name} too; name yours, as in me={}",
                self.paper.bot, entries[0].spec
            ));
        }
        let json = self.paper.format == Format::Json;
        let outcome = self
            .terms
            .play("exam", kind, &entries, &pairings, |result| {
                if json {
                    report::event(&answer(result, &entries).event())
                } else {
                    Ok(())
                }
            })
            .await?;
        let groups: Vec<Group> = self
            .groups
            .iter()
            .map(|group| Group {
                name: part(*group),
                answers: outcome
                    .games
                    .iter()
                    .map(|game| answer(game, &entries))
                    .filter(|answer| answer.part == part(*group))
                    .collect(),
            })
            // Where it was stopped, some have not begun.
            .filter(|group| !group.answers.is_empty())
            .collect();
        let kept: Vec<(String, i64)> = groups
            .iter()
            .map(|group| (group.name.clone(), group.points()))
            .collect();
        // What was cut off is no submission.
        let scores = match &self.paper.scores {
            // Nor is a bot that never started: that costs nothing.
            Some(file)
                if outcome.end == RunEnd::Whole && outcome.tally.never_started().is_empty() =>
            {
                Some(Scores::keep(file, kind.info().name, &name, &kept)?)
            }
            _ => None,
        };
        let total: i64 = kept.iter().map(|(_, points)| points).sum();
        let of = 100 * self.groups.len();
        if json {
            report::event(&json!({
                "type": "exam",
                "exam": kind.info().name,
                "bot": name,
                "groups": kept.iter().map(|(part, points)| json!({
                    "group": part, "points": points, "of": 100,
                })).collect::<Vec<_>>(),
                "points": total,
                "of": of,
                "scoreboard": scores.map(|scores| scores.ranked(kind.info().name)),
            }))?;
        } else {
            for group in &groups {
                report::heading(&format!("{}: {} of 100", group.name, group.points()))?;
                report::plain_table(&HEADER, group.answers.iter().map(Answer::row))?;
            }
            report::heading(&format!("{name}: {total} of {of}"))?;
            if let Some(scores) = scores {
                scores.show(kind.info().name)?;
            }
        }
        let names: Vec<String> = entries.iter().map(|entry| entry.name.clone()).collect();
        outcome.close(&names)
    }
}

impl Group {
    fn points(&self) -> i64 {
        self.answers.iter().map(|answer| answer.points).sum()
    }
}

/// The opponents of a group: their numbers among all, from 0, and their levels.
fn opponents(group: u64) -> impl Iterator<Item = (u64, u64)> {
    let first = (group - 1) * OPPONENTS;
    (first..first + OPPONENTS).map(|number| (number, 2 * number + 1))
}

fn part(group: u64) -> String {
    format!("group {group}")
}

fn answer(game: &GameResult, entries: &[Entry]) -> Answer {
    let bots = &game.pairing.bots;
    let seat = bots.iter().position(|bot| *bot == 0).unwrap_or_default();
    let opponent = bots
        .iter()
        .find(|bot| **bot != 0)
        .copied()
        .unwrap_or_default();
    let seat = Seat::new(seat as u8);
    let points = match Mark::of(&game.verdict, seat) {
        Mark::Win => 10,
        Mark::Draw => 5,
        _ => 0,
    };
    let part = part(game.pairing.group / OPPONENTS + 1);
    Answer::new(part, &entries[opponent].name, seat, points, game)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_group_plays_five_odd_levels() {
        let levels: Vec<Vec<u64>> = (1..=GROUPS)
            .map(|group| opponents(group).map(|(_, level)| level).collect())
            .collect();
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
        for group in 1..=GROUPS {
            for (number, _) in opponents(group) {
                assert_eq!(number / OPPONENTS + 1, group);
            }
        }
    }
}

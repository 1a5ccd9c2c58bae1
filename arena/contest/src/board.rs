//! The scoreboard, as one who looks at it may see it.

use std::{cmp::Reverse, collections::BTreeMap};

use arena_store::{ContestRun, ContestRunKind, Contestant, Entry, EntryState, Person};
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    ContestRules, EntryShare, LadderRating, Phase, ladder::LadderRow, outcome::MeetingResult, table,
};

/// Who looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Viewer {
    /// Sees names, and everything as it is now.
    Organiser,
    /// Sees pseudonyms, and the own row by its mark.
    Contestant(u64),
    /// Sees pseudonyms.
    Other,
}

/// The scoreboard of a contest.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Board {
    /// The phase.
    pub phase: Phase,
    /// The moment at which it was frozen, in milliseconds since 1970, if it is shown as it was then.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub frozen_unix_ms: Option<i64>,
    /// The parts of the exam, in the order of the scores. None where there is no exam.
    pub parts: Vec<u32>,
    /// The round of the league whose shares or ratings it has; 0 for the final, beside which ratings are
    /// those of the last round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub round: Option<u32>,
    /// The rows, the best first.
    pub rows: Vec<BoardRow>,
}

/// A row of the scoreboard.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct BoardRow {
    /// The rank, from 1, by the sum, then by the share, then by the rating: those with the same share
    /// one. Whoever is out has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rank: Option<u32>,
    /// The contestant's number.
    pub contestant: u64,
    /// The pseudonym; for organisers the names.
    pub name: String,
    /// The points in each part; absent without an entry that counts.
    pub points: Vec<Option<i64>>,
    /// The entry that counts in each part. Others are not told which.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub entries: Vec<Option<u64>>,
    /// The sum of the points.
    pub total: i64,
    /// The share of the points in the league's last round or in the final, in percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub percent: Option<f64>,
    /// The rating after the ladder's last round.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rating: Option<LadderRating>,
    /// How many entries there are, with those that failed.
    pub handed_in: u64,
    /// True if it is the row of the one who looks.
    pub own: bool,
    /// Why the contestant is out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disqualified: Option<String>,
}

impl Board {
    /// The scoreboard of a contest for one who looks at it now.
    #[must_use]
    pub fn new(
        rules: &ContestRules,
        phase: Phase,
        contestants: &[Contestant],
        people: &[Person],
        entries: &[Entry],
        runs: &[ContestRun],
        viewer: Viewer,
    ) -> Self {
        let is_organiser = viewer == Viewer::Organiser;
        let frozen = rules
            .freezes_unix_ms
            .filter(|_| !is_organiser && matches!(phase, Phase::Frozen | Phase::Closed));
        let told = |entry: &&Entry| frozen.is_none_or(|at| entry.received_unix_ms < at);
        let mut by_contestant: BTreeMap<u64, Vec<&Entry>> = BTreeMap::new();
        for entry in entries.iter().filter(told) {
            let own = by_contestant.entry(entry.contestant).or_default();
            own.push(entry);
        }
        let parts: Vec<u32> = rules.parts().collect();
        let told = last_meetings(runs, rules, viewer, phase);
        let mut rows: Vec<BoardRow> = Vec::new();
        for one in contestants {
            let own = by_contestant.remove(&one.number).unwrap_or_default();
            let counting: Vec<Option<&Entry>> = parts
                .iter()
                .map(|part| rules.counting(own.iter().copied(), *part))
                .collect();
            let points: Vec<Option<i64>> = counting
                .iter()
                .map(|entry| entry.and_then(|entry| entry.score))
                .collect();
            let is_own = viewer == Viewer::Contestant(one.number);
            rows.push(BoardRow {
                rank: None,
                contestant: one.number,
                name: name(one, people, viewer),
                total: points.iter().flatten().sum(),
                percent: (told.shares)
                    .iter()
                    .find(|share| own.iter().any(|entry| entry.number == share.entry))
                    .map(|share| share.percent),
                rating: told.ratings.get(&one.number).map(LadderRow::told),
                points,
                entries: match is_organiser || is_own {
                    true => counting
                        .iter()
                        .map(|entry| entry.map(|one| one.number))
                        .collect(),
                    false => Vec::new(),
                },
                handed_in: own.len() as u64,
                own: is_own,
                // Why is for the one whom it is about.
                disqualified: match is_organiser || is_own {
                    true => one.disqualified.clone(),
                    false => one.disqualified.as_ref().map(|_| "out".to_owned()),
                },
            });
        }
        // Shares have one decimal.
        let by = |row: &BoardRow| {
            let tenths = row
                .percent
                .map_or(-1, |percent| (percent * 10.0).round() as i64);
            let elo = row.rating.map_or(i64::MIN, |rating| rating.elo as i64);
            (Reverse(row.total), Reverse(tenths), Reverse(elo))
        };
        rows.sort_by_key(|row| (row.disqualified.is_some(), by(row), row.contestant));
        let mut last = None;
        for (place, row) in (1..).zip(&mut rows) {
            if row.disqualified.is_some() {
                continue;
            }
            let rank = match last {
                Some((rank, same)) if same == by(row) => rank,
                _ => place,
            };
            row.rank = Some(rank);
            last = Some((rank, by(row)));
        }
        Self {
            phase,
            frozen_unix_ms: frozen,
            parts,
            round: told.round,
            rows,
        }
    }

    /// The grades: a row for each person of each contestant, as CSV with external ids. `people` are
    /// those of the contest. A cell that a spreadsheet would take for a formula begins with an
    /// apostrophe.
    #[must_use]
    pub fn grades(&self, people: &[Person]) -> String {
        let head = ["id", "name", "class group", "contestant", "rank"];
        let parts = self.parts.iter().map(|part| match part {
            0 => "points".to_owned(),
            part => format!("group {part}"),
        });
        let head: Vec<String> = head
            .map(str::to_owned)
            .into_iter()
            .chain(parts)
            .chain(["total", "percent", "rating", "out"].map(str::to_owned))
            .collect();
        let mut rows = vec![head];
        for row in &self.rows {
            let of_row = |person: &&Person| person.contestant == Some(row.contestant);
            for person in people.iter().filter(of_row) {
                let text = |text: &Option<String>| text.clone().unwrap_or_default();
                let number =
                    |number: &Option<i64>| number.map_or_else(String::new, |n| n.to_string());
                let mut cells = vec![
                    text(&person.external_id),
                    text(&person.name),
                    text(&person.section),
                    row.contestant.to_string(),
                    row.rank.map_or_else(String::new, |rank| rank.to_string()),
                ];
                cells.extend(row.points.iter().map(number));
                cells.push(row.total.to_string());
                cells.push(
                    row.percent
                        .map_or_else(String::new, |one| format!("{one:.1}")),
                );
                let rating = row.rating.map(|rating| format!("{:.0}", rating.elo));
                cells.push(rating.unwrap_or_default());
                cells.push(text(&row.disqualified));
                rows.push(cells);
            }
        }
        table::csv(rows)
    }
}

/// What a board tells of the league and the final.
#[derive(Default)]
struct LastMeetings {
    round: Option<u32>,
    shares: Vec<EntryShare>,
    ratings: BTreeMap<u64, LadderRow>,
}

/// The last round of the league that is over and told, and the final, whose shares take the place of
/// that round's. A round that began while the board is frozen and the final are told when all is.
fn last_meetings(
    runs: &[ContestRun],
    rules: &ContestRules,
    viewer: Viewer,
    phase: Phase,
) -> LastMeetings {
    let is_told = |run: &&ContestRun| rules.is_meeting_told(run, viewer, phase);
    let mut last = LastMeetings::default();
    let mut told: Vec<&ContestRun> = runs.iter().filter(is_told).collect();
    told.sort_by_key(|run| (run.kind == ContestRunKind::Final, run.part));
    for run in told {
        let result = run.result.clone().map(serde_json::from_value);
        match result {
            Some(Ok(MeetingResult::Shares(shares))) => last.shares = shares,
            Some(Ok(MeetingResult::Ladder(state))) => last.ratings = state.rows,
            Some(Err(_)) | None => continue,
        }
        let is_final = run.kind == ContestRunKind::Final;
        last.round = Some(if is_final { 0 } else { run.part });
    }
    last
}

impl ContestRules {
    /// True if one who looks may see what came of a round of the league or of a final. A round that began
    /// while the board is frozen and the final are told when all is; organisers see all.
    #[must_use]
    pub fn is_meeting_told(&self, run: &ContestRun, viewer: Viewer, phase: Phase) -> bool {
        let is_frozen = matches!(phase, Phase::Frozen | Phase::Closed)
            && (self.freezes_unix_ms).is_some_and(|at| run.created_unix_ms >= at);
        viewer == Viewer::Organiser
            || phase == Phase::Published
            || (run.kind == ContestRunKind::League && !is_frozen)
    }

    /// True if one who looks may see what came of an entry of their own. An entry of the time in
    /// which the board is frozen is told of only as far as it was built; organisers see all.
    #[must_use]
    pub fn is_told(&self, entry: &Entry, viewer: Viewer, phase: Phase) -> bool {
        let is_frozen = matches!(phase, Phase::Frozen | Phase::Closed)
            && (self.freezes_unix_ms).is_some_and(|at| entry.received_unix_ms >= at);
        viewer == Viewer::Organiser || !is_frozen || entry.state == EntryState::Failed
    }
}

impl Viewer {
    /// True if an entry is the one's who looks, or they may see all.
    #[must_use]
    pub const fn sees(self, entry: &Entry) -> bool {
        match self {
            Self::Organiser => true,
            Self::Contestant(number) => number == entry.contestant,
            Self::Other => false,
        }
    }
}

/// The name of a contestant for one who looks: the pseudonym, or for organisers the names of those
/// who are the contestant.
pub(crate) fn name(one: &Contestant, people: &[Person], viewer: Viewer) -> String {
    if viewer != Viewer::Organiser {
        return one.pseudonym.clone();
    }
    let of_it = |person: &&Person| person.contestant == Some(one.number);
    let names = people
        .iter()
        .filter(of_it)
        .filter_map(|person| person.name.as_deref());
    let names: Vec<&str> = names.collect();
    match (&one.team, names.is_empty()) {
        (_, true) => one.pseudonym.clone(),
        (Some(team), false) => format!("{team} ({})", names.join(", ")),
        (None, false) => names.join(", "),
    }
}

#[cfg(test)]
mod tests {
    use arena_store::{Place, Role};

    use super::*;

    fn rules() -> ContestRules {
        let text = "game = \"connect-four\"\nopens = 2027-03-01T00:00:00\n\
            closes = 2027-03-02T00:00:00\nfreezes = 2027-03-01T20:00:00\n[exam]\ngroups = 2\n";
        ContestRules::parse(text, "spring").unwrap().1
    }

    fn contestant(number: u64) -> Contestant {
        Contestant {
            number,
            pseudonym: format!("otter {number}"),
            team: None,
            until_unix_ms: None,
            disqualified: None,
        }
    }

    fn person(number: u64, name: &str) -> Person {
        Person {
            number,
            role: Role::Contestant,
            contestant: Some(number),
            name: Some(name.to_owned()),
            external_id: Some(format!("2027{number}")),
            section: None,
            token_hash: None,
        }
    }

    fn entry(number: u64, contestant: u64, part: u32, hour: i64, score: i64) -> Entry {
        Entry {
            number,
            contestant,
            person: contestant,
            part,
            received_unix_ms: rules().opens_unix_ms + hour * 3_600_000,
            place: Place {
                official: true,
                counted: true,
            },
            state: EntryState::Judged,
            attempt: 1,
            file: String::new(),
            hash: String::new(),
            outcome: None,
            spec: None,
            score: Some(score),
            trial_of: None,
        }
    }

    /// Two are equal until one hands in while the board is frozen.
    fn board(viewer: Viewer, phase: Phase) -> Board {
        let contestants: Vec<Contestant> = (1..=4).map(contestant).collect();
        let people = [
            person(1, "Ann"),
            person(2, "Bo"),
            person(3, "Cy"),
            person(4, "=1+1"),
        ];
        let entries = [
            entry(1, 1, 1, 1, 70),
            entry(2, 2, 1, 2, 40),
            entry(3, 2, 2, 3, 30),
            entry(4, 3, 1, 21, 100),
        ];
        Board::new(
            &rules(),
            phase,
            &contestants,
            &people,
            &entries,
            &[],
            viewer,
        )
    }

    #[test]
    fn the_same_sum_is_the_same_rank() {
        let board = board(Viewer::Other, Phase::Open);
        let rows = board.rows.iter();
        let rows: Vec<_> = rows.map(|row| (row.rank, &*row.name, row.total)).collect();
        assert_eq!(
            rows,
            [
                (Some(1), "otter 3", 100),
                (Some(2), "otter 1", 70),
                (Some(2), "otter 2", 70),
                (Some(4), "otter 4", 0)
            ]
        );
        assert!(board.rows.iter().all(|row| row.entries.is_empty()));
    }

    #[test]
    fn what_came_in_the_freeze_is_told_to_organisers_alone() {
        for phase in [Phase::Frozen, Phase::Closed] {
            for viewer in [Viewer::Other, Viewer::Contestant(3)] {
                let board = board(viewer, phase);
                let text = serde_json::to_string(&board).unwrap();
                assert!(!text.contains("100") && !text.contains("Ann"), "{text}");
                let row = board.rows.iter().find(|row| row.contestant == 3).unwrap();
                assert_eq!((row.total, row.handed_in, row.rank), (0, 0, Some(3)));
                assert_eq!(row.own, viewer == Viewer::Contestant(3));
            }
            assert_eq!(board(Viewer::Organiser, phase).rows[0].name, "Cy");
            let own = entry(4, 3, 1, 21, 100);
            assert!(!rules().is_told(&own, Viewer::Contestant(3), phase));
            assert!(rules().is_told(&own, Viewer::Organiser, phase));
        }
        let published = board(Viewer::Other, Phase::Published);
        assert_eq!(published.rows[0].total, 100);
    }

    #[test]
    fn no_cell_of_the_grades_is_a_formula() {
        let people = [person(1, "Ann"), person(4, "=1+1")];
        let grades = board(Viewer::Organiser, Phase::Closed).grades(&people);
        let lines: Vec<&str> = grades.lines().collect();
        assert_eq!(
            lines[0],
            "id,name,class group,contestant,rank,group 1,group 2,total,percent,rating,out"
        );
        assert_eq!(lines[1], "20271,Ann,,1,2,70,,70,,,");
        assert_eq!(lines[2], "20274,'=1+1,,4,4,,,0,,,");
    }
}

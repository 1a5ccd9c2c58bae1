//! A league that is a ladder: rounds in which contestants of near ratings meet. What is known of everybody
//! after a round is kept as the round's result, so that the next one goes on from there, in whichever
//! process, and a round that was not counted is counted again.

use std::collections::BTreeMap;

use arena_ladder::{Entrant, LadderEntrant, LadderRound, online::Online};
use arena_store::{Challenge, ContestRun, ScoredGroup};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::outcome::MeetingResult;

/// A contestant's place on the ladder after a round.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct LadderRow {
    /// The contestant.
    pub(crate) contestant: u64,
    /// The entry that has played. Another one begins with its rating, and with the error of somebody of
    /// whom nothing is known.
    pub(crate) entry: u64,
    /// Its rating, on the scale of [`Online`].
    pub(crate) rating: f64,
    /// The rating's standard deviation.
    pub(crate) deviation: f64,
    /// Number of games of this entry.
    pub(crate) games: u64,
    /// Number of rounds in which the contestant had no opponent.
    pub(crate) byes: u32,
    /// The day of the last game, and the number of games of that day.
    pub(crate) day: String,
    /// See `day`.
    pub(crate) games_that_day: u64,
}

/// What is known after a round.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct LadderState {
    /// Everybody who has played, by contestant.
    pub(crate) rows: BTreeMap<u64, LadderRow>,
    /// The contestants that met in the last rounds, the last round first.
    met: Vec<Vec<(u64, u64)>>,
}

/// The rounds that pairing looks back to.
const LOOKS_BACK: usize = 4;

/// A rating as people read it: the scale of Elo, with 0 for somebody of whom nothing is known.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct LadderRating {
    /// The rating.
    pub elo: f64,
    /// Half of the interval that has it with 95 %.
    pub error: f64,
    /// Number of games of the entry that plays.
    pub games: u64,
}

impl LadderRow {
    /// The rating for people.
    ///
    /// By Weng and Lin, "A Bayesian Approximation Method for Online Ranking", 2011, a player wins with
    /// 1 / (1 + exp(−d / c)) for the difference d of the ratings, where c = √2·β for ratings without
    /// error and β = 25/6. The same probability has, by Elo, a difference of 400 / ln 10 · d / c.
    #[must_use]
    pub(crate) fn told(&self) -> LadderRating {
        const BETA: f64 = 25.0 / 6.0;
        let elo = 400.0 / std::f64::consts::LN_10 / (std::f64::consts::SQRT_2 * BETA);
        let (begin, _) = Online::unknown();
        LadderRating {
            elo: (elo * (self.rating - begin)).round(),
            error: (1.96 * elo * self.deviation).round(),
            games: self.games,
        }
    }
}

/// A contestant with the entry that plays for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Player {
    pub(crate) contestant: u64,
    pub(crate) entry: u64,
    /// How the entry's bot is started.
    pub(crate) spec: String,
}

/// What the pairing of a round depends on beside what is known of everybody.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LadderTurn<'a> {
    /// The games of each contestant in the round, and the most in a day.
    pub(crate) games: u64,
    /// See `games`.
    pub(crate) games_a_day: Option<u32>,
    /// Number of seats of the game.
    pub(crate) seats: u8,
    /// The number of the round.
    pub(crate) round: u32,
    /// The day of the contest's zone.
    pub(crate) day: &'a str,
    /// The seed of the random decisions.
    pub(crate) chance: [u8; 32],
}

/// A round that is to be played.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Pairing {
    /// Those who take part, with those who have no opponent.
    pub(crate) players: Vec<Player>,
    /// Who meets whom, by the index in `players`.
    pub(crate) tables: Vec<Vec<Entrant>>,
    /// The challenges that are among them.
    pub(crate) challenges: Vec<u64>,
}

impl LadderState {
    /// What is known after these, the last rounds of a league in their order.
    pub(crate) fn after(runs: &[ContestRun]) -> Self {
        let known =
            runs.iter()
                .rev()
                .find_map(|run| match serde_json::from_value(run.result.clone()?) {
                    Ok(MeetingResult::Ladder(state)) => Some(state),
                    _ => None,
                });
        known.unwrap_or_default()
    }

    /// The next round between these. None where fewer than two may play now.
    pub(crate) fn pair(
        &self,
        turn: LadderTurn<'_>,
        players: Vec<Player>,
        challenges: &[Challenge],
    ) -> Option<Pairing> {
        let LadderTurn {
            games,
            games_a_day,
            seats,
            round,
            day,
            chance,
        } = turn;
        let has_games_left = |player: &Player| {
            let row = self.rows.get(&player.contestant);
            let played = row
                .filter(|row| row.day == day)
                .map_or(0, |row| row.games_that_day);
            let most = games_a_day.map_or(u64::MAX, u64::from);
            played.saturating_add(games) <= most
        };
        let players: Vec<Player> = players.into_iter().filter(has_games_left).collect();
        let numbers: BTreeMap<u64, Entrant> = (0..)
            .zip(&players)
            .map(|(number, player)| (player.contestant, Entrant::new(number)))
            .collect();
        let both = |(one, other): (u64, u64)| {
            let (one, other) = (numbers.get(&one)?, numbers.get(&other)?);
            Some((*one, *other))
        };
        let entrants = players.iter().map(|player| {
            let row = self.of(player, day);
            LadderEntrant {
                rating: row.rating,
                deviation: row.deviation,
                byes: row.byes,
            }
        });
        let entrants: Vec<LadderEntrant> = entrants.collect();
        let met = self.met.iter();
        let met = met.map(|pairs| pairs.iter().copied().filter_map(both).collect());
        let met: Vec<Vec<(Entrant, Entrant)>> = met.collect();
        let asked = challenges
            .iter()
            .filter_map(|one| Some((one.number, both((one.contestant, one.opponent))?)));
        let asked: Vec<(u64, (Entrant, Entrant))> = asked.collect();
        let wanted: Vec<(Entrant, Entrant)> = asked.iter().map(|(_, pair)| *pair).collect();
        let round = LadderRound {
            seats,
            chance,
            round,
            entrants: &entrants,
            met: &met,
            wanted: &wanted,
        };
        let tables = round.tables();
        let sit = |pair: (Entrant, Entrant)| {
            let has_both =
                |table: &Vec<Entrant>| table.contains(&pair.0) && table.contains(&pair.1);
            tables.iter().any(has_both)
        };
        let challenges = asked.iter().filter(|(_, pair)| sit(*pair));
        let challenges = challenges.map(|(number, _)| *number).collect();
        (!tables.is_empty()).then_some(Pairing {
            players,
            tables,
            challenges,
        })
    }

    /// Adds a round. `players` are all of it, by their numbers as entrants.
    pub(crate) fn add(&mut self, players: &[Player], day: &str, groups: &[ScoredGroup]) {
        let rows = players.iter().map(|player| self.of(player, day));
        let mut rows: Vec<LadderRow> = rows.collect();
        let mut ratings = Online::kept(rows.iter().map(|row| (row.rating, row.deviation)));
        let mut met: Vec<(u64, u64)> = Vec::new();
        for group in groups {
            ratings.update(&group.lineup, &group.score.points);
            let there: Vec<Entrant> = group.lineup.iter().flatten().copied().collect();
            for (at, one) in there.iter().enumerate() {
                let Some(row) = rows.get_mut(one.index()) else {
                    continue;
                };
                row.games += u64::from(group.score.games);
                row.games_that_day += u64::from(group.score.games);
                let one = row.contestant;
                let others = there[at + 1..]
                    .iter()
                    .filter_map(|other| rows.get(other.index()));
                let pairs = others.map(|other| (one, other.contestant));
                let new: Vec<(u64, u64)> = pairs.filter(|pair| !met.contains(pair)).collect();
                met.extend(new);
            }
        }
        for (number, mut row) in (0..).zip(rows) {
            let one = Entrant::new(number);
            let has_played = groups.iter().any(|group| group.lineup.contains(&Some(one)));
            row.byes += u32::from(!has_played);
            (row.rating, row.deviation) = ratings.rating(one);
            self.rows.insert(row.contestant, row);
        }
        self.met.insert(0, met);
        self.met.truncate(LOOKS_BACK);
    }

    /// The row of a contestant before a round of this day.
    fn of(&self, player: &Player, day: &str) -> LadderRow {
        let (begin, unknown) = Online::unknown();
        let known = self.rows.get(&player.contestant);
        let mut row = known.cloned().unwrap_or_else(|| LadderRow {
            contestant: player.contestant,
            entry: player.entry,
            rating: begin,
            deviation: unknown,
            games: 0,
            byes: 0,
            day: day.to_owned(),
            games_that_day: 0,
        });
        if row.entry != player.entry {
            row.entry = player.entry;
            row.deviation = unknown;
            row.games = 0;
        }
        if row.day != day {
            day.clone_into(&mut row.day);
            row.games_that_day = 0;
        }
        row
    }
}

/// Reason why a challenge is not taken.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ChallengeRefusal {
    /// The contest has none.
    #[error("this contest has no ladder, so that nobody is challenged")]
    NoLadder,
    /// It is too early or too late.
    #[error("challenges are taken while the contest is open; it is {0}")]
    NotNow(&'static str),
    /// A contestant can't meet itself.
    #[error("expected the number of another contestant")]
    Oneself,
    /// There is no such contestant, or it is out.
    #[error("there is no contestant {0} to meet; the board shows those that there are")]
    Nobody(u64),
    /// One of them has no entry that was built and has started.
    #[error("contestant {0} has no valid entry yet")]
    NoEntry(u64),
    /// The same was asked for already.
    #[error("you meet contestant {0} in the next round already")]
    Waits(u64),
    /// No more today.
    #[error("you have asked for {0} matches today, and no more are taken before tomorrow")]
    NoneLeft(u32),
}

#[cfg(test)]
mod tests {
    use arena_ladder::{GroupScore, HalfPoints, MatchId};

    use super::*;

    fn player(contestant: u64, entry: u64) -> Player {
        Player {
            contestant,
            entry,
            spec: format!("packed:{entry}"),
        }
    }

    fn players() -> Vec<Player> {
        (1..=6).map(|number| player(number, number)).collect()
    }

    /// A deal of two games: the first of the lineup has won both.
    fn won(number: u64, lineup: [u32; 2]) -> ScoredGroup {
        let mut score = GroupScore::new(number, 2);
        score.games = 2;
        score.points = vec![HalfPoints(4), HalfPoints(0)];
        ScoredGroup {
            matchup: MatchId(number as u32),
            lineup: lineup.map(|one| Some(Entrant::new(one))).to_vec(),
            score,
        }
    }

    fn pair(
        state: &LadderState,
        games_a_day: Option<u32>,
        players: Vec<Player>,
        challenges: &[Challenge],
    ) -> Option<Pairing> {
        let turn = LadderTurn {
            games: 4,
            games_a_day,
            seats: 2,
            round: 1,
            day: "2027-03-01",
            chance: [7; 32],
        };
        state.pair(turn, players, challenges)
    }

    #[test]
    fn a_new_version_has_the_old_rating_and_a_wide_error() {
        let mut state = LadderState::default();
        for round in 0..20 {
            state.add(&players(), "2027-03-01", &[won(round, [0, 1])]);
        }
        let old = state.rows[&1].clone();
        assert!(old.rating > 30.0 && old.deviation < 7.0, "{old:?}");
        assert_eq!((old.games, old.games_that_day, old.byes), (40, 40, 0));
        assert_eq!(state.rows[&3].byes, 20);
        let new = state.of(&player(1, 9), "2027-03-02");
        assert_eq!(new.rating, old.rating);
        assert_eq!(new.deviation, Online::unknown().1);
        assert_eq!((new.entry, new.games, new.games_that_day), (9, 0, 0));
        // It is read as it was written.
        let text = serde_json::to_string(&state).unwrap();
        assert_eq!(serde_json::from_str::<LadderState>(&text).unwrap(), state);
    }

    #[test]
    fn a_rating_is_told_as_an_elo_of_the_same_chance_to_win() {
        let row = |rating| LadderRow {
            rating,
            deviation: 0.0,
            ..LadderState::default().of(&player(1, 1), "2027-03-01")
        };
        assert_eq!(row(25.0).told().elo, 0.0);
        let difference = 5.0;
        let chance = 1.0 / (1.0 + (-difference / (2.0_f64.sqrt() * 25.0 / 6.0)).exp());
        let by_elo = 1.0 / (1.0 + 10.0_f64.powf(-row(25.0 + difference).told().elo / 400.0));
        assert!((chance - by_elo).abs() < 0.002, "{chance} {by_elo}");
    }

    #[test]
    fn who_is_challenged_is_met_and_all_others_are_paired() {
        let state = LadderState::default();
        let challenge = |number, contestant, opponent| Challenge {
            number,
            contestant,
            opponent,
            at_unix_ms: 0,
            round: None,
        };
        // 5 meets 2, so that 1 can't meet 5 in the same round; nobody has number 8.
        let asked = [challenge(1, 5, 2), challenge(2, 1, 5), challenge(3, 4, 8)];
        let paired = pair(&state, None, players(), &asked).unwrap();
        assert_eq!(paired.challenges, [1]);
        assert_eq!(paired.tables.len(), 3);
        assert_eq!(paired.tables[0], [4, 1].map(Entrant::new));
        let mut all: Vec<Entrant> = paired.tables.concat();
        all.sort();
        assert!(all.into_iter().eq(Entrant::all(6)));
    }

    #[test]
    fn who_has_played_enough_today_waits_for_tomorrow() {
        let mut state = LadderState::default();
        state.add(&players(), "2027-03-01", &[won(0, [0, 1])]);
        let most = Some(5);
        let paired = pair(&state, most, players(), &[]).unwrap();
        let contestants = paired.players.iter().map(|player| player.contestant);
        assert!(contestants.eq([3, 4, 5, 6]));
        // Yesterday's games are of no account.
        state.add(&players(), "2027-02-28", &[won(0, [0, 1])]);
        let paired = pair(&state, most, players(), &[]).unwrap();
        assert_eq!(paired.players.len(), 6);
        assert!(pair(&state, most, vec![player(1, 1)], &[]).is_none());
    }
}

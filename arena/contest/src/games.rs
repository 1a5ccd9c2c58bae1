//! The games of an entry: those of its exam, of rounds of the league and of the final, and which of them
//! one who looks may see.

use std::{fmt, str::FromStr};

use arena_events::exam::ExamVerdict;
use arena_ladder::Entrant;
use arena_store::{
    ContestRun, ContestRunKind, DetailsOf, Entry, GameFilter, GameRow, NewEntrant, Store,
    TournamentId,
};
use referee_core::{Record, Seat, printable};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    ContestError, Phase, PlayedGame, Standing, Viewer,
    exam::{bot_name, entry_of, verdict_words},
    judge::{played_game, without_places},
};

/// So many rounds of the league are listed, the newest.
const ROUNDS: u32 = 10;
/// So many games of one round are listed.
const LISTED: u32 = 100;
/// No entry has more games in a round.
const GAMES: usize = 10_000;

/// A game among those of an entry. As text `3` is the third game of its exam, `12.3` its third game in
/// round 12 of the league, and `final.3` its third game in the final.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum GameOfEntry {
    /// Of its exam, from 1.
    Exam(usize),
    /// Of a round of the league, and there from 1.
    Round(u32, usize),
    /// Of the final, from 1.
    Final(usize),
}

impl fmt::Display for GameOfEntry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exam(number) => write!(f, "{number}"),
            Self::Round(round, number) => write!(f, "{round}.{number}"),
            Self::Final(number) => write!(f, "final.{number}"),
        }
    }
}

/// Reason why a text names no game of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected the number of a game as the entry shows it: 3 of its exam, 12.3 of round 12 of the \
     league, or final.3"
)]
pub struct NoGameOfEntry;

impl FromStr for GameOfEntry {
    type Err = NoGameOfEntry;

    fn from_str(text: &str) -> Result<Self, NoGameOfEntry> {
        fn number<T: FromStr>(digits: &str) -> Result<T, NoGameOfEntry> {
            let is_number = digits.bytes().all(|byte| byte.is_ascii_digit());
            let number = digits.parse().map_err(|_| NoGameOfEntry)?;
            is_number.then_some(number).ok_or(NoGameOfEntry)
        }
        match text.split_once('.') {
            None => Ok(Self::Exam(number(text)?)),
            Some(("final", game)) => Ok(Self::Final(number(game)?)),
            Some((round, game)) => Ok(Self::Round(number(round)?, number(game)?)),
        }
    }
}

/// A game of an entry in a round of the league, or in the final.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RoundGame {
    /// Its number among the games of the entry: `12.3` for the third one in round 12 of the league,
    /// `final.3` for the third one in the final.
    pub game: String,
    /// The round of the league; 0 for the final.
    pub round: u32,
    /// The pseudonyms of the others; for organisers the names.
    pub opponents: Vec<String>,
    /// The seat of the entry, from 0.
    pub seat: u8,
    /// How it ended for the entry.
    pub verdict: ExamVerdict,
    /// The same in words.
    pub words: String,
    /// How many moves were made.
    pub plies: u32,
    /// What the entry did wrong.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub foul: Option<String>,
}

/// A game of an entry that one who looks may see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EntryGame {
    /// The game.
    pub played: PlayedGame,
    /// The names of its players by seat, as one who looks may know them; none where they are those of
    /// the record.
    pub players: Option<Vec<String>>,
}

impl EntryGame {
    /// Gives the players in the game's record the names that one who looks may know.
    pub fn name_players(&self, record: &mut Record) {
        let names = self.players.iter().flatten();
        for ((_, name), shown) in record.header.players.iter_mut().zip(names) {
            *name = printable(shown);
        }
    }
}

/// The games of an entry in the last rounds of the league and in the final. They are the same until
/// another meeting is told of: see [`is_newest`](Self::is_newest).
#[derive(Debug, Default)]
pub struct EntryRounds {
    /// The newest meeting that was told of.
    newest: Option<TournamentId>,
    /// The newest round first.
    games: Vec<PlayedInRound>,
}

#[derive(Debug)]
struct PlayedInRound {
    which: GameOfEntry,
    played: PlayedGame,
    players: Players,
}

/// The entries that play in a game, by seat; none for a filler.
type Players = Vec<Option<u64>>;

impl EntryRounds {
    /// True if no other meeting is told of to one who looks than when they were read for the same one.
    #[must_use]
    pub fn is_newest(&self, standing: &Standing, viewer: Viewer) -> bool {
        self.newest == standing.newest_meeting(viewer)
    }
}

/// A round of the league or a final, as an entry has played in it.
struct PlayedRound {
    run: ContestRun,
    entrants: Vec<NewEntrant>,
    /// The entry.
    own: Entrant,
}

impl Standing {
    /// A game of an entry; none where there is no such game, or one who looks may not see it.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub async fn game(
        &self,
        store: &Store,
        entry: &Entry,
        which: GameOfEntry,
        viewer: Viewer,
    ) -> Result<Option<EntryGame>, ContestError> {
        if !viewer.sees(entry) {
            return Ok(None);
        }
        let (kind, round, number) = match which {
            GameOfEntry::Exam(number) => {
                let of = DetailsOf::Entry(entry.number);
                let details = self.details(store, of, viewer).await?.remove(&entry.number);
                let games = details.unwrap_or_default().games;
                let played = number
                    .checked_sub(1)
                    .and_then(|at| games.into_iter().nth(at));
                return Ok(played.map(|played| EntryGame {
                    played,
                    players: None,
                }));
            }
            GameOfEntry::Round(round, number) => (ContestRunKind::League, round, number),
            GameOfEntry::Final(number) => (ContestRunKind::Final, 1, number),
        };
        if !(1..=GAMES).contains(&number) {
            return Ok(None);
        }
        let run = store.meeting(self.contest.id, kind, round).await?;
        let told = run.filter(|run| self.rules.is_meeting_told(run, viewer, self.phase));
        let Some(run) = told else { return Ok(None) };
        let Some(meeting) = PlayedRound::of(store, entry, run).await? else {
            return Ok(None);
        };
        let games = meeting.games(store, number as u32).await?;
        Ok(games.get(number - 1).map(|row| EntryGame {
            played: meeting.played(row),
            players: Some(self.names(&meeting.players(row), viewer)),
        }))
    }

    /// What the bot of an entry printed in one of its games; none where that is not kept any more.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub async fn log(
        &self,
        store: &Store,
        game: &EntryGame,
    ) -> Result<Option<String>, ContestError> {
        let PlayedGame {
            tournament,
            group,
            seating,
            seat,
            ..
        } = &game.played;
        let Some(tournament) = store.tournament(tournament).await? else {
            return Ok(None);
        };
        let seat = Seat::new(*seat);
        let log = store
            .game_log(tournament.id, *group, *seating, seat)
            .await?;
        Ok(log.map(|log| without_places(&log)))
    }

    /// The games of an entry in the last rounds of the league and in the final, as far as one who looks may
    /// see them. [`told_rounds`](Self::told_rounds) tells of them.
    ///
    /// # Errors
    ///
    /// The store fails.
    pub async fn rounds(
        &self,
        store: &Store,
        entry: &Entry,
        viewer: Viewer,
    ) -> Result<EntryRounds, ContestError> {
        let mut rounds = EntryRounds {
            newest: self.newest_meeting(viewer),
            games: Vec::new(),
        };
        if rounds.newest.is_none() || entry.spec.is_none() || !viewer.sees(entry) {
            return Ok(rounds);
        }
        let is_frozen = matches!(self.phase, Phase::Frozen | Phase::Closed);
        let before =
            (self.rules.freezes_unix_ms).filter(|_| is_frozen && viewer != Viewer::Organiser);
        let (id, bot) = (self.contest.id, bot_name(entry.number));
        let runs = store.meetings_of_bot(id, &bot, before, ROUNDS).await?;
        let told = runs
            .into_iter()
            .filter(|run| self.rules.is_meeting_told(run, viewer, self.phase));
        for run in told {
            let Some(meeting) = PlayedRound::of(store, entry, run).await? else {
                continue;
            };
            let games = meeting.games(store, LISTED).await?;
            let games = (1..).zip(&games).map(|(number, row)| PlayedInRound {
                which: meeting.number(number),
                played: meeting.played(row),
                players: meeting.players(row),
            });
            rounds.games.extend(games);
        }
        Ok(rounds)
    }

    /// The same for one who looks, with the names that they may know now.
    #[must_use]
    pub fn told_rounds(&self, rounds: &EntryRounds, viewer: Viewer) -> Vec<RoundGame> {
        let told = rounds.games.iter().map(|game| {
            let PlayedInRound {
                which,
                played,
                players,
            } = game;
            let players = self.names(players, viewer).into_iter();
            let others = (0..).zip(players).filter(|(seat, _)| *seat != played.seat);
            RoundGame {
                game: which.to_string(),
                round: match which {
                    GameOfEntry::Round(round, _) => *round,
                    GameOfEntry::Exam(_) | GameOfEntry::Final(_) => 0,
                },
                opponents: others.map(|(_, name)| name).collect(),
                seat: played.seat,
                verdict: played.verdict,
                words: verdict_words(played.verdict).to_owned(),
                plies: played.plies,
                foul: played.foul.clone(),
            }
        });
        told.collect()
    }

    /// The newest round or final that is counted and that one who looks may see.
    fn newest_meeting(&self, viewer: Viewer) -> Option<TournamentId> {
        // They are in the order in which they began.
        let newest = self.meetings.iter().rev().find(|run| {
            run.result.is_some() && self.rules.is_meeting_told(run, viewer, self.phase)
        });
        newest.map(|run| run.tournament)
    }

    /// The names of the players of a game, as one who looks may know them.
    fn names(&self, players: &[Option<u64>], viewer: Viewer) -> Vec<String> {
        let names = players.iter().map(|player| {
            let Some(number) = player else {
                return "filler".to_owned();
            };
            let entry = self.entries.iter().find(|one| one.number == *number);
            entry.map_or_else(String::new, |entry| self.name_of(entry.contestant, viewer))
        });
        names.collect()
    }
}

impl PlayedRound {
    /// A meeting in which an entry plays; none where it does not.
    async fn of(
        store: &Store,
        entry: &Entry,
        run: ContestRun,
    ) -> Result<Option<Self>, ContestError> {
        let tournament = store.tournament(&run.name).await?;
        let entrants = tournament.map_or_else(Vec::new, |tournament| tournament.entrants);
        let bot = bot_name(entry.number);
        let own = entrants.iter().position(|one| one.name == bot);
        Ok(own.map(|own| Self {
            run,
            entrants,
            own: Entrant::new(own as u32),
        }))
    }

    /// The first games of the entry.
    async fn games(&self, store: &Store, most: u32) -> Result<Vec<GameRow>, ContestError> {
        let filter = GameFilter {
            entrant: Some(self.own),
            ..GameFilter::default()
        };
        Ok(store.games(self.run.tournament, &filter, most).await?)
    }

    fn players(&self, row: &GameRow) -> Players {
        let players = row.order.iter().map(|place| {
            let who = row.lineup.get(*place).copied().flatten()?;
            entry_of(&self.entrants.get(who.index())?.name)
        });
        players.collect()
    }

    fn played(&self, row: &GameRow) -> PlayedGame {
        played_game(&self.run, None, row, &self.entrants, self.own)
    }

    const fn number(&self, number: usize) -> GameOfEntry {
        match self.run.kind {
            ContestRunKind::Final => GameOfEntry::Final(number),
            ContestRunKind::League | ContestRunKind::Exam => {
                GameOfEntry::Round(self.run.part, number)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_game_is_named_as_it_is_read() {
        for (text, game) in [
            ("3", GameOfEntry::Exam(3)),
            ("12.3", GameOfEntry::Round(12, 3)),
            ("final.1", GameOfEntry::Final(1)),
        ] {
            assert_eq!(text.parse(), Ok(game));
            assert_eq!(game.to_string(), text);
        }
        for text in [
            "",
            ".",
            "x",
            "+1",
            "1.",
            ".1",
            "1.2.3",
            "final.",
            "99999999999999999999",
        ] {
            assert_eq!(text.parse::<GameOfEntry>(), Err(NoGameOfEntry), "{text}");
        }
    }
}

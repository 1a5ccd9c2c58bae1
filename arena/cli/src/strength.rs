//! What a match says about strength: ratings with error bars, and a test that
//! stops it as soon as it may.

use std::collections::BTreeMap;

use arena_ladder::{Entrant, GroupCount, HalfPoints, Sprt, standings::Standings};
use referee_core::Record;
use serde_json::json;

use crate::{
    report,
    run::Pairing,
    tally::{GameResult, Tally},
    tournament::{Test, duel_lines, estimate},
};

/// Ratings, and for two how far the test has come.
pub(crate) struct Strength {
    standings: Standings,
    test: Option<Test>,
}

impl Strength {
    /// What these games say. Only deals count that have been played from every
    /// seating, each of which has so many games.
    pub(crate) fn of(
        seats: u8,
        games_a_deal: usize,
        games: &[GameResult],
        sprt: Option<&Sprt>,
    ) -> Self {
        let mut deals: BTreeMap<u64, Vec<&GameResult>> = BTreeMap::new();
        for game in games {
            deals.entry(game.pairing.group).or_default().push(game);
        }
        let tallies: Vec<GroupCount> = deals
            .values()
            .filter(|games| games.len() == games_a_deal)
            .filter_map(|games| {
                let places: Option<Vec<Vec<u8>>> = games.iter().map(|game| by_bot(game)).collect();
                Some(GroupCount {
                    lineup: Entrant::all(seats.into()).map(Some).collect(),
                    places: places?,
                    margins: vec![0; seats.into()],
                    groups: 1,
                })
            })
            .collect();
        let standings = Standings::of(seats, seats.into(), &tallies, &[]);
        let duel = standings.duel();
        let test = sprt.and_then(|sprt| Test::of(sprt, duel?));
        Self { standings, test }
    }

    /// For people.
    pub(crate) fn show(&self, names: &[String]) -> anyhow::Result<()> {
        let name = |who: Entrant| names[who.index()].as_str();
        if let Some(pair) = self.standings.duel() {
            let test = self.test.as_ref();
            let lines = duel_lines(pair, name(pair.first), name(pair.second), test);
            return report::text(&format!("\n{}\n", lines.join("\n")));
        }
        let rated: Vec<String> = self
            .standings
            .rows
            .iter()
            .filter_map(|row| Some((row, row.rating?)))
            .map(|(row, rating)| format!("{} {}", name(row.entrant), estimate(rating, 0)))
            .collect();
        if rated.is_empty() {
            return Ok(());
        }
        let line = format!("Elo ± 95 %: {}", rated.join(", "));
        report::text(&format!("\n{}\n", report::wrapped(&line)))
    }

    /// For programs.
    pub(crate) fn event(&self) -> serde_json::Value {
        json!({ "standings": self.standings, "test": self.test })
    }
}

/// The place of each bot, in order of their numbers.
fn by_bot(game: &GameResult) -> Option<Vec<u8>> {
    let places = game.verdict.outcome()?.places.as_slice();
    let mut of = vec![0; places.len()];
    for (&bot, &place) in game.pairing.bots.iter().zip(places) {
        *of.get_mut(bot)? = place;
    }
    Some(of)
}

/// Counts games deal by deal in order of the deals, whichever are done first, so
/// that a test stops a match at the same deal each time.
pub(crate) struct InOrder {
    sprt: Sprt,
    /// How many games each deal has.
    games: usize,
    next: u64,
    waiting: BTreeMap<u64, Vec<(GameResult, Record, u32)>>,
    /// How often the first bot had so many half points of a deal.
    counts: Vec<u64>,
    decided: bool,
}

impl InOrder {
    pub(crate) fn new(sprt: Sprt, pairings: &[Pairing]) -> Self {
        let first = pairings.first().map_or(0, |pairing| pairing.group);
        let games = pairings
            .iter()
            .take_while(|pairing| pairing.group == first)
            .count();
        Self {
            sprt,
            games,
            next: first,
            waiting: BTreeMap::new(),
            counts: vec![0; 2 * games + 1],
            decided: false,
        }
    }

    /// Takes a game that has ended.
    pub(crate) fn take(&mut self, result: GameResult, record: Record, voided: u32) {
        let deal = self.waiting.entry(result.pairing.group).or_default();
        deal.push((result, record, voided));
    }

    /// Adds the games of all deals whose turn it is, until the test is decided.
    pub(crate) fn count(&mut self, tally: &mut Tally) {
        while !self.decided
            && let Some(entry) = self.waiting.first_entry()
            && *entry.key() == self.next
            && entry.get().len() == self.games
        {
            // Half points above an even deal; who both lost are level.
            let mut ahead = 0;
            for (result, record, voided) in entry.remove() {
                tally.add(&result, &record, voided);
                if let Some(outcome) = result.verdict.outcome() {
                    let points = HalfPoints::of_places(outcome.places.as_slice());
                    for (&bot, points) in result.pairing.bots.iter().zip(points) {
                        let sign = if bot == 0 { 1 } else { -1 };
                        ahead += sign * i64::from(points.0);
                    }
                }
            }
            let half = self.games as i64 + ahead / 2;
            if let Some(count) = usize::try_from(half)
                .ok()
                .and_then(|h| self.counts.get_mut(h))
            {
                *count += 1;
            }
            self.next += 1;
            self.decided = self.sprt.decide(&self.counts).is_some();
        }
    }

    /// Whether nothing more need be played.
    pub(crate) const fn is_decided(&self) -> bool {
        self.decided
    }

    /// Whether a deal has been counted, or is to be if the match goes on.
    pub(crate) const fn counts(&self, deal: u64) -> bool {
        !self.decided || deal < self.next
    }
}

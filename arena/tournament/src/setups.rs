//! The set-ups that the deals of a run begin with, and which of them are the same deal.

use std::collections::{BTreeMap, BTreeSet};

use referee_bots::Entry;
use referee_core::{GameKind, Seat, Seed, SetupError, TableStep};

use crate::{TournamentError, error::invalid};

/// The most openings of a list.
const MOST_OPENINGS: usize = 100_000;

/// The set-ups that the deals of a run take in turn, from the first again after
/// the last. In a game with secrets some may say themselves who is dealt what:
/// the seed changes nothing then, so two groups with such a set-up are one deal.
#[derive(Clone, Debug)]
pub struct Setups {
    list: Vec<serde_json::Value>,
    /// For each the first of those that deal the same, where it is fixed.
    fixed: Vec<Option<usize>>,
}

impl Setups {
    /// Looks at each set-up.
    ///
    /// # Errors
    ///
    /// [`SetupError`] where one is none, or there is none.
    pub fn new(kind: &dyn GameKind, list: Vec<serde_json::Value>) -> Result<Self, SetupError> {
        if list.is_empty() {
            return Err(SetupError("expected a set-up, found none".to_owned()));
        }
        let mut known = BTreeMap::new();
        let mut fixed = vec![None; list.len()];
        if kind.has_secrets() {
            for (at, setup) in list.iter().enumerate() {
                let written = setup.to_string();
                fixed[at] = if let Some(deal) = known.get(&written) {
                    *deal
                } else {
                    let [one, other] = [1, 2].map(|byte| Seed::new([byte; 32]));
                    let alike = dealt(kind, setup, &one)? == dealt(kind, setup, &other)?;
                    let deal = alike.then_some(at);
                    known.insert(written, deal);
                    deal
                };
            }
        }
        Ok(Self { list, fixed })
    }

    /// All of them.
    pub fn list(&self) -> &[serde_json::Value] {
        &self.list
    }

    /// The set-up of the deal with this number.
    pub fn of(&self, deal: u64) -> &serde_json::Value {
        &self.list[self.turn(deal)]
    }

    /// The fixed deal that it is, where it is one.
    pub fn fixed(&self, deal: u64) -> Option<usize> {
        self.fixed[self.turn(deal)]
    }

    /// True if any fixed deal is among these more than once.
    pub fn repeat(&self, deals: impl IntoIterator<Item = u64>) -> bool {
        let mut seen = BTreeSet::new();
        let mut fixed = deals.into_iter().filter_map(|deal| self.fixed(deal));
        fixed.any(|deal| !seen.insert(deal))
    }

    fn turn(&self, deal: u64) -> usize {
        (deal % self.list.len() as u64) as usize
    }
}

/// The set-up of the games of these bots where none is named: what the first of them needs that
/// needs one, else the game's own.
///
/// # Errors
///
/// The game has no such set-up.
pub fn usual_setup(kind: &dyn GameKind, bots: &[Entry]) -> Result<serde_json::Value, SetupError> {
    match Entry::usual_setup(bots) {
        Some(line) => kind.opening(line),
        None => kind.setup(&serde_json::Value::Null),
    }
}

/// The messages that the first seat is sent until it has its hand.
fn dealt(
    kind: &dyn GameKind,
    setup: &serde_json::Value,
    seed: &Seed,
) -> Result<Vec<u8>, SetupError> {
    let seat = Seat::new(0);
    let mut table = kind.deal(setup, seed)?;
    let mut sent = Vec::new();
    table.write_start(seat, &mut sent);
    if let TableStep::Tell(seats) = table.step()
        && seats.contains(&seat)
    {
        table.write_call(seat, &mut sent);
    }
    Ok(sent)
}

/// Reads a list of openings: one a line, in the game's notation or as JSON. Empty lines
/// and those that begin with `#` and are no opening are skipped: a board may begin with its
/// forbidden cell. `what` names the list in errors.
///
/// # Errors
///
/// [`TournamentError::Invalid`] names the line.
pub fn openings(
    what: &str,
    text: &str,
    kind: &dyn GameKind,
) -> Result<Vec<serde_json::Value>, TournamentError> {
    // Some editors begin a file with a byte order mark.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let lines = text.lines().map(str::trim).enumerate();
    let is_remark = |line: &str| line.starts_with('#') && kind.opening(line).is_err();
    let lines = lines.filter(|(_, line)| !line.is_empty() && !is_remark(line));
    if lines.clone().nth(MOST_OPENINGS).is_some() {
        return invalid(format!("{what}: expected at most {MOST_OPENINGS} openings"));
    }
    let mut setups = Vec::new();
    for (at, line) in lines {
        let setup = kind.opening(line);
        setups.push(setup.or_else(|error| invalid(format!("{what}, line {}: {error}", at + 1)))?);
    }
    if setups.is_empty() {
        return invalid(format!("{what}: expected one opening a line, found none"));
    }
    Ok(setups)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_set_up_that_deals_the_hands_is_the_same_deal_each_time() {
        let fixed = |game: &str, setups: serde_json::Value| {
            let kind = referee_games::game(game).unwrap();
            Setups::new(kind, setups.as_array().unwrap().clone())
                .unwrap()
                .fixed
        };
        let hands = json!({"hands": ["22367c1478b1389d", "147c258b1234567d"]});
        let free = json!({"missing_suit": "free"});
        let setups = json!([null, hands, free, hands]);
        assert_eq!(fixed("mahjong", setups), [None, Some(1), None, Some(1)]);
        let mut hands = [const { String::new() }; 4];
        for (at, card) in referee_games::big_two::Card::all().enumerate() {
            hands[at % 4] += &format!("{card} ");
        }
        let setups = json!([{"scoring": "payout"}, {"hands": hands}]);
        assert_eq!(fixed("big_two", setups), [None, Some(1)]);
        // What everybody sees is no secret.
        assert_eq!(fixed("othello", json!([{"moves": "f5"}])), [None]);
    }

    #[test]
    fn a_list_with_too_many_openings_is_refused_before_any_of_them_is_read() {
        let kind = referee_games::game("connect_four").unwrap();
        // What is no opening would be refused with its line.
        let text = "3 3 4\nno opening\n".repeat(MOST_OPENINGS);
        let error = openings("a list", &text, kind).unwrap_err().to_string();
        assert_eq!(error, "a list: expected at most 100000 openings");
        let text = format!("# a list\n\n{}", "3\n".repeat(1000));
        assert_eq!(openings("a list", &text, kind).unwrap().len(), 1000);
    }

    #[test]
    fn a_wrong_opening_is_quoted_in_part_and_printable() {
        for kind in &referee_games::GAMES {
            let line = format!("HOME=/root\u{1b}[2J{}", "x".repeat(60_000));
            let error = openings("a list", &line, *kind).unwrap_err().to_string();
            assert!(error.starts_with("a list, line 1: "), "{error}");
            assert!(error.chars().count() < 400, "{error}");
            assert!(!error.contains('\u{1b}'), "{error}");
        }
    }
}

//! Exact ends of rounds: two seats are in play, so each knows the hand of the other, and one of
//! the two is out first.

use std::{collections::HashMap, time::Instant};

use crate::{cards::CardSet, plays::Variants, round::BigTwoRound, style::question};

/// Number of positions that are remembered at most: 48 bytes each, and what the map needs besides.
const REMEMBERED: usize = 1 << 16;
/// Number of positions that are looked at between two looks at the clock.
const PATIENCE: u64 = 256;

/// A search to the end of rounds in which two seats are in play.
#[derive(Debug)]
pub struct Endgame {
    known: HashMap<EndgameKey, bool>,
    left: u64,
    deadline: Option<Instant>,
}

/// The key of a position, all that decides it: the hands of the two, the top play and its seat,
/// whose turn it is, and the order.
type EndgameKey = ([u64; 3], u8);

impl Endgame {
    /// With so many positions to look at, and a time to have answered by.
    #[must_use]
    pub fn new(positions: u64, deadline: Option<Instant>) -> Self {
        Self {
            known: HashMap::new(),
            left: positions,
            deadline,
        }
    }

    /// Number of positions that it remembers: 65,536 at most.
    #[must_use]
    pub fn remembered(&self) -> usize {
        self.known.len()
    }

    /// A move of the seat whose turn it is with which it is out before the other; no cards are a
    /// pass. `Some(None)` if the other can prevent it, `None` where the search did not get to the
    /// end.
    #[must_use]
    pub fn winning_move(&mut self, round: &BigTwoRound) -> Option<Option<CardSet>> {
        for cards in moves(round) {
            if self.wins_by(round, cards)? {
                return Some(Some(cards));
            }
        }
        Some(None)
    }

    /// True if the seat whose turn it is, having played these cards or passed, is out before the
    /// other one. `None` where the search did not get to the end.
    pub(crate) fn wins_by(&mut self, round: &BigTwoRound, cards: CardSet) -> Option<bool> {
        let mut next = *round;
        next.take(cards);
        self.wins(&next, round.table.turn)
    }

    /// True if a seat is out before the other one if both play as well as possible. `None` where
    /// the search did not get to the end.
    fn wins(&mut self, round: &BigTwoRound, seat: usize) -> Option<bool> {
        if round.table.is_over() {
            return Some(round.hands[seat].is_empty());
        }
        self.left = self.left.checked_sub(1)?;
        if self.left.is_multiple_of(PATIENCE)
            && self.deadline.is_some_and(|end| Instant::now() >= end)
        {
            self.left = 0;
            return None;
        }
        let turn = round.table.turn;
        let key = key(round);
        let known = match self.known.get(&key) {
            Some(known) => *known,
            None => {
                let mut wins = false;
                for cards in moves(round) {
                    let mut next = *round;
                    next.take(cards);
                    if self.wins(&next, turn)? {
                        wins = true;
                        break;
                    }
                }
                if self.known.len() < REMEMBERED {
                    self.known.insert(key, wins);
                }
                wins
            }
        };
        Some(known == (turn == seat))
    }
}

/// The key of a position: it decides if the seat whose turn it is wins.
fn key(round: &BigTwoRound) -> EndgameKey {
    let table = &round.table;
    let other = (0..4)
        .find(|&seat| seat != table.turn && table.in_play >> seat & 1 == 1)
        .unwrap_or(table.turn);
    let (cards, by) = table
        .top
        .map_or((CardSet::NONE, 4), |top| (top.cards, top.by));
    let small = by << 3 | table.turn << 1 | usize::from(table.reversed);
    (
        [round.hand().bits(), round.hands[other].bits(), cards.bits()],
        small as u8,
    )
}

/// Every legal move, those of many cards first, the pass last.
fn moves(round: &BigTwoRound) -> Vec<CardSet> {
    let question = question(round);
    let mut found = Vec::new();
    question.plays(Variants::FirstJoker, &mut found);
    found.sort_by_key(|cards| std::cmp::Reverse(cards.len()));
    if question.to_beat.is_some() {
        found.push(CardSet::NONE);
    }
    found
}

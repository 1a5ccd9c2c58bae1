//! The search: every candidate is tried on the same deals, and each deal is played out.

use std::time::Instant;

use rand::Rng;

use crate::{
    belief::{Belief, Evidence},
    cards::CardSet,
    plays::{Shape, Variants},
    round::{Round, SEATS, Table},
    style::{Question, Style},
};

/// Where a search ends. What is not set does not limit it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Limit {
    /// How many rounds are played out.
    pub playouts: Option<u64>,
    /// When to have answered.
    pub deadline: Option<Instant>,
}

/// A candidate and what the search found of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Candidate {
    /// The cards; none for a pass.
    pub cards: CardSet,
    /// The mean points at the end of the round.
    pub points: f64,
    /// How many rounds were played out after it.
    pub playouts: u64,
}

/// The plays worth a look, and the pass where it is legal: of the plays of one kind, length, key
/// and number of jokers only the one that leaves the least outranked hand.
pub(crate) fn candidates(question: &Question) -> Vec<CardSet> {
    let mut all = Vec::new();
    question.plays(Variants::FirstJoker, &mut all);
    let mut found: Vec<((Shape, u32, u8, u32), CardSet, u32)> = Vec::new();
    for cards in all {
        let key = (
            Shape::of(cards),
            cards.len(),
            cards.key(question.reversed),
            cards.jokers().len(),
        );
        let sum = question.left(cards).sum;
        match found.iter_mut().find(|it| it.0 == key) {
            Some(best) if sum < best.2 => *best = (key, cards, sum),
            Some(_) => {}
            None => found.push((key, cards, sum)),
        }
    }
    let mut cards: Vec<CardSet> = found.into_iter().map(|(_, cards, _)| cards).collect();
    if question.to_beat.is_some() {
        cards.push(CardSet::NONE);
    }
    cards
}

/// The question that a seat is asked in a deal.
pub(crate) fn question(round: &Round) -> Question {
    Question {
        hand: round.hand(),
        unseen: round.unseen(),
        to_beat: round.table.to_beat(),
        reversed: round.table.reversed,
        reversal: round.table.options.reversal,
        must_open: round.must_open(),
    }
}

/// Plays a round to its end, each seat by its style.
pub(crate) fn play_out(round: &mut Round, styles: &[Style; SEATS], room: &mut Vec<CardSet>) {
    while !round.table.is_over() {
        let cards = styles[round.table.turn].choose(&question(round), room);
        round.take(cards);
    }
}

/// A race between candidates: sums of points, and of the differences between each two.
struct Race {
    candidates: Vec<CardSet>,
    active: Vec<usize>,
    deals: Vec<u32>,
    sums: Vec<f64>,
    /// For each two that were tried on a deal: differences and their squares, summed.
    differences: Vec<(f64, f64)>,
    points: Vec<f64>,
}

impl Race {
    fn new(candidates: Vec<CardSet>) -> Self {
        let count = candidates.len();
        Self {
            candidates,
            active: (0..count).collect(),
            deals: vec![0; count],
            sums: vec![0.0; count],
            differences: vec![(0.0, 0.0); count * count],
            points: vec![0.0; count],
        }
    }

    /// Counts the points of all active candidates on one deal.
    fn count(&mut self) {
        let width = self.candidates.len();
        for &one in &self.active {
            self.deals[one] += 1;
            self.sums[one] += self.points[one];
            for &other in &self.active {
                let difference = self.points[one] - self.points[other];
                let entry = &mut self.differences[one * width + other];
                entry.0 += difference;
                entry.1 += difference * difference;
            }
        }
    }

    fn mean(&self, index: usize) -> f64 {
        self.sums[index] / f64::from(self.deals[index].max(1))
    }

    /// The best of the active ones; all of them have been tried on all deals.
    fn best(&self) -> usize {
        let mut best = self.active[0];
        for &index in &self.active[1..] {
            if self.sums[index] > self.sums[best] {
                best = index;
            }
        }
        best
    }

    /// Leaves out those that are most likely worse than the best.
    fn narrow(&mut self, errors: f64) {
        let best = self.best();
        let count = f64::from(self.deals[best]);
        let width = self.candidates.len();
        let differences = &self.differences;
        self.active.retain(|&index| {
            let (sum, squares) = differences[best * width + index];
            let mean = sum / count;
            let variance = (squares / count - mean * mean).max(0.0) + 0.5 / count;
            index == best || mean < errors * (variance / count).sqrt()
        });
    }
}

/// How a search works.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// How many deals are kept.
    pub deals: usize,
    /// How many exchanges are offered to a deal before it is used.
    pub exchanges: u32,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deals: 64,
            exchanges: 8,
        }
    }
}

/// Searches for the best play of the seat whose turn it is. The best is the first.
pub(crate) fn search(
    table: &Table,
    evidence: &Evidence,
    belief: &mut Belief,
    settings: &Settings,
    limit: &Limit,
    rng: &mut impl Rng,
) -> Vec<Candidate> {
    let own = Question {
        hand: evidence.hand,
        unseen: CardSet::DECK - evidence.all_played() - evidence.hand,
        to_beat: table.to_beat(),
        reversed: table.reversed,
        reversal: table.options.reversal,
        must_open: evidence.hand.contains_all(CardSet::THREE_OF_CLUBS),
    };
    let mut race = Race::new(candidates(&own));
    let mut room = Vec::with_capacity(256);
    if race.candidates.len() > 1 {
        belief.update(evidence, settings.deals, rng);
        let mut playouts = 0;
        for number in 0.. {
            let over = limit.playouts.is_some_and(|most| playouts >= most)
                || limit.deadline.is_some_and(|end| Instant::now() >= end)
                || race.active.len() == 1;
            if over {
                break;
            }
            belief.exchange(number, settings.exchanges, evidence, rng);
            let deal = belief.deal(number);
            let mut styles = deal.styles(rng);
            styles[evidence.seat] = Style::LeastOutranked;
            for &index in &race.active {
                let mut round = Round {
                    table: *table,
                    hands: deal.hands,
                };
                round.take(race.candidates[index]);
                play_out(&mut round, &styles, &mut room);
                race.points[index] = f64::from(round.points(evidence.seat));
                playouts += 1;
            }
            race.count();
            if number % 8 == 7 && number >= 15 {
                race.narrow(3.0);
            }
        }
    }
    let best = race.best();
    let mut found: Vec<Candidate> = (0..race.candidates.len())
        .map(|index| Candidate {
            cards: race.candidates[index],
            points: race.mean(index),
            playouts: race.deals[index].into(),
        })
        .collect();
    found.swap(0, best);
    found
}

//! The search: every candidate is tried on the same deals, and each deal is played out.

use std::{num::NonZeroUsize, thread, time::Instant};

use rand_chacha::ChaCha8Rng;

use crate::{
    belief::{Belief, Evidence},
    cards::CardSet,
    endgame::Endgame,
    plays::{Shape, Variants},
    round::{Round, SEATS, Table},
    style::{Question, Style},
    worth::{Seen, Weights},
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

/// Kind, length, key and number of jokers of a play.
type Class = (Shape, u32, u8, u32);

/// The plays worth a look, and the pass where it is legal: of the plays of one kind, length, key
/// and number of jokers only the one that leaves the least outranked hand.
pub(crate) fn candidates(question: &Question) -> Vec<CardSet> {
    let mut all = Vec::new();
    question.plays(Variants::FirstJoker, &mut all);
    let mut found: Vec<(Class, CardSet, u32)> = Vec::new();
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
pub(crate) fn play_out(
    round: &mut Round,
    styles: &[Style; SEATS],
    weights: &Weights,
    room: &mut Vec<CardSet>,
) {
    while !round.table.is_over() {
        let cards = styles[round.table.turn].choose(&Seen::of(round), weights, room);
        round.take(cards);
    }
}

/// A candidate that is this many standard errors worse than the best is tried no more.
const ERRORS: f64 = 3.0;

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
    /// How the own seat plays in playouts.
    pub own: Style,
    /// How many threads search.
    pub threads: NonZeroUsize,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            deals: 64,
            exchanges: 8,
            own: Style::MostWorth,
            threads: NonZeroUsize::MIN,
        }
    }
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The cards to play; none for a pass.
    pub cards: CardSet,
    /// Whether the move certainly is out before the other of two seats in play.
    pub exact: bool,
    /// The candidates in the order of plays, as far as they were tried. Empty if `exact`.
    pub candidates: Vec<Candidate>,
}

/// Searches for the best move of the seat whose turn it is.
pub(crate) fn search(
    table: &Table,
    evidence: &Evidence,
    beliefs: &mut [Belief],
    settings: &Settings,
    limit: &Limit,
    rngs: &mut [ChaCha8Rng],
) -> Answer {
    let own = Question {
        hand: evidence.hand,
        unseen: CardSet::DECK - evidence.all_played() - evidence.hand,
        to_beat: table.to_beat(),
        reversed: table.reversed,
        reversal: table.options.reversal,
        must_open: evidence.hand.contains_all(CardSet::THREE_OF_CLUBS),
    };
    let candidates = candidates(&own);
    let certain = |cards, exact| Answer {
        cards,
        exact,
        candidates: Vec::new(),
    };
    if let [only] = candidates[..] {
        return certain(only, false);
    }
    if let Some(cards) = out_first(table, evidence, &own, limit) {
        return certain(cards, true);
    }
    let limit = Limit {
        playouts: limit.playouts.map(|all| all.div_ceil(beliefs.len() as u64)),
        ..*limit
    };
    let run = |belief: &mut Belief, rng: &mut ChaCha8Rng| {
        race(
            table,
            evidence,
            candidates.clone(),
            belief,
            settings,
            &limit,
            rng,
        )
    };
    let races: Vec<Race> = match (beliefs, rngs) {
        ([belief], [rng, ..]) => vec![run(belief, rng)],
        (beliefs, rngs) => thread::scope(|scope| {
            let run = &run;
            let threads: Vec<_> = beliefs
                .iter_mut()
                .zip(rngs)
                .map(|(belief, rng)| scope.spawn(move || run(belief, rng)))
                .collect();
            threads
                .into_iter()
                .filter_map(|thread| thread.join().ok())
                .collect()
        }),
    };
    let found: Vec<Candidate> = candidates
        .iter()
        .enumerate()
        .map(|(index, &cards)| {
            let playouts: u64 = races.iter().map(|race| u64::from(race.deals[index])).sum();
            let sum: f64 = races.iter().map(|race| race.sums[index]).sum();
            Candidate {
                cards,
                points: sum / playouts.max(1) as f64,
                playouts,
            }
        })
        .collect();
    // One that was soon left out has a mean of few deals.
    let most = found.iter().map(|one| one.playouts).max().unwrap_or(0);
    let best = found
        .iter()
        .filter(|one| 2 * one.playouts >= most)
        .reduce(|best, one| if one.points > best.points { one } else { best });
    Answer {
        cards: best.map_or(candidates[0], |best| best.cards),
        exact: false,
        candidates: found,
    }
}

/// How many positions of an end are looked at with a fixed amount of work.
const POSITIONS: u64 = 200_000;

/// A move with which the seat is certainly out before the other one, if only two are in play, all
/// unseen cards are the other's, and there is such a move.
fn out_first(table: &Table, evidence: &Evidence, own: &Question, limit: &Limit) -> Option<CardSet> {
    let other = (0..SEATS).find(|&seat| seat != table.turn && table.in_play >> seat & 1 == 1)?;
    if table.in_play.count_ones() != 2 || evidence.left[other] != own.unseen.len() {
        return None;
    }
    let mut hands = [CardSet::NONE; SEATS];
    hands[table.turn] = own.hand;
    hands[other] = own.unseen;
    let round = Round {
        table: *table,
        hands,
    };
    // Half of the time is left for playouts.
    let deadline = limit.deadline.map(|end| {
        let now = Instant::now();
        now + end.saturating_duration_since(now) / 2
    });
    Endgame::new(POSITIONS, deadline)
        .winning_move(&round)
        .flatten()
}

/// Tries the candidates on one deal after another.
fn race(
    table: &Table,
    evidence: &Evidence,
    candidates: Vec<CardSet>,
    belief: &mut Belief,
    settings: &Settings,
    limit: &Limit,
    rng: &mut ChaCha8Rng,
) -> Race {
    let weights = belief.weights();
    let mut race = Race::new(candidates);
    let mut room = Vec::with_capacity(256);
    belief.update(evidence, settings.deals, rng);
    let mut playouts = 0;
    for number in 0.. {
        belief.exchange(number, settings.exchanges, evidence, rng);
        let deal = belief.deal(number);
        let mut styles = deal.styles(rng);
        styles[evidence.seat] = settings.own;
        for &index in &race.active {
            let mut round = Round {
                table: *table,
                hands: deal.hands,
            };
            round.take(race.candidates[index]);
            play_out(&mut round, &styles, &weights, &mut room);
            race.points[index] = f64::from(round.points(evidence.seat));
            playouts += 1;
        }
        race.count();
        if number == settings.deals {
            belief.leave_out_models(evidence);
        }
        if number % 8 == 7 && number >= 15 {
            race.narrow(ERRORS);
        }
        if race.active.len() == 1
            || limit.playouts.is_some_and(|most| playouts >= most)
            || limit.deadline.is_some_and(|end| Instant::now() >= end)
        {
            break;
        }
    }
    race
}

//! The search: every candidate is tried on the same deals, and each deal is played out.

use std::{thread, time::Instant};

use rand::RngExt as _;
use rand_chacha::ChaCha8Rng;

use crate::{
    belief::{Belief, HandEvidence},
    cards::CardSet,
    endgame::Endgame,
    plays::{CombinationShape, Variants},
    round::{BigTwoRound, PublicRound, SEATS, ScoringRule},
    settings::{BigTwoIdea, SearchSettings},
    style::{PlayQuestion, Style},
    worth::{MoveWeights, SeatSight},
};

/// The limit of a search. What is not set does not limit it.
#[derive(Clone, Copy, Debug, Default)]
pub struct PlayoutLimit {
    /// Number of rounds that are played out. With none the move that looks best at first sight is
    /// played.
    pub playouts: Option<u64>,
    /// The latest time of the answer.
    pub deadline: Option<Instant>,
}

/// A candidate and what the search found of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PlayCandidate {
    /// The cards; none for a pass.
    pub cards: CardSet,
    /// The mean points at the end of the round.
    pub points: f64,
    /// Number of rounds that were played out after it.
    pub playouts: u64,
}

/// Kind, length, key and number of jokers of a play.
type Class = (CombinationShape, u32, u8, u32);

/// The plays worth a look, and the pass where it is legal: of the plays of one kind, length, key
/// and number of jokers only the one that leaves the least outranked hand.
pub(crate) fn candidates(question: &PlayQuestion) -> Vec<CardSet> {
    let mut all = Vec::new();
    question.plays(Variants::FirstJoker, &mut all);
    let mut found: Vec<(Class, CardSet, u32)> = Vec::new();
    for cards in all {
        let key = (
            CombinationShape::of(cards),
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

/// Plays a round to its end, each seat by its style.
pub(crate) fn play_out(
    round: &mut BigTwoRound,
    styles: &[Style; SEATS],
    weights: &MoveWeights,
    room: &mut Vec<CardSet>,
) {
    while !round.table.is_over() {
        let cards = styles[round.table.turn].choose(&SeatSight::of(round), weights, room);
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
    /// The shares of all seats, summed.
    shares: Vec<[f64; SEATS]>,
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
            shares: vec![[0.0; SEATS]; count],
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

    /// The expected result of the seats after each candidate. Where a candidate was left out, its
    /// own seat's result is computed from the difference to the best one on the same deals.
    fn prospects(&self, own: usize) -> Vec<Prospect> {
        let best = self.best();
        let width = self.candidates.len();
        let best_share = self.sums[best] / f64::from(self.deals[best]);
        let each = self.candidates.iter().enumerate().map(|(index, &cards)| {
            let deals = f64::from(self.deals[index]);
            let mut shares = self.shares[index].map(|sum| sum / deals);
            let (difference, _) = self.differences[best * width + index];
            shares[own] = (best_share - difference / deals).clamp(0.0, 1.0);
            Prospect { cards, shares }
        });
        each.collect()
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

/// The purpose of a race.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Purpose {
    /// The best move by points: it ends when one candidate is left.
    Move,
    /// The values of all moves as shares: all of them get this many deals.
    Values(usize),
}

/// The expected result of the seats after a move.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Prospect {
    /// The cards; none for a pass.
    pub cards: CardSet,
    /// Each seat's share of the points for its place: 1 is the first place alone.
    pub shares: [f64; SEATS],
}

/// The result of a search.
#[derive(Clone, Debug, PartialEq)]
pub struct BigTwoSearchResult {
    /// The cards to play; none for a pass.
    pub cards: CardSet,
    /// True if the move certainly is out before the other of two seats in play.
    pub exact: bool,
    /// The candidates in the order of plays, as far as they were tried. Empty if `exact`.
    pub candidates: Vec<PlayCandidate>,
}

/// The task of a search: a position in which the engine's seat is to move, and the settings.
#[derive(Clone, Copy)]
pub(crate) struct SearchTask<'a> {
    pub(crate) table: &'a PublicRound,
    pub(crate) evidence: &'a HandEvidence,
    pub(crate) settings: &'a SearchSettings,
}

/// The question of the engine's seat.
fn asked(at: &SearchTask<'_>) -> PlayQuestion {
    let SearchTask {
        table, evidence, ..
    } = *at;
    PlayQuestion {
        hand: evidence.hand,
        unseen: CardSet::DECK - evidence.all_played() - evidence.hand,
        to_beat: table.to_beat(),
        reversed: table.reversed,
        reversal: table.options.reversal,
        must_open: evidence.hand.contains_all(CardSet::THREE_OF_CLUBS),
    }
}

/// Searches for the best move of the seat whose turn it is.
pub(crate) fn search(
    at: &SearchTask<'_>,
    beliefs: &mut [Belief],
    limit: &PlayoutLimit,
    rngs: &mut [ChaCha8Rng],
) -> BigTwoSearchResult {
    let own = asked(at);
    let candidates = candidates(&own);
    let certain = |cards, exact| BigTwoSearchResult {
        cards,
        exact,
        candidates: Vec::new(),
    };
    if let [only] = candidates[..] {
        return certain(only, false);
    }
    if !at.settings.without.has(BigTwoIdea::Endgame)
        && let Some(cards) = out_first(at, &own, limit)
    {
        return certain(cards, true);
    }
    let mut found = if limit.playouts == Some(0) || at.settings.without.has(BigTwoIdea::Playouts) {
        at_first_sight(at, own, &candidates, beliefs)
    } else {
        played_out(at, &candidates, beliefs, limit, rngs)
    };
    if at.settings.misjudges > 0.0 {
        for one in &mut found {
            one.points += at.settings.misjudges * (2.0 * rngs[0].random::<f64>() - 1.0);
        }
    }
    // One that was soon left out has a mean of few deals.
    let most = found.iter().map(|one| one.playouts).max().unwrap_or(0);
    let best = found
        .iter()
        .filter(|one| 2 * one.playouts >= most)
        .reduce(|best, one| if one.points > best.points { one } else { best });
    BigTwoSearchResult {
        cards: best.map_or(candidates[0], |best| best.cards),
        exact: false,
        candidates: found,
    }
}

/// The values of the candidates without a playout.
fn at_first_sight(
    at: &SearchTask<'_>,
    own: PlayQuestion,
    candidates: &[CardSet],
    beliefs: &[Belief],
) -> Vec<PlayCandidate> {
    let seen = SeatSight::new(own, at.table, at.evidence.left);
    let weights = beliefs[0].weights();
    let points = |cards: CardSet| {
        if !at.settings.without.has(BigTwoIdea::Worth) {
            weights.worth(&seen, cards)
        } else if cards.is_empty() {
            f32::MIN
        } else {
            -(own.left(cards).sum as f32)
        }
    };
    let found = candidates.iter().map(|&cards| PlayCandidate {
        cards,
        points: f64::from(points(cards)),
        playouts: 0,
    });
    found.collect()
}

/// The values of the candidates by playouts.
fn played_out(
    at: &SearchTask<'_>,
    candidates: &[CardSet],
    beliefs: &mut [Belief],
    limit: &PlayoutLimit,
    rngs: &mut [ChaCha8Rng],
) -> Vec<PlayCandidate> {
    let limit = PlayoutLimit {
        playouts: limit.playouts.map(|all| all.div_ceil(beliefs.len() as u64)),
        ..*limit
    };
    let run = |belief: &mut Belief, rng: &mut ChaCha8Rng| {
        race(at, candidates.to_vec(), Purpose::Move, belief, &limit, rng)
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
    let found = candidates.iter().enumerate().map(|(index, &cards)| {
        let playouts: u64 = races.iter().map(|race| u64::from(race.deals[index])).sum();
        let sum: f64 = races.iter().map(|race| race.sums[index]).sum();
        PlayCandidate {
            cards,
            points: sum / playouts.max(1) as f64,
            playouts,
        }
    });
    found.collect()
}

/// Number of positions of an end that are looked at with a fixed amount of work.
const POSITIONS: u64 = 200_000;

/// A move with which the seat is certainly out before the other one, if only two are in play, all
/// unseen cards are the other's, and there is such a move.
fn out_first(at: &SearchTask<'_>, own: &PlayQuestion, limit: &PlayoutLimit) -> Option<CardSet> {
    let (round, _) = of_two(at, own)?;
    // Half of the time is left for playouts.
    let deadline = limit.deadline.map(|end| {
        let now = Instant::now();
        now + end.saturating_duration_since(now) / 2
    });
    Endgame::new(POSITIONS, deadline)
        .winning_move(&round)
        .flatten()
}

/// The round with all hands, and the other seat, if only two are in play and all unseen cards are the
/// other's.
fn of_two(at: &SearchTask<'_>, own: &PlayQuestion) -> Option<(BigTwoRound, usize)> {
    let other =
        (0..SEATS).find(|&seat| seat != at.table.turn && at.table.in_play >> seat & 1 == 1)?;
    if at.table.in_play.count_ones() != 2 || at.evidence.left[other] != own.unseen.len() {
        return None;
    }
    let mut hands = [CardSet::NONE; SEATS];
    hands[at.table.turn] = own.hand;
    hands[other] = own.unseen;
    let table = *at.table;
    Some((BigTwoRound { table, hands }, other))
}

/// The expected result of the seats after each legal move of the seat whose turn it is, but for
/// those with the second joker where the first would do. Ends are exact, the rest is by so many
/// playouts.
pub(crate) fn evaluate(
    at: &SearchTask<'_>,
    belief: &mut Belief,
    playouts: u64,
    rng: &mut ChaCha8Rng,
) -> Vec<Prospect> {
    let own = asked(at);
    let mut moves = Vec::new();
    own.plays(Variants::FirstJoker, &mut moves);
    if own.to_beat.is_some() {
        moves.push(CardSet::NONE);
    }
    if !at.settings.without.has(BigTwoIdea::Endgame)
        && let Some(found) = exact(at, &own, &moves)
    {
        return found;
    }
    let limit = PlayoutLimit {
        playouts: Some(playouts),
        deadline: None,
    };
    let least = (playouts / 2 / moves.len() as u64).clamp(16, at.settings.deals as u64) as usize;
    let purpose = Purpose::Values(least);
    race(at, moves, purpose, belief, &limit, rng).prospects(at.evidence.seat)
}

/// The same for an end that can be solved.
fn exact(at: &SearchTask<'_>, own: &PlayQuestion, moves: &[CardSet]) -> Option<Vec<Prospect>> {
    let (round, other) = of_two(at, own)?;
    if at.table.options.scores == ScoringRule::Payout {
        return None;
    }
    let mut endgame = Endgame::new(POSITIONS, None);
    let mut found = Vec::new();
    for &cards in moves {
        let first = if endgame.wins_by(&round, cards)? {
            at.table.turn
        } else {
            other
        };
        let mut end = round;
        end.table.places[first] = at.table.out + 1;
        found.push(Prospect {
            cards,
            shares: end.shares(),
        });
    }
    Some(found)
}

/// Tries the candidates on one deal after another.
fn race(
    at: &SearchTask<'_>,
    candidates: Vec<CardSet>,
    purpose: Purpose,
    belief: &mut Belief,
    limit: &PlayoutLimit,
    rng: &mut ChaCha8Rng,
) -> Race {
    let weights = belief.weights();
    let least = match purpose {
        Purpose::Move => 16,
        Purpose::Values(deals) => deals,
    };
    let mut race = Race::new(candidates);
    let mut room = Vec::with_capacity(256);
    belief.update(at.evidence, at.settings.deals, rng);
    let mut playouts = 0;
    for number in 0.. {
        belief.exchange(number, at.settings.exchanges, at.evidence, rng);
        let deal = belief.deal(number);
        let mut styles = deal.styles(rng);
        styles[at.evidence.seat] = if at.settings.without.has(BigTwoIdea::Worth) {
            Style::LeastOutranked
        } else {
            Style::MostWorth
        };
        for &index in &race.active {
            let mut round = BigTwoRound {
                table: *at.table,
                hands: deal.hands,
            };
            round.take(race.candidates[index]);
            play_out(&mut round, &styles, &weights, &mut room);
            race.points[index] = match purpose {
                Purpose::Move => f64::from(round.points(at.evidence.seat)),
                Purpose::Values(_) => {
                    let shares = round.shares();
                    for (sum, share) in race.shares[index].iter_mut().zip(shares) {
                        *sum += share;
                    }
                    shares[at.evidence.seat]
                }
            };
            playouts += 1;
        }
        race.count();
        if number == at.settings.deals {
            belief.leave_out_models(at.evidence);
        }
        if number % 8 == 7 && number + 1 >= least && !at.settings.without.has(BigTwoIdea::Race) {
            race.narrow(ERRORS);
        }
        if race.active.len() == 1 && purpose == Purpose::Move
            || limit.playouts.is_some_and(|most| playouts >= most)
            || limit.deadline.is_some_and(|end| Instant::now() >= end)
        {
            break;
        }
    }
    race
}

//! What the others may hold: deals that fit what a seat knows, the likelier the more often.
//!
//! Each deal of the sample is a chain of Metropolis and Hastings: cards of two seats are exchanged,
//! and the exchange is kept by how much likelier it makes what these seats have done. How likely a
//! play or a pass is comes from the models of `style.rs`; which of them a seat follows is inferred
//! with the hand.

use rand::{Rng, RngExt as _};

use crate::{
    cards::CardSet,
    plays::{ToBeat, Variants},
    round::SEATS,
    style::{Question, Style},
};

/// How many models there are.
pub(crate) const MODELS: usize = Style::ALL.len();

/// A play or pass of another seat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Decision {
    pub(crate) seat: usize,
    /// What it had to beat.
    pub(crate) to_beat: Option<ToBeat>,
    pub(crate) reversed: bool,
    pub(crate) opens: bool,
    /// What it played; none for a pass.
    pub(crate) cards: CardSet,
    /// What all seats had played before.
    pub(crate) played: CardSet,
    /// What this seat had played before.
    pub(crate) own: CardSet,
}

/// What is known of the hidden hands.
#[derive(Clone, Debug)]
pub(crate) struct Evidence {
    pub(crate) seat: usize,
    pub(crate) reversal: bool,
    /// What the other seats have done.
    pub(crate) decisions: Vec<Decision>,
    /// What each seat has played.
    pub(crate) played: [CardSet; SEATS],
    /// How many cards each seat holds.
    pub(crate) left: [u32; SEATS],
    pub(crate) hand: CardSet,
}

impl Evidence {
    pub(crate) fn all_played(&self) -> CardSet {
        let [a, b, c, d] = self.played;
        a | b | c | d
    }

    /// The logarithm of how likely a seat's plays and passes are with this hand, by each model.
    fn judge(&self, seat: usize, hand: CardSet, room: &mut Vec<CardSet>) -> [f32; MODELS] {
        let mut found = [0.0; MODELS];
        for decision in self.decisions.iter().filter(|it| it.seat == seat) {
            let held = hand | (self.played[seat] - decision.own);
            let question = Question {
                hand: held,
                unseen: CardSet::DECK - decision.played - held,
                to_beat: decision.to_beat,
                reversed: decision.reversed,
                reversal: self.reversal,
                must_open: decision.opens,
            };
            likelihoods(&question, decision.cards, room, &mut found);
        }
        found
    }
}

/// How often a seat that follows a model does something else.
const ERROR: f32 = 0.03;

/// Adds to `found`, for each model, the logarithm of how likely it is to play these cards.
fn likelihoods(
    question: &Question,
    cards: CardSet,
    room: &mut Vec<CardSet>,
    found: &mut [f32; MODELS],
) {
    question.plays(Variants::FirstJoker, room);
    let choices = room.len();
    if choices == 0 || choices == 1 && question.to_beat.is_none() {
        return;
    }
    let other = (ERROR / choices as f32).ln();
    if cards.is_empty() {
        for one in found {
            *one += other;
        }
        return;
    }
    let same = (1.0 - ERROR).ln();
    let cards = first_joker(cards, question.hand);
    let mut least = (room[0], question.left(room[0]));
    let mut either = least;
    for &play in &room[1..] {
        let left = question.left(play);
        if left.sum < least.1.sum {
            least = (play, left);
        }
        if left.sum < either.1.sum || left.threatened < either.1.threatened {
            either = (play, left);
        }
    }
    for (one, style) in found.iter_mut().zip(Style::ALL) {
        let choice = match style {
            Style::Lowest => room[0],
            Style::LeastOutranked => least.0,
            Style::LowerInEither => either.0,
        };
        *one += if choice == cards { same } else { other };
    }
}

/// The play with the first joker in place of the second where the hand has both.
fn first_joker(cards: CardSet, hand: CardSet) -> CardSet {
    let jokers = cards.jokers();
    if jokers.len() == 1 && hand.contains_all(CardSet::JOKERS) {
        (cards - jokers) | CardSet::JOKERS.lowest()
    } else {
        cards
    }
}

/// One deal of the sample.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Deal {
    pub(crate) hands: [CardSet; SEATS],
    judged: [[f32; MODELS]; SEATS],
}

impl Deal {
    /// Of each seat's model.
    pub(crate) fn styles(&self, rng: &mut impl Rng) -> [Style; SEATS] {
        self.judged.map(|judged| {
            let most = judged.iter().copied().fold(f32::MIN, f32::max);
            let weights = judged.map(|one| (one - most).exp());
            let mut pick = rng.random::<f32>() * weights.iter().sum::<f32>();
            for (weight, style) in weights.into_iter().zip(Style::ALL) {
                pick -= weight;
                if pick <= 0.0 {
                    return style;
                }
            }
            Style::ALL[0]
        })
    }
}

/// The logarithm of the sum over the models, each as likely as another before anything is known.
fn together(judged: &[f32; MODELS]) -> f32 {
    let most = judged.iter().copied().fold(f32::MIN, f32::max);
    let sum: f32 = judged.iter().map(|one| (one - most).exp()).sum();
    most + sum.ln()
}

/// A sample of deals.
#[derive(Clone, Debug, Default)]
pub(crate) struct Belief {
    deals: Vec<Deal>,
    room: Vec<CardSet>,
}

impl Belief {
    pub(crate) fn clear(&mut self) {
        self.deals.clear();
    }

    pub(crate) fn deal(&self, index: usize) -> &Deal {
        &self.deals[index % self.deals.len()]
    }

    /// Makes the sample one of so many deals that fit what is known now.
    pub(crate) fn update(&mut self, evidence: &Evidence, size: usize, rng: &mut impl Rng) {
        if self.deals.is_empty() {
            for _ in 0..size {
                let hands = dealt(evidence, rng);
                let judged = self.judge(evidence, &hands);
                self.deals.push(Deal { hands, judged });
            }
            return;
        }
        let mut weights = Vec::with_capacity(self.deals.len());
        for index in 0..self.deals.len() {
            let before = self.deals[index];
            let mut hands = before.hands;
            repair(&mut hands, evidence, rng);
            let judged = self.judge(evidence, &hands);
            let gain: f32 = (0..SEATS)
                .map(|seat| together(&judged[seat]) - together(&before.judged[seat]))
                .sum();
            weights.push(gain);
            self.deals[index] = Deal { hands, judged };
        }
        self.resample(&weights, rng);
    }

    fn judge(&mut self, evidence: &Evidence, hands: &[CardSet; SEATS]) -> [[f32; MODELS]; SEATS] {
        let mut judged = [[0.0; MODELS]; SEATS];
        for (seat, one) in judged.iter_mut().enumerate() {
            *one = evidence.judge(seat, hands[seat], &mut self.room);
        }
        judged
    }

    /// Draws the deals anew by the logarithms of their weights.
    fn resample(&mut self, weights: &[f32], rng: &mut impl Rng) {
        let most = weights.iter().copied().fold(f32::MIN, f32::max);
        let weights: Vec<f32> = weights.iter().map(|one| (one - most).exp()).collect();
        let step = weights.iter().sum::<f32>() / weights.len() as f32;
        let old = std::mem::take(&mut self.deals);
        let mut pick = rng.random::<f32>() * step;
        let mut sum = 0.0;
        for (deal, weight) in old.iter().zip(weights) {
            sum += weight;
            while pick < sum && self.deals.len() < old.len() {
                self.deals.push(*deal);
                pick += step;
            }
        }
        while self.deals.len() < old.len() {
            self.deals.push(old[self.deals.len()]);
        }
    }

    /// Offers so many exchanges to one deal.
    pub(crate) fn exchange(
        &mut self,
        index: usize,
        times: u32,
        evidence: &Evidence,
        rng: &mut impl Rng,
    ) {
        let others: Vec<usize> = (0..SEATS)
            .filter(|&seat| seat != evidence.seat && evidence.left[seat] > 0)
            .collect();
        if others.len() < 2 {
            return;
        }
        let size = self.deals.len();
        let deal = &mut self.deals[index % size];
        for _ in 0..times {
            let first = rng.random_range(0..others.len());
            let second = (first + rng.random_range(1..others.len())) % others.len();
            let (one, two) = (others[first], others[second]);
            let most = evidence.left[one].min(evidence.left[two]);
            let count = match rng.random_range(0..10) {
                0..6 => 1,
                6..9 => 2,
                _ => 3,
            };
            if count > most {
                continue;
            }
            let given = some(deal.hands[one], count, rng);
            let taken = some(deal.hands[two], count, rng);
            let hand_one = (deal.hands[one] - given) | taken;
            let hand_two = (deal.hands[two] - taken) | given;
            let judged_one = evidence.judge(one, hand_one, &mut self.room);
            let judged_two = evidence.judge(two, hand_two, &mut self.room);
            let gain = together(&judged_one) + together(&judged_two)
                - together(&deal.judged[one])
                - together(&deal.judged[two]);
            if gain >= 0.0 || rng.random::<f32>() < gain.exp() {
                deal.hands[one] = hand_one;
                deal.hands[two] = hand_two;
                deal.judged[one] = judged_one;
                deal.judged[two] = judged_two;
            }
        }
    }
}

/// So many different cards of a hand.
fn some(hand: CardSet, count: u32, rng: &mut impl Rng) -> CardSet {
    let mut rest = hand;
    let mut chosen = CardSet::NONE;
    for _ in 0..count {
        let card = rest.nth(rng.random_range(0..rest.len()));
        rest -= card;
        chosen |= card;
    }
    chosen
}

/// A random deal that fits.
fn dealt(evidence: &Evidence, rng: &mut impl Rng) -> [CardSet; SEATS] {
    let mut unseen = CardSet::DECK - evidence.all_played() - evidence.hand;
    let mut hands = [CardSet::NONE; SEATS];
    for seat in 0..SEATS {
        hands[seat] = if seat == evidence.seat {
            evidence.hand
        } else {
            some(unseen, evidence.left[seat], rng)
        };
        unseen -= hands[seat];
    }
    hands
}

/// Takes the cards that have been played since out of the hands. A seat that did not hold what it
/// played gives other cards for it to whoever did.
fn repair(hands: &mut [CardSet; SEATS], evidence: &Evidence, rng: &mut impl Rng) {
    let played = evidence.all_played();
    hands[evidence.seat] = evidence.hand;
    let others = (0..SEATS).filter(|&seat| seat != evidence.seat);
    // What is too much in a hand goes to those that have too little.
    let mut spare = CardSet::NONE;
    for seat in others.clone() {
        hands[seat] -= played;
        let left = evidence.left[seat];
        if hands[seat].len() > left {
            let given = some(hands[seat], hands[seat].len() - left, rng);
            hands[seat] -= given;
            spare |= given;
        }
    }
    for seat in others {
        let missing = evidence.left[seat] - hands[seat].len();
        let taken = some(spare, missing, rng);
        hands[seat] |= taken;
        spare -= taken;
    }
}

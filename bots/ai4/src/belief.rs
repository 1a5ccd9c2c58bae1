//! The hands that the others may hold: deals that fit what a seat knows, the likelier the more
//! often.
//!
//! Each deal of the sample is a chain of Metropolis and Hastings: cards of two seats are exchanged,
//! and the exchange is kept by how much likelier it makes what these seats have done. How likely a
//! play or a pass is comes from the models of `style.rs`; which of them a seat follows is inferred
//! with the hand.

use std::sync::Arc;

use rand::{Rng, RngExt as _};

use crate::{
    cards::CardSet,
    plays::Variants,
    round::{PublicRound, SEATS},
    settings::{BigTwoIdea, BigTwoIdeas},
    style::{PlayQuestion, Style},
    worth::{MoveWeights, SeatSight},
};

/// Number of models.
pub(crate) const MODELS: usize = Style::ALL.len();
/// The model that weighs every move.
const WORTH: usize = 3;
const _: () = assert!(matches!(Style::ALL[WORTH], Style::MostWorth));
/// A model that is less likely than this for a seat is left out from then on.
const UNLIKELY: f32 = 0.002;

/// Number of additional exchanges that are offered to a deal at first for each decision that was
/// known when it was drawn: it has not grown with them.
const FIRST_EXCHANGES: u32 = 8;

/// A play or pass of another seat.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SeatDecision {
    pub(crate) seat: usize,
    /// The table before.
    pub(crate) table: PublicRound,
    /// Number of cards that each seat held before.
    pub(crate) left: [u32; SEATS],
    /// True if it is the first of the round.
    pub(crate) opens: bool,
    /// The cards that it played; none for a pass.
    pub(crate) cards: CardSet,
    /// The cards that all seats had played before.
    pub(crate) played: CardSet,
    /// The cards that this seat had played before.
    pub(crate) own: CardSet,
}

/// The evidence about the hidden hands: all that a seat knows of them.
#[derive(Clone, Debug)]
pub(crate) struct HandEvidence {
    pub(crate) seat: usize,
    /// The decisions of the other seats.
    pub(crate) decisions: Vec<SeatDecision>,
    /// The cards that each seat has played.
    pub(crate) played: [CardSet; SEATS],
    /// Number of cards that each seat holds.
    pub(crate) left: [u32; SEATS],
    pub(crate) hand: CardSet,
}

impl HandEvidence {
    pub(crate) fn all_played(&self) -> CardSet {
        let [a, b, c, d] = self.played;
        a | b | c | d
    }

    /// The logarithm of how likely a seat's plays and passes are with this hand, by each of these
    /// models. None where all of them are below `least`.
    fn judge(
        &self,
        seat: usize,
        hand: CardSet,
        models: Models,
        least: f32,
        judge: &mut MoveLikelihood,
    ) -> Option<[f32; MODELS]> {
        let mut found = models.map(|taken| if taken { 0.0 } else { NEVER });
        for decision in self.decisions.iter().filter(|it| it.seat == seat) {
            let held = hand | (self.played[seat] - decision.own);
            let question = PlayQuestion {
                hand: held,
                unseen: CardSet::DECK - decision.played - held,
                to_beat: decision.table.to_beat(),
                reversed: decision.table.reversed,
                reversal: decision.table.options.reversal,
                must_open: decision.opens,
            };
            let seen = SeatSight::new(question, &decision.table, decision.left);
            judge.add(&seen, decision.cards, models, &mut found);
            if most(&found) < least {
                return None;
            }
        }
        Some(found)
    }
}

/// The models that a seat may follow.
type Models = [bool; MODELS];

/// The logarithm of what is left out.
const NEVER: f32 = -1e6;

fn most(judged: &[f32; MODELS]) -> f32 {
    judged.iter().copied().fold(f32::MIN, f32::max)
}

/// The chance that a seat that follows a model does something else.
const ERROR: f32 = 0.03;
/// A seat that plays by worth takes a move that is worth so many points less e times less often.
const HEAT: f32 = 0.1;

/// The model that says how likely moves are.
#[derive(Clone, Debug)]
struct MoveLikelihood {
    weights: Arc<MoveWeights>,
    room: Vec<CardSet>,
}

impl MoveLikelihood {
    /// Adds to `found`, for each of these models, the logarithm of how likely it is to play these
    /// cards.
    fn add(&mut self, seen: &SeatSight, cards: CardSet, models: Models, found: &mut [f32; MODELS]) {
        let question = &seen.question;
        let room = &mut self.room;
        question.plays(Variants::FirstJoker, room);
        let follows = question.to_beat.is_some();
        let choices = room.len() + usize::from(follows);
        if choices <= 1 {
            return;
        }
        let weighs = models[WORTH];
        let by_chance = ERROR / choices as f32;
        if cards.is_empty() && !weighs {
            for one in found {
                *one += by_chance.ln();
            }
            return;
        }
        let cards = first_joker(cards, question.hand);
        let mut least = (CardSet::NONE, u32::MAX);
        let mut either = (CardSet::NONE, u32::MAX, u32::MAX);
        let (mut all, mut this) = (0.0, 0.0);
        for &play in &*room {
            let left = question.left(play);
            if left.sum < least.1 {
                least = (play, left.sum);
            }
            if left.sum < either.1 || left.threatened < either.2 {
                either = (play, left.sum, left.threatened);
            }
            if weighs {
                let odds = (self.weights.worth_of(seen, play, left) / HEAT).exp();
                all += odds;
                if play == cards {
                    this = odds;
                }
            }
        }
        if follows && weighs {
            let odds = (self.weights.worth(seen, CardSet::NONE) / HEAT).exp();
            all += odds;
            if cards.is_empty() {
                this = odds;
            }
        }
        for (one, style) in found.iter_mut().zip(Style::ALL) {
            let share = match style {
                Style::Lowest => f32::from(u8::from(room[0] == cards)),
                Style::LeastOutranked => f32::from(u8::from(least.0 == cards)),
                Style::LowerInEither => f32::from(u8::from(either.0 == cards)),
                Style::MostWorth if weighs => this / all,
                Style::MostWorth => 0.0,
            };
            *one += (by_chance + (1.0 - ERROR) * share).ln();
        }
    }
}

/// The play with the first joker in place of the second where the hand has both.
pub(crate) fn first_joker(cards: CardSet, hand: CardSet) -> CardSet {
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
            let weights = shares(&judged);
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

/// The likelihoods of the models, up to a common factor.
fn shares(judged: &[f32; MODELS]) -> [f32; MODELS] {
    let most = most(judged);
    judged.map(|one| (one - most).exp())
}

/// The logarithm of the mean over the models, each as likely as another before anything is known.
fn together(judged: &[f32; MODELS]) -> f32 {
    most(judged) + (shares(judged).iter().sum::<f32>() / MODELS as f32).ln()
}

/// A sample of deals.
#[derive(Clone, Debug)]
pub(crate) struct Belief {
    deals: Vec<Deal>,
    /// True if deals are drawn by how well they explain what was played.
    infers: bool,
    /// Number of decisions that were known when the sample was drawn, until all deals have been
    /// exchanged as often as these ask for.
    late: u32,
    models: [Models; SEATS],
    judge: MoveLikelihood,
}

impl Belief {
    /// Before anything is known.
    pub(crate) fn new(weights: Arc<MoveWeights>, without: BigTwoIdeas) -> Self {
        let models = Style::ALL.map(|style| match style {
            Style::MostWorth => !without.has(BigTwoIdea::Worth),
            // Without both, one model must be left.
            Style::LeastOutranked if without.has(BigTwoIdea::Worth) => true,
            _ => !without.has(BigTwoIdea::Styles),
        });
        Self {
            deals: Vec::new(),
            infers: !without.has(BigTwoIdea::Belief),
            late: 0,
            models: [models; SEATS],
            judge: MoveLikelihood {
                weights,
                room: Vec::new(),
            },
        }
    }

    pub(crate) fn weights(&self) -> Arc<MoveWeights> {
        Arc::clone(&self.judge.weights)
    }

    pub(crate) fn deal(&self, index: usize) -> &Deal {
        &self.deals[index % self.deals.len()]
    }

    /// Makes the sample one of so many deals that fit what is known now.
    pub(crate) fn update(&mut self, evidence: &HandEvidence, size: usize, rng: &mut impl Rng) {
        if self.deals.is_empty() || !self.infers {
            self.deals.clear();
            self.late = evidence.decisions.len() as u32;
            for _ in 0..size {
                let deal = self.any(evidence, rng);
                self.deals.push(deal);
            }
            return;
        }
        self.leave_out_models(evidence);
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

    /// Any deal that fits.
    fn any(&mut self, evidence: &HandEvidence, rng: &mut impl Rng) -> Deal {
        let hands = dealt(evidence, rng);
        let judged = self.judge(evidence, &hands);
        Deal { hands, judged }
    }

    /// Leaves out the models that are unlikely in all deals together.
    pub(crate) fn leave_out_models(&mut self, evidence: &HandEvidence) {
        for seat in (0..SEATS).filter(|&seat| seat != evidence.seat) {
            let mut sums = [0.0; MODELS];
            for deal in &self.deals {
                let shares = shares(&deal.judged[seat]);
                let all: f32 = shares.iter().sum();
                for (sum, share) in sums.iter_mut().zip(shares) {
                    *sum += share / all;
                }
            }
            for (model, sum) in sums.into_iter().enumerate() {
                if sum < UNLIKELY * self.deals.len() as f32 {
                    self.models[seat][model] = false;
                    for deal in &mut self.deals {
                        deal.judged[seat][model] = NEVER;
                    }
                }
            }
        }
    }

    fn judge(
        &mut self,
        evidence: &HandEvidence,
        hands: &[CardSet; SEATS],
    ) -> [[f32; MODELS]; SEATS] {
        let mut judged = [[0.0; MODELS]; SEATS];
        for (seat, one) in judged.iter_mut().enumerate() {
            let models = self.models[seat];
            let found = evidence.judge(seat, hands[seat], models, f32::MIN, &mut self.judge);
            *one = found.unwrap_or_default();
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

    /// Offers so many exchanges to one deal. Without inference the deal is drawn anew.
    pub(crate) fn exchange(
        &mut self,
        index: usize,
        times: u32,
        evidence: &HandEvidence,
        rng: &mut impl Rng,
    ) {
        let others: Vec<usize> = (0..SEATS)
            .filter(|&seat| seat != evidence.seat && evidence.left[seat] > 0)
            .collect();
        if others.len() < 2 {
            return;
        }
        let size = self.deals.len();
        if !self.infers {
            if index >= size {
                self.deals[index % size] = self.any(evidence, rng);
            }
            return;
        }
        let mut times = times;
        if index < size {
            times += FIRST_EXCHANGES * self.late;
        } else {
            self.late = 0;
        }
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
            // What both together must reach; neither is above 0.
            let least = together(&deal.judged[one])
                + together(&deal.judged[two])
                + rng.random::<f32>().max(f32::MIN_POSITIVE).ln();
            let judge = &mut self.judge;
            let Some(judged_one) = evidence.judge(one, hand_one, self.models[one], least, judge)
            else {
                continue;
            };
            let least = least - together(&judged_one);
            let Some(judged_two) = evidence.judge(two, hand_two, self.models[two], least, judge)
            else {
                continue;
            };
            if together(&judged_two) >= least {
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
fn dealt(evidence: &HandEvidence, rng: &mut impl Rng) -> [CardSet; SEATS] {
    let mut unseen = CardSet::DECK - evidence.all_played() - evidence.hand;
    let mut hands = [CardSet::NONE; SEATS];
    for (seat, hand) in hands.iter_mut().enumerate() {
        *hand = if seat == evidence.seat {
            evidence.hand
        } else {
            some(unseen, evidence.left[seat], rng)
        };
        unseen -= *hand;
    }
    hands
}

/// Takes the cards that have been played since out of the hands. A seat that did not hold what it
/// played gives other cards for it to whoever did.
fn repair(hands: &mut [CardSet; SEATS], evidence: &HandEvidence, rng: &mut impl Rng) {
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

#[cfg(test)]
mod tests {
    use rand::SeedableRng as _;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::round::{BigTwoRound, RoundOptions};

    fn random_deal(rng: &mut ChaCha8Rng) -> BigTwoRound {
        let mut rest = CardSet::DECK;
        let mut hands = [CardSet::NONE; SEATS];
        for (seat, hand) in hands.iter_mut().enumerate() {
            *hand = some(rest, 13 + u32::from(seat < 2), rng);
            rest -= *hand;
        }
        let opens = |seat: &usize| hands[*seat].contains_all(CardSet::THREE_OF_CLUBS);
        let opener = (0..SEATS).find(opens).unwrap();
        BigTwoRound {
            table: PublicRound::new(RoundOptions::default(), opener),
            hands,
        }
    }

    /// Plays a round of three seats that follow a style, and one that takes the lowest play, with
    /// a sample of what the last one may think; `look` sees each of its turns.
    fn round(style: Style, seed: u64, mut look: impl FnMut(&BigTwoRound, &HandEvidence, &Belief)) {
        let mut rng = ChaCha8Rng::seed_from_u64(seed);
        let weights = Arc::new(MoveWeights::embedded());
        let mut round = random_deal(&mut rng);
        let mut belief = Belief::new(Arc::clone(&weights), BigTwoIdeas::default());
        let mut evidence = HandEvidence {
            seat: 3,
            decisions: Vec::new(),
            played: [CardSet::NONE; SEATS],
            left: round.hands.map(CardSet::len),
            hand: round.hands[3],
        };
        let mut room = Vec::new();
        while !round.table.is_over() {
            let seat = round.table.turn;
            let seen = SeatSight::of(&round);
            let style = if seat == 3 { Style::Lowest } else { style };
            if seat == 3 {
                belief.update(&evidence, 16, &mut rng);
                for index in 0..16 {
                    belief.exchange(index, 60, &evidence, &mut rng);
                }
                look(&round, &evidence, &belief);
            }
            let cards = style.choose(&seen, &weights, &mut room);
            if seat != 3 {
                evidence.decisions.push(SeatDecision {
                    seat,
                    table: round.table,
                    left: evidence.left,
                    opens: round.must_open(),
                    cards,
                    played: evidence.all_played(),
                    own: evidence.played[seat],
                });
            }
            round.take(cards);
            evidence.played[seat] |= cards;
            evidence.left = round.hands.map(CardSet::len);
            evidence.hand = round.hands[3];
        }
    }

    #[test]
    fn every_deal_of_the_sample_fits_what_is_known() {
        for seed in 0..6 {
            round(Style::LeastOutranked, seed, |round, evidence, belief| {
                assert_eq!(belief.deals.len(), 16);
                for deal in &belief.deals {
                    let mut all = CardSet::NONE;
                    for seat in 0..SEATS {
                        assert_eq!(deal.hands[seat].len(), evidence.left[seat]);
                        assert!((all & deal.hands[seat]).is_empty());
                        all |= deal.hands[seat];
                    }
                    assert_eq!(all, CardSet::DECK - evidence.all_played());
                    assert_eq!(deal.hands[3], round.hands[3]);
                }
            });
        }
    }

    /// In the second half of a round.
    #[test]
    fn hidden_cards_are_found_more_often_than_by_chance() {
        for style in [Style::LeastOutranked, Style::LowerInEither] {
            let (mut right, mut by_chance, mut all) = (0.0, 0.0, 0.0);
            for seed in 0..12 {
                round(style, 100 + seed, |round, evidence, belief| {
                    let hidden: u32 = evidence.left[..3].iter().sum();
                    if hidden > 21 {
                        return;
                    }
                    for deal in &belief.deals {
                        for seat in 0..3 {
                            let left = f64::from(evidence.left[seat]);
                            right += f64::from((deal.hands[seat] & round.hands[seat]).len());
                            by_chance += left * left / f64::from(hidden.max(1));
                            all += left;
                        }
                    }
                });
            }
            assert!(all > 0.0);
            println!(
                "{style:?}: {:.2} by chance {:.2}",
                right / all,
                by_chance / all
            );
            assert!(right > 1.15 * by_chance, "{right} {by_chance} {all}");
        }
    }

    /// A seat that is asked for the first time late in a round, as one that was resumed.
    #[test]
    fn a_sample_that_begins_late_explains_what_was_played() {
        let explained = |belief: &Belief| -> f32 {
            let deals = belief.deals.iter();
            let each = deals.map(|deal| deal.judged[..3].iter().map(together).sum::<f32>());
            each.sum::<f32>() / belief.deals.len() as f32
        };
        let (mut grown, mut drawn, mut late) = (0.0, 0.0, 0.0);
        for seed in 0..4 {
            round(Style::LeastOutranked, 200 + seed, |_, evidence, belief| {
                if !(16..24).contains(&evidence.decisions.len()) {
                    return;
                }
                let mut rng = ChaCha8Rng::seed_from_u64(seed);
                let mut fresh = Belief::new(belief.weights(), BigTwoIdeas::default());
                fresh.update(evidence, 8, &mut rng);
                drawn += explained(&fresh);
                for index in 0..8 {
                    fresh.exchange(index, 8, evidence, &mut rng);
                }
                late += explained(&fresh);
                grown += explained(belief);
            });
        }
        println!("grown {grown:.1}, late {late:.1}, drawn {drawn:.1}");
        assert!(drawn < 3.0 * late && grown < 0.0, "{grown} {late} {drawn}");
    }
}

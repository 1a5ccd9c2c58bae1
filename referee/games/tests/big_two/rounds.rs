//! Thousands of random rounds, turn by turn beside the slow reading, from deals
//! that are rich in fours or in runs of a suit. What must have happened in them
//! is counted.

use std::collections::BTreeMap;

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use referee_core::{Dice, FoulKind, Game as _, Outcome, Seat, Seed, State, Step, testing::prove};
use referee_games::big_two::{
    BigTwo, Card, Cards, Combination, CombinationKind, Ending, Move, Notice, Order, Question,
    Scoring, SeatStanding, Setup,
};

use crate::paper::{Paper, Slow, ours, paper, readings};

type Counts = BTreeMap<&'static str, u32>;

/// Hands in which cards of a rank, or of a suit, lie together more often.
fn hands(taste: u32, rng: &mut StdRng) -> [Cards; 4] {
    let mut deck: Vec<Card> = Card::all().collect();
    deck.shuffle(rng);
    // Each card may follow its rank or its suit to a seat.
    let ranks: Vec<usize> = (0..13).map(|_| rng.random_range(0..4)).collect();
    let suits: Vec<usize> = (0..4).map(|_| rng.random_range(0..4)).collect();
    let mut hands = [Cards::NONE; 4];
    let mut sizes = [14, 14, 13, 13];
    sizes.shuffle(rng);
    for card in deck {
        let index = usize::from(card.index());
        let follows = rng.random_range(0..10) < 8 && !card.is_joker();
        let wanted = match taste {
            1 if follows => Some(ranks[index / 4]),
            2 if follows => Some(suits[index % 4]),
            _ => None,
        };
        let has_room = |seat: &usize| hands[*seat].len() < sizes[*seat];
        let seat = wanted
            .filter(has_room)
            .or_else(|| {
                let free: Vec<usize> = (0..4).filter(has_room).collect();
                Some(free[rng.random_range(0..free.len())])
            })
            .expect("54 cards for 54 places");
        hands[seat].insert(card);
    }
    hands
}

/// A kind first, then a play of it, so that rare kinds are played too; often a
/// four of a kind or the longest straight flush where there is one.
fn choose(legal: &[Move], rng: &mut StdRng) -> Move {
    let mut kinds: BTreeMap<Option<CombinationKind>, Vec<Move>> = BTreeMap::new();
    for &did in legal {
        let kind = match did {
            Move::Pass => None,
            Move::Play(cards) => Combination::of(cards).map(Combination::kind),
        };
        kinds.entry(kind).or_default().push(did);
    }
    if kinds.len() > 1 && rng.random_range(0..3) > 0 {
        kinds.remove(&None);
    }
    match rng.random_range(0..4) {
        0 if kinds.contains_key(&Some(CombinationKind::Four)) => {
            kinds.retain(|kind, _| *kind == Some(CombinationKind::Four));
        }
        1 => {
            if let Some(longest) = kinds
                .get(&Some(CombinationKind::StraightFlush))
                .and_then(|k| k.last())
            {
                return *longest;
            }
        }
        _ => {}
    }
    let kinds: Vec<Vec<Move>> = kinds.into_values().collect();
    let kind = &kinds[rng.random_range(0..kinds.len())];
    kind[rng.random_range(0..kind.len())]
}

struct Round {
    state: State<BigTwo>,
    slow: Slow,
    counts: Counts,
    opened: bool,
}

impl Round {
    fn new(setup: &Setup, seed: u64) -> Self {
        let mut bytes = [0; 32];
        bytes[..8].copy_from_slice(&seed.to_le_bytes());
        let state = BigTwo::deal(setup, &mut Dice::new(&Seed::new(bytes)));
        let hands = [0, 1, 2, 3].map(|seat| paper(state.private[Seat::new(seat)]));
        Self {
            state,
            slow: Slow::new(hands, setup.reversal, setup.scoring == Scoring::Payout),
            counts: Counts::new(),
            opened: false,
        }
    }

    fn count(&mut self, what: &'static str) {
        *self.counts.entry(what).or_default() += 1;
    }

    /// Everything that both readings know is the same, and no card is lost.
    fn agrees(&self) {
        let (state, slow) = (&self.state, &self.slow);
        let public = &state.public;
        let mut all = public.all_played();
        for (seat, hand) in state.private.iter() {
            let i = seat.index();
            assert!((all & *hand).is_empty(), "a card is there twice");
            all |= *hand;
            assert_eq!(*hand, ours(&slow.hands[i]));
            assert_eq!(public.cards_left[i], hand.len());
            let place = match public.standing[i] {
                SeatStanding::InPlay => None,
                SeatStanding::Out(place) => {
                    assert!(!slow.forfeited.contains(&i));
                    Some(usize::from(place))
                }
                SeatStanding::Forfeited(place) => {
                    assert!(slow.forfeited.contains(&i));
                    Some(usize::from(place))
                }
            };
            assert_eq!(place, slow.places[i], "seat {i}");
        }
        assert_eq!(all, Cards::DECK, "54 cards");
        assert_eq!(public.order == Order::Reversed, slow.reversed);
        if !slow.over {
            let trick = public.trick.map(|t| (t.by.index(), t.play.cards()));
            let to_beat = slow.to_beat.as_ref().map(|(by, cards)| (*by, ours(cards)));
            assert_eq!(trick, to_beat);
            let turn = self.opened.then_some(Seat::new(slow.turn as u8));
            assert_eq!(public.turn, turn);
        }
    }

    /// The next step: a question, once what was done has been told, or the end.
    fn next(&mut self, moved: bool) -> Option<Outcome<Ending>> {
        let mut step = BigTwo::step(&mut self.state);
        if moved {
            let everybody = referee_core::Audience::Everybody;
            assert_eq!(step, Step::Tell(everybody, Notice::Move));
            step = BigTwo::step(&mut self.state);
        }
        match step {
            Step::Ask(asked) => {
                assert!(!self.slow.over);
                let turn = Seat::new(self.slow.turn as u8);
                assert_eq!(asked, [(turn, Question::Play)]);
                None
            }
            Step::Over(outcome) => {
                assert!(self.slow.over);
                Some(outcome)
            }
            Step::Tell(..) => panic!("there is nothing to tell: {step:?}"),
        }
    }

    fn take(&mut self, rng: &mut StdRng) {
        let seat = Seat::new(self.slow.turn as u8);
        let sight = self.state.observe(seat);
        let legal = BigTwo::legal(&sight, Question::Play);
        let leads = self.slow.to_beat.is_none();
        assert_eq!(legal.contains(&Move::Pass), !leads);
        for did in &legal {
            BigTwo::judge(&sight, Question::Play, did).expect("it is legal");
        }
        let did = choose(&legal, rng);
        match did {
            Move::Pass => self.slow.pass(),
            Move::Play(cards) => {
                assert!(self.slow.allows(&paper(cards)), "{cards:?}");
                self.remember(cards);
                self.slow.play(&paper(cards));
            }
        }
        self.opened = true;
        BigTwo::resolve(&mut self.state, &[(seat, did)]);
    }

    fn remember(&mut self, cards: Cards) {
        let read = readings(&paper(cards), self.slow.order());
        let &(kind, length, _, jokers) = read.first().expect("a play");
        match kind {
            3 => {
                self.count("a four of a kind");
                if jokers > 0 {
                    self.count("a four of a kind with jokers");
                }
                if self.slow.to_beat.is_some() && self.slow.reversal {
                    self.count("a four upon a four, in the new order");
                }
                if self.slow.reversed && self.slow.reversal {
                    self.count("an order turned back");
                }
            }
            4 => self.count(match length {
                3 => "a straight flush of 3",
                4 => "a straight flush of 4",
                5 => "a straight flush of 5",
                6 => "a straight flush of 6",
                _ => "a straight flush of 7 and more",
            }),
            _ => {}
        }
        if kind == 4 && self.slow.to_beat.is_some() {
            self.count("a straight flush upon another");
        }
        if self.slow.reversed && kind < 3 && self.slow.to_beat.is_some() {
            self.count("a play upon another in the reversed order");
        }
    }

    fn forfeit(&mut self, seat: usize) {
        let turn = self.slow.turn == seat;
        let leads = self.slow.to_beat.is_none();
        if turn && self.opened {
            self.count(if leads {
                "a forfeit of a leader"
            } else {
                "a forfeit that counts as a pass"
            });
        }
        if turn && !self.opened {
            self.count("♣3 lost by a forfeit");
        }
        let place = self.slow.forfeit(seat);
        self.count(match place {
            4 => "a forfeit that takes place 4",
            3 => "a forfeit that takes place 3",
            _ => "a forfeit that takes place 2",
        });
        let taken = BigTwo::forfeit(&mut self.state, Seat::new(seat as u8));
        assert_eq!(usize::from(taken), place);
    }

    fn leader_is_out(&self) -> bool {
        let by = self.slow.to_beat.as_ref().map(|(by, _)| *by);
        by.is_some_and(|by| !self.slow.in_play(by))
    }

    fn ends_as(&mut self, outcome: &Outcome<Ending>) {
        let (places, scores) = self.slow.result();
        let found: Vec<usize> = outcome.places.iter().map(|(_, p)| (*p).into()).collect();
        assert_eq!(found, places, "{outcome:?}");
        assert_eq!(outcome.scores.as_slice(), scores, "{outcome:?}");
        if self.slow.payout {
            assert_eq!(scores.iter().sum::<i32>(), 0);
            self.count("a round paid out");
            let mut shared = places;
            shared.sort_unstable();
            if shared.windows(2).any(|pair| pair[0] == pair[1]) {
                self.count("a place shared in a payout");
            }
            if !self.slow.forfeited.is_empty() {
                self.count("a payout with a forfeit");
            }
        }
        assert_eq!(BigTwo::step(&mut self.state), Step::Over(outcome.clone()));
    }
}

fn play(setup: &Setup, seed: u64, leavers: u32, rng: &mut StdRng) -> Counts {
    let mut round = Round::new(setup, seed);
    if leavers > 0 {
        for seat in 0..4 {
            if rng.random_range(0..6) == 0 && !round.slow.over {
                round.forfeit(seat);
            }
        }
    }
    let mut moved = false;
    loop {
        if round.slow.forfeited.len() < 4 {
            round.agrees();
        }
        if let Some(outcome) = round.next(moved) {
            round.ends_as(&outcome);
            return round.counts;
        }
        if leavers > 0 && rng.random_range(0..20) < leavers {
            round.forfeit(round.slow.turn);
            moved = false;
        } else {
            let out = round.leader_is_out();
            round.take(rng);
            moved = true;
            if out && round.slow.to_beat.is_none() && !round.slow.over {
                round.count("a lead by the seat after one that went out");
            }
        }
    }
}

#[test]
fn ten_thousand_rounds_go_as_the_page_says() {
    let mut rng = StdRng::seed_from_u64(4);
    let mut counts = Counts::new();
    for seed in 0..10_000_u64 {
        let taste = (seed % 4) as u32;
        let setup = Setup {
            scoring: if seed % 5 == 0 {
                Scoring::Payout
            } else {
                Scoring::Places
            },
            reversal: seed % 7 != 0,
            hands: (taste > 0).then(|| hands(taste % 3, &mut rng)),
        };
        let leavers = [0, 0, 1, 3][(seed / 4 % 4) as usize];
        for (what, n) in play(&setup, seed, leavers, &mut rng) {
            *counts.entry(what).or_default() += n;
        }
    }
    for (what, least) in [
        ("a four of a kind", 1500),
        ("a four of a kind with jokers", 500),
        ("a four upon a four, in the new order", 300),
        ("an order turned back", 300),
        ("a play upon another in the reversed order", 5000),
        ("a straight flush of 3", 4000),
        ("a straight flush of 4", 1000),
        ("a straight flush of 5", 300),
        ("a straight flush of 6", 100),
        ("a straight flush of 7 and more", 100),
        ("a straight flush upon another", 2000),
        ("a lead by the seat after one that went out", 1500),
        ("a forfeit of a leader", 1000),
        ("a forfeit that counts as a pass", 3000),
        ("♣3 lost by a forfeit", 700),
        ("a forfeit that takes place 4", 2500),
        ("a forfeit that takes place 3", 2000),
        ("a forfeit that takes place 2", 1500),
        ("a round paid out", 2000),
        ("a payout with a forfeit", 500),
        ("a place shared in a payout", 200),
    ] {
        let n = counts.get(what).copied().unwrap_or(0);
        assert!(n >= least, "{what}: {n}");
    }
}

#[test]
fn all_four_may_leave_before_the_first_question() {
    for scoring in [Scoring::Places, Scoring::Payout] {
        for absent in 1..16_usize {
            let setup = Setup {
                scoring,
                ..Setup::default()
            };
            let mut round = Round::new(&setup, absent as u64);
            for seat in (0..4).filter(|seat| absent >> seat & 1 == 1) {
                round.forfeit(seat);
            }
            if let Some(outcome) = round.next(false) {
                assert!(absent.count_ones() >= 3);
                round.ends_as(&outcome);
            } else {
                assert!(absent.count_ones() < 3);
            }
        }
    }
}

#[test]
fn the_first_plays_are_all_that_contain_the_three_of_clubs() {
    for seed in 0..40 {
        let round = Round::new(&Setup::default(), 1000 + seed);
        let hand = &round.slow.hands[round.slow.turn];
        let seat = Seat::new(round.slow.turn as u8);
        let legal = BigTwo::legal(&round.state.observe(seat), Question::Play);
        let mut expected = 0;
        for subset in 1_u32..1 << hand.len() {
            let cards: Vec<Paper> = (0..hand.len())
                .filter(|i| subset >> i & 1 == 1)
                .map(|i| hand[i])
                .collect();
            if round.slow.allows(&cards) {
                expected += 1;
                assert!(legal.contains(&Move::Play(ours(&cards))), "{cards:?}");
            }
        }
        assert_eq!(legal.len(), expected);
    }
}

/// As for every game, but with what can be chosen.
#[test]
fn nothing_leaks_whatever_was_chosen() {
    let left = |seat, place| referee_games::forfeit(seat, FoulKind::Crashed, place).to_vec();
    let mut rng = StdRng::seed_from_u64(5);
    for seed in 0..90_u8 {
        let setup = Setup {
            scoring: if seed % 2 == 0 {
                Scoring::Payout
            } else {
                Scoring::Places
            },
            reversal: seed % 5 != 0,
            hands: Some(hands(u32::from(seed) % 3, &mut rng)),
        };
        if let Err(why) = prove::<BigTwo>(&setup, &Seed::new([seed; 32]), left) {
            panic!("seed {seed}: {why}");
        }
    }
}

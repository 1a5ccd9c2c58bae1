//! The classic bots of Big Two beside a slow reading of their page, with whole
//! numbers nowhere and every hand scored card by card.

use std::{collections::BTreeMap, sync::LazyLock};

use house_bots::{ai1::lowest, ai2::least_outranked, ai3::lower_in_either};
use rand::{RngExt as _, SeedableRng as _, rngs::StdRng};
use referee_core::{Dice, Game as _, Outcome, Seat, Seed, Step};
use referee_games::big_two::{
    BigTwo, Card, Cards, Combination, CombinationKind, Ending, Move, Order, Public, Question,
    Rules, Scoring, Setup, View, plays,
};

/// Differences of rounding are none.
const NOTHING: f64 = 1e-9;

/// The properties of a natural card as the page says them, read off its name.
#[derive(Clone, Copy)]
struct Paper {
    /// From low to high in the normal order.
    height: usize,
    /// From the ace.
    face: usize,
    suit: char,
}

fn paper(card: Card) -> Paper {
    static ALL: LazyLock<Vec<Paper>> = LazyLock::new(|| {
        let place = |rank: &str, order: &str| order.split(' ').position(|other| other == rank);
        Card::all()
            .map(|card| {
                let mut name = card.to_string();
                let suit = name.pop().expect("a name");
                Paper {
                    height: place(&name, "3 4 5 6 7 8 9 10 J Q K A 2").unwrap_or(99),
                    face: place(&name, "A 2 3 4 5 6 7 8 9 10 J Q K").unwrap_or(99),
                    suit,
                }
            })
            .collect()
    });
    ALL[usize::from(card.index())]
}

fn height(card: Card, reversed: bool) -> usize {
    match paper(card).height {
        99 => 99,
        height if reversed => 12 - height,
        height => height,
    }
}

/// The card's part of a straight flush: some span of faces around it that the
/// hand's cards and jokers fill.
fn in_straight_flush(hand: Cards, card: Card) -> bool {
    let Paper { face, suit, .. } = paper(card);
    (3..=13).any(|length| {
        (0..=13 - length).any(|first| {
            let span = first..first + length;
            let there = hand
                .iter()
                .map(paper)
                .filter(|other| other.suit == suit && span.contains(&other.face))
                .count();
            let missing = length - there;
            span.contains(&face) && there >= 2 && missing <= usize::from(hand.jokers().len())
        })
    })
}

/// The score of a hand and how many of its cards score above 0.06.
fn score(hand: Cards, unseen: Cards, reversed: bool) -> (f64, usize) {
    let mut sum = 0.0;
    let mut count = 0;
    for card in hand.iter().filter(|card| !card.is_joker()) {
        let own = height(card, reversed);
        let above = unseen
            .iter()
            .filter(|other| height(*other, reversed) > own)
            .count();
        let mut score = above as f64 / f64::from(unseen.len()).max(1.0);
        let of_rank = hand
            .iter()
            .filter(|other| other.is_joker() || height(*other, reversed) == own)
            .count();
        for (size, factor) in [(2, 1.0 / 2.0), (3, 1.0 / 3.0), (4, 1.0 / 4.0)] {
            if of_rank >= size {
                score *= factor;
            }
        }
        if in_straight_flush(hand, card) {
            score /= 3.5;
        }
        sum += score;
        count += usize::from(score > 0.06 + NOTHING);
    }
    (sum, count)
}

fn scored(view: &View, cards: Cards) -> (f64, usize) {
    let four = Combination::of(cards).expect("a play").kind() == CombinationKind::Four;
    let reversed = (view.public.order == Order::Reversed) != (four && view.public.rules.reversal);
    let mut unseen = Cards::DECK - view.hand;
    for &played in &view.public.played {
        unseen -= played;
    }
    score(view.hand - cards, unseen, reversed)
}

/// The lowest score, the first of equals.
fn slow_ai2(view: &View, legal: &[Move]) -> Move {
    let mut best = (Move::Pass, f64::INFINITY);
    for &did in legal {
        if let Move::Play(cards) = did {
            let (sum, _) = scored(view, cards);
            if sum < best.1 - NOTHING {
                best = (did, sum);
            }
        }
    }
    best.0
}

/// Replaces its best whenever either figure is lower.
fn slow_ai3(view: &View, legal: &[Move]) -> Move {
    let mut best = (Move::Pass, (f64::INFINITY, usize::MAX));
    for &did in legal {
        if let Move::Play(cards) = did {
            let (sum, count) = scored(view, cards);
            if sum < best.1.0 - NOTHING || count < best.1.1 {
                best = (did, (sum, count));
            }
        }
    }
    best.0
}

type Decide = fn(&View, &[Move]) -> Move;

fn ai1(_: &View, legal: &[Move]) -> Move {
    lowest(legal)
}

/// Plays one deal; each decision is shown before it is carried out.
fn play(
    setup: &Setup,
    seed: u64,
    bots: [Decide; 4],
    mut show: impl FnMut(&View, &[Move], Move),
) -> Outcome<Ending> {
    let mut bytes = [7; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut state = BigTwo::deal(setup, &mut Dice::new(&Seed::new(bytes)));
    loop {
        match BigTwo::step(&mut state) {
            Step::Tell(..) => {}
            Step::Over(outcome) => return outcome,
            Step::Ask(asked) => {
                let seat = asked[0].0;
                let legal = BigTwo::legal(&state.observe(seat), Question::Play);
                let view = View {
                    seat,
                    public: state.public.clone(),
                    hand: state.private[seat],
                };
                let did = bots[seat.index()](&view, &legal);
                assert!(legal.contains(&did));
                show(&view, &legal, did);
                BigTwo::resolve(&mut state, &[(seat, did)]);
            }
        }
    }
}

fn random(view: &View, legal: &[Move]) -> Move {
    let seed = view.public.all_played().bits() ^ view.hand.bits();
    legal[StdRng::seed_from_u64(seed).random_range(0..legal.len())]
}

/// Hands in which every rank is with one seat, or nearly.
fn fours(seed: u64) -> Setup {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut deck: Vec<Card> = Card::all().collect();
    let turn = 4 * rng.random_range(0..13);
    deck[..52].rotate_left(turn);
    for _ in 0..6 {
        let (a, b) = (rng.random_range(0..54), rng.random_range(0..54));
        deck.swap(a, b);
    }
    let mut hands = [Cards::NONE; 4];
    for (i, card) in deck.into_iter().enumerate() {
        let seat = if i < 52 { i / 4 % 4 } else { 4 - i % 2 - 1 };
        hands[seat].insert(card);
    }
    // Thirteen ranks: the first seat has sixteen cards, which is too many.
    while let Some(many) = (0..4).find(|&seat| hands[seat].len() > 14) {
        let few = (0..4)
            .min_by_key(|&seat| hands[seat].len())
            .expect("four hands");
        let card = hands[many].last().expect("many cards");
        hands[many] -= card.into();
        hands[few].insert(card);
    }
    let setup = Setup {
        hands: Some(hands),
        ..Setup::default()
    };
    BigTwo::validate(&setup).expect("a deal");
    setup
}

#[test]
fn ai2_and_ai3_decide_as_a_slow_reading_of_their_page() {
    let mut decisions = BTreeMap::new();
    for seed in 0..90 {
        let bots = [random, lower_in_either, least_outranked, lower_in_either];
        let setup = if seed % 3 == 0 {
            Setup::default()
        } else {
            fours(seed)
        };
        play(&setup, seed, bots, |view, legal, did| {
            if view.seat.index() == 0 {
                return;
            }
            if did == Move::Pass {
                assert_eq!(legal, [Move::Pass], "it passed, though it could play");
                return;
            }
            let slow = [slow_ai2, slow_ai3].map(|slow| slow(view, legal));
            assert_eq!(did, slow[view.seat.index() % 2], "{view:?}");
            let mut count = |what, so: bool| *decisions.entry(what).or_insert(0) += u32::from(so);
            count("in all", true);
            count("different", slow[0] != slow[1]);
            count("reversed", view.public.order == Order::Reversed);
            count(
                "reversing",
                matches!(did, Move::Play(cards) if Combination::of(cards).is_some_and(Combination::reverses)),
            );
        });
    }
    assert!(decisions["in all"] > 1000, "{decisions:?}");
    assert!(decisions["different"] > 100, "{decisions:?}");
    assert!(decisions["reversed"] > 100, "{decisions:?}");
    assert!(decisions["reversing"] > 20, "{decisions:?}");
}

fn view(hand: &str, order: Order, seen: &str) -> View {
    let hand: Cards = hand.parse().expect("cards");
    let rules = Rules {
        scoring: Scoring::Places,
        reversal: true,
    };
    let mut public = Public::beginning(rules, [hand.len(), 5, 5, 5]);
    public.order = order;
    public.played[1] = seen.parse().expect("cards");
    View {
        seat: Seat::new(0),
        public,
        hand,
    }
}

fn leads(view: &View) -> Vec<Move> {
    plays(view.hand, None, view.public.order)
        .into_iter()
        .map(Move::Play)
        .collect()
}

fn played(did: Move) -> String {
    match did {
        Move::Play(cards) => cards.to_string(),
        Move::Pass => "pass".to_owned(),
    }
}

#[test]
fn ai1_plays_the_lowest_with_the_fewest_jokers() {
    let normal = view("4C 4D 9C JK1", Order::Normal, "");
    assert_eq!(played(lowest(&leads(&normal))), "4C");
    let reversed = view("4C 4D 9C JK1", Order::Reversed, "");
    assert_eq!(played(lowest(&leads(&reversed))), "9C");
    let upon = |hand: &str, below: &str| {
        let to_beat = Combination::of(below.parse().expect("cards"));
        let mut legal: Vec<Move> = plays(hand.parse().expect("cards"), to_beat, Order::Normal)
            .into_iter()
            .map(Move::Play)
            .collect();
        legal.push(Move::Pass);
        played(lowest(&legal))
    };
    assert_eq!(upon("4C 9C 9D JK1", "3C 3D"), "4C JK1");
    assert_eq!(upon("9C 9D JK1", "3C 3D"), "9C 9D");
    assert_eq!(upon("9C JK1", "10C"), "JK1");
    assert_eq!(upon("9C 10C", "JC"), "pass");
}

/// Unseen are 4C 6C 6D alone, as in the page's example: without the fives 3 3
/// stay and score 1; without a three 3 and 5 score 1 + 2/3.
#[test]
fn ai2_leaves_the_lowest_score() {
    let seen = Cards::DECK - "3C 3D 5C 4C 6C 6D".parse().expect("cards");
    let view = view("3C 3D 5C", Order::Normal, &seen.to_string());
    let expected = [("3C", 5.0 / 3.0), ("5C", 1.0), ("3C 3D", 2.0 / 3.0)];
    for (cards, sum) in expected {
        let (found, _) = scored(&view, cards.parse().expect("cards"));
        assert!((found - sum).abs() < NOTHING, "{cards}: {found}");
    }
    assert_eq!(played(least_outranked(&view, &leads(&view))), "3C 3D");
}

/// Mean places over a few hundred deals, each played from all four seatings.
#[test]
fn the_classic_bots_come_out_in_front_of_random_play() {
    let bots: [(&str, Decide); 4] = [
        ("random", random),
        ("ai1", ai1),
        ("ai2", least_outranked),
        ("ai3", lower_in_either),
    ];
    let deals = 300;
    let mut sums = [0.0; 4];
    for seed in 0..deals {
        for turn in 0..4 {
            let seated = [0, 1, 2, 3].map(|seat| bots[(seat + turn) % 4].1);
            let outcome = play(&Setup::default(), 1000 + seed, seated, |_, _, _| {});
            for (seat, place) in outcome.places.iter() {
                sums[(seat.index() + turn) % 4] += f64::from(*place);
            }
        }
    }
    let means: BTreeMap<&str, f64> = bots
        .iter()
        .zip(sums)
        .map(|((name, _), sum)| (*name, sum / (4 * deals) as f64))
        .collect();
    assert!(
        bots[1..]
            .iter()
            .all(|(name, _)| means[name] < means["random"] - 0.5),
        "{means:?}"
    );
}

//! `ai4` in whole rounds by the rules crate, and its models beside the bots that they are of.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ai4::{
    BigTwoRound, CardSet, PublicRound, RoundOptions, Style, Top, worth::MoveWeights,
    worth::SeatSight,
};
use house_bots::{
    ai1::lowest,
    ai2::least_outranked,
    ai3::lower_in_either,
    ai4::{Ai4Player, PlayerOptions},
};
use referee_core::{Dice, Game as _, Seat, Seed, State, Step};
use referee_games::big_two::{BigTwo, Cards, Move, Order, Question, Scoring, Setup, View};

type Decide = fn(&View, &[Move]) -> Move;

const CLASSIC: [(Decide, Style); 3] = [
    (|_, legal| lowest(legal), Style::Lowest),
    (least_outranked, Style::LeastOutranked),
    (lower_in_either, Style::LowerInEither),
];

fn view(state: &State<BigTwo>, seat: usize) -> View {
    let seat = Seat::new(seat as u8);
    View {
        seat,
        public: state.public.clone(),
        hand: state.private[seat],
    }
}

fn set(cards: Cards) -> CardSet {
    CardSet::from_bits(cards.bits())
}

/// Plays a deal; `told` hears each notice, `answer` decides.
fn play(
    setup: &Setup,
    seed: u8,
    mut told: impl FnMut(&State<BigTwo>),
    mut answer: impl FnMut(&State<BigTwo>, usize, &[Move]) -> Move,
) {
    let mut state = BigTwo::deal(setup, &mut Dice::new(&Seed::new([seed; 32])));
    loop {
        match BigTwo::step(&mut state) {
            Step::Tell(..) => told(&state),
            Step::Over(_) => return,
            Step::Ask(asked) => {
                let seat = asked[0].0;
                let legal = BigTwo::legal(&state.observe(seat), Question::Play);
                let did = answer(&state, seat.index(), &legal);
                assert!(legal.contains(&did), "{did:?} of {legal:?}");
                BigTwo::resolve(&mut state, &[(seat, did)]);
            }
        }
    }
}

#[test]
fn the_models_decide_as_the_bots_do() {
    let weights = MoveWeights::embedded();
    let mut room = Vec::new();
    let mut decisions = 0;
    for seed in 0..60 {
        play(
            &Setup::default(),
            seed,
            |_| {},
            |state, seat, legal| {
                let public = &state.public;
                let mut table = PublicRound::new(RoundOptions::default(), seat);
                table.reversed = public.order == Order::Reversed;
                table.top = public.trick.map(|trick| Top {
                    by: trick.by.index(),
                    cards: set(trick.play.cards()),
                });
                let hands = [0, 1, 2, 3].map(|seat| set(state.private[Seat::new(seat)]));
                let seen = SeatSight::of(&BigTwoRound { table, hands });
                let view = view(state, seat);
                let mut did = Move::Pass;
                for (turn, (bot, style)) in CLASSIC.into_iter().enumerate() {
                    let theirs = bot(&view, legal);
                    let cards = style.choose(&seen, &weights, &mut room);
                    let expected = match theirs {
                        Move::Play(cards) => set(cards),
                        Move::Pass => CardSet::NONE,
                    };
                    assert_eq!(cards, expected, "{style:?} {view:?}");
                    decisions += 1;
                    if turn == (seat + usize::from(seed)) % 3 {
                        did = theirs;
                    }
                }
                did
            },
        );
    }
    assert!(decisions > 5_000, "{decisions}");
}

/// The moves of four players with this SPEC.
fn rounds(spec: &str, setup: &Setup, limit: Duration, late: Duration) -> Vec<Move> {
    let options = PlayerOptions::parse(spec).expect("a spec");
    let weights = Arc::new(MoveWeights::embedded());
    let mut moves = Vec::new();
    for seed in 0..3 {
        let players: Vec<_> = (0..4)
            .map(|seat| Ai4Player::new(options, Arc::clone(&weights), seat))
            .map(std::cell::RefCell::new)
            .collect();
        play(
            setup,
            seed,
            |state| {
                for (seat, player) in players.iter().enumerate() {
                    player.borrow_mut().told(&view(state, seat));
                }
            },
            |state, seat, _| {
                let began = Instant::now();
                let did = players[seat].borrow_mut().choose(&view(state, seat), limit);
                assert!(began.elapsed() < late, "{:?}", began.elapsed());
                moves.push(did);
                did
            },
        );
    }
    moves
}

const MINUTE: Duration = Duration::from_secs(60);

#[test]
fn rounds_of_ai4_are_legal_and_repeat_with_a_fixed_amount_of_work() {
    let payout = Setup {
        scoring: Scoring::Payout,
        ..Setup::default()
    };
    let straight = Setup {
        reversal: false,
        ..Setup::default()
    };
    for setup in [Setup::default(), payout, straight] {
        let first = rounds("ai4?level=3", &setup, MINUTE, MINUTE);
        assert_eq!(first, rounds("ai4?level=3", &setup, MINUTE, MINUTE));
    }
}

/// With much room for a busy machine: a search that does not look at the clock would not end.
#[test]
fn a_search_without_other_limits_ends_by_the_clock() {
    let limit = Duration::from_millis(100);
    let moves = rounds("ai4", &Setup::default(), limit, 300 * limit);
    assert!(moves.contains(&Move::Pass));
}

/// Questions to seats with both jokers, judged by a player that was told all of the round at once, as
/// an analysis does.
#[test]
fn every_legal_move_has_a_value_for_every_seat() {
    let options = PlayerOptions::parse("ai4?playouts=100").unwrap();
    let weights = Arc::new(MoveWeights::embedded());
    let jokers = Cards::from_bits(CardSet::JOKERS.bits());
    let mut judged = 0;
    for seed in 0..20 {
        let told = std::cell::RefCell::new(Vec::new());
        play(
            &Setup::default(),
            seed,
            |state| told.borrow_mut().push(state.clone()),
            |state, seat, legal| {
                let own = view(state, seat);
                let alone = |cards: &Move| match cards {
                    Move::Play(cards) => cards.len() == 1 && *cards - jokers == Cards::NONE,
                    Move::Pass => false,
                };
                let alike: Vec<_> = (0..legal.len()).filter(|&at| alone(&legal[at])).collect();
                if judged == 4 || alike.len() < 2 {
                    return lowest(legal);
                }
                let values = || {
                    let mut player = Ai4Player::new(options, Arc::clone(&weights), 1);
                    for state in told.borrow().iter() {
                        player.told(&view(state, seat));
                    }
                    player.prospects(&own, legal)
                };
                let found = values();
                assert_eq!(found.len(), legal.len());
                assert_eq!(found, values(), "the same again");
                let mut shares = found.iter().flatten();
                assert!(shares.all(|share| (0.0..=1.0).contains(share)));
                let sum: f64 = found[0].iter().sum();
                assert!(sum > 0.0, "a move was not judged");
                assert_eq!(found[alike[0]], found[alike[1]], "jokers are alike");
                judged += 1;
                lowest(legal)
            },
        );
    }
    assert_eq!(judged, 4);
}

//! `ai4` in whole rounds by the rules crate, and its models beside the bots that they are of.

use std::{
    sync::Arc,
    time::{Duration, Instant},
};

use ai4::{CardSet, Options, Round, Style, Table, Top, worth::Seen, worth::Weights};
use house_bots::{
    ai1::lowest,
    ai2::least_outranked,
    ai3::lower_in_either,
    ai4::{Player, PlayerOptions},
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
    let weights = Weights::embedded();
    let mut room = Vec::new();
    let mut decisions = 0;
    for seed in 0..60 {
        play(
            &Setup::default(),
            seed,
            |_| {},
            |state, seat, legal| {
                let public = &state.public;
                let mut table = Table::new(Options::default(), seat);
                table.reversed = public.order == Order::Reversed;
                table.top = public.trick.map(|trick| Top {
                    by: trick.by.index(),
                    cards: set(trick.play.cards()),
                });
                let hands = [0, 1, 2, 3].map(|seat| set(state.private[Seat::new(seat)]));
                let seen = Seen::of(&Round { table, hands });
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

/// What four players with this SPEC play.
fn rounds(spec: &str, setup: &Setup, limit: Duration, late: Duration) -> Vec<Move> {
    let options = PlayerOptions::parse(spec).expect("a spec");
    let weights = Arc::new(Weights::embedded());
    let mut moves = Vec::new();
    for seed in 0..3 {
        let players: Vec<_> = (0..4)
            .map(|seat| Player::new(options, Arc::clone(&weights), seat))
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

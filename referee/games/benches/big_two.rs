//! The time to find the plays of a hand, and the number of random rounds that
//! one core plays.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use rand::{RngExt as _, SeedableRng as _, rngs::StdRng, seq::SliceRandom as _};
use referee_core::{Dice, Game as _, Seat, Seed, Step, Wire as _};
use referee_games::big_two::{BigTwo, Card, Cards, Combination, Notice, Order, Setup, plays};

const TIME: Duration = Duration::from_millis(500);

fn main() {
    println!("\nReversal Big Two, one core\n");
    println!("| plays of | hands | plays each | µs each |");
    println!("| --- | ---: | ---: | ---: |");
    let mut rng = StdRng::seed_from_u64(1);
    let hands = |jokers: Cards, rng: &mut StdRng| -> Vec<Cards> {
        (0..1000)
            .map(|_| {
                let mut deck: Vec<Card> = Cards::DECK.naturals().iter().collect();
                deck.shuffle(rng);
                deck.truncate(14 - usize::from(jokers.len()));
                deck.into_iter().collect::<Cards>() | jokers
            })
            .collect()
    };
    let one = Cards::from(Cards::JOKERS.first().expect("two jokers"));
    let with_two = hands(Cards::JOKERS, &mut rng);
    row("14 cards, leading", &hands(Cards::NONE, &mut rng), None);
    row("14 with a joker, leading", &hands(one, &mut rng), None);
    row("14 with two jokers, leading", &with_two, None);
    let suit = "3S 4S 5S 6S 7S 8S 9S 10S JS QS KS AS".parse::<Cards>();
    let suit = suit.expect("cards") | Cards::JOKERS;
    row("twelve of a suit, two jokers, leading", &[suit], None);
    for (what, cards) in [
        ("14 with two jokers, upon a single", "3C"),
        ("14 with two jokers, upon a pair", "3C 3D"),
        ("14 with two jokers, upon a straight flush", "3C 4C 5C"),
    ] {
        let to_beat = Combination::of(cards.parse().expect("cards"));
        row(what, &with_two, to_beat);
    }

    let (rounds, answers) = rounds(false);
    let (whole, _) = self::rounds(true);
    println!("\n| random rounds | a second | answers a round |");
    println!("| --- | ---: | ---: |");
    println!("| rules alone | {rounds:.0} | {answers:.0} |");
    println!("| with every message written and read | {whole:.0} | {answers:.0} |");
}

fn row(what: &str, hands: &[Cards], to_beat: Option<Combination>) {
    let (mut count, mut found) = (0_u64, 0);
    let began = Instant::now();
    while began.elapsed() < TIME {
        for &hand in hands {
            count += 1;
            found += black_box(plays(black_box(hand), to_beat, Order::Normal)).len();
        }
    }
    let each = began.elapsed().as_secs_f64() * 1e6 / count as f64;
    let plays = found as f64 / count as f64;
    println!("| {what} | {} | {plays:.1} | {each:.2} |", hands.len());
}

/// Rounds a second, and how many answers one takes.
fn rounds(messages: bool) -> (f64, f64) {
    let mut rng = StdRng::seed_from_u64(2);
    let (mut rounds, mut answers) = (0_u64, 0_u64);
    let began = Instant::now();
    while began.elapsed() < 4 * TIME {
        let mut seed = [0; 32];
        seed[..8].copy_from_slice(&rounds.to_le_bytes());
        let mut state = BigTwo::deal(&Setup::default(), &mut Dice::new(&Seed::new(seed)));
        let mut bytes = Vec::with_capacity(256);
        loop {
            match BigTwo::step(&mut state) {
                Step::Over(_) => break,
                Step::Tell(_, notice) => {
                    if messages {
                        tell(&state, notice, &mut bytes);
                    }
                }
                Step::Ask(asked) => {
                    let (seat, question) = asked[0];
                    let sight = state.observe(seat);
                    let legal = BigTwo::legal(&sight, question);
                    let mut answer = legal[rng.random_range(0..legal.len())];
                    if messages {
                        bytes.clear();
                        BigTwo::write_question(&sight, question, &mut bytes);
                        bytes.clear();
                        BigTwo::write_answer(&answer, &mut bytes);
                        answer = BigTwo::read_answer(question, &bytes).expect("it was written");
                    }
                    BigTwo::judge(&sight, question, &answer).expect("it is legal");
                    BigTwo::resolve(&mut state, &[(seat, answer)]);
                    answers += 1;
                }
            }
        }
        rounds += 1;
    }
    let seconds = began.elapsed().as_secs_f64();
    (rounds as f64 / seconds, answers as f64 / rounds as f64)
}

fn tell(state: &referee_core::State<BigTwo>, notice: Notice, bytes: &mut Vec<u8>) {
    for seat in Seat::all(BigTwo::INFO.seats) {
        bytes.clear();
        BigTwo::write_notice(&state.observe(seat), notice, bytes);
        black_box(&bytes);
    }
}

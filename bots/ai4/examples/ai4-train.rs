//! Learns what a move is worth at first sight from rounds that it plays: a linear function of a
//! move's features is fitted to the points at the end of the round, by stochastic gradients, while
//! its own greatest worth, with errors, is what it plays. The same arguments give the same file.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program"
)]

use std::{fs, path::PathBuf, process::ExitCode};

use ai4::{
    BigTwoRound, CardSet, PublicRound, RoundOptions, SEATS, Style,
    worth::{FEATURES, MODES, MoveFeatures, MoveWeights, SIZES, SeatSight, place},
};
use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;

/// Learns the weights of `worth.rs`.
#[derive(Parser)]
struct Arguments {
    /// The file that the weights are written to
    file: PathBuf,
    /// How many rounds are played
    #[arg(long, default_value_t = 800_000)]
    rounds: u64,
    /// What rounds are drawn from
    #[arg(long, default_value_t = 5)]
    seed: u64,
    /// A file of weights to begin with
    #[arg(long)]
    from: Option<PathBuf>,
}

/// Number of rounds that test the play with the weights.
const TRIALS: u32 = 4_000;

/// The player at a seat.
#[derive(Clone, Copy, PartialEq)]
enum Player {
    Style(Style),
    Learner,
}

/// A move of a learner: its seat, where its weights are, and its features.
struct Step {
    seat: usize,
    mode: usize,
    size: usize,
    features: MoveFeatures,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    match learn(&arguments) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn learn(arguments: &Arguments) -> Result<(), String> {
    let mut weights = match &arguments.from {
        None => MoveWeights::zero(),
        Some(path) => {
            let bytes = fs::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
            MoveWeights::from_bytes(&bytes)
                .ok_or_else(|| format!("{}: no weights", path.display()))?
        }
    };
    let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
    // The squares of the gradients so far, as in Adagrad.
    let mut squares = Box::new([[[1e-3_f32; FEATURES]; SIZES]; MODES]);
    for number in 0..arguments.rounds {
        let done = number as f32 / arguments.rounds as f32;
        let (round, steps) = play(&weights, 0.10 * (1.0 - done) + 0.01, &mut rng);
        let rate = 0.02 * (1.0 - done) + 0.002;
        for step in steps {
            let weights = &mut weights.0[step.mode][step.size];
            let squares = &mut squares[step.mode][step.size];
            let found: f32 = weights.iter().zip(&step.features).map(|(a, b)| a * b).sum();
            let error = round.points(step.seat) as f32 - found;
            for index in 0..FEATURES {
                let gradient = error * step.features[index];
                if gradient != 0.0 {
                    squares[index] += gradient * gradient * 1e-3;
                    weights[index] += rate * gradient / (squares[index].sqrt() + 0.05);
                }
            }
        }
        if (number + 1) % (arguments.rounds / 10).max(1) == 0 {
            println!(
                "{} rounds: mean place {:.3} among ai2, {:.3} among ai2 and ai3",
                number + 1,
                mean_place(&weights, false),
                mean_place(&weights, true)
            );
        }
    }
    let bytes = weights.to_bytes();
    fs::write(&arguments.file, bytes)
        .map_err(|error| format!("{}: {error}", arguments.file.display()))
}

/// A round, and what the learners did in it.
fn play(weights: &MoveWeights, errors: f32, rng: &mut ChaCha8Rng) -> (BigTwoRound, Vec<Step>) {
    let mut round = deal(rng);
    let players: [Player; SEATS] = std::array::from_fn(|_| match rng.random_range(0..10) {
        0..3 => Player::Style(Style::LeastOutranked),
        3..5 => Player::Style(Style::LowerInEither),
        _ => Player::Learner,
    });
    let mut steps = Vec::new();
    let mut room = Vec::new();
    while !round.table.is_over() {
        let seat = round.table.turn;
        let seen = SeatSight::of(&round);
        let cards = match players[seat] {
            Player::Style(style) => style.choose(&seen, weights, &mut room),
            Player::Learner => {
                let mut cards = weights.choose(&seen, &mut room);
                if room.len() > 1 && rng.random::<f32>() < errors {
                    cards = room[rng.random_range(0..room.len())];
                }
                let (mode, size) = place(&seen.question, cards);
                let features = seen.features(cards);
                steps.push(Step {
                    seat,
                    mode,
                    size,
                    features,
                });
                cards
            }
        };
        round.take(cards);
    }
    (round, steps)
}

/// The mean place of one learner, without errors, on deals that it does not learn from.
fn mean_place(weights: &MoveWeights, mixed: bool) -> f64 {
    let mut rng = ChaCha8Rng::seed_from_u64(999);
    let mut room = Vec::new();
    let mut sum = 0.0;
    for number in 0..TRIALS {
        let mut round = deal(&mut rng);
        let own = (number % 4) as usize;
        let players: [Player; SEATS] = std::array::from_fn(|seat| {
            if seat == own {
                Player::Learner
            } else if !mixed || rng.random_range(0..2) == 0 {
                Player::Style(Style::LeastOutranked)
            } else {
                Player::Style(Style::LowerInEither)
            }
        });
        while !round.table.is_over() {
            let style = match players[round.table.turn] {
                Player::Learner => Style::MostWorth,
                Player::Style(style) => style,
            };
            let cards = style.choose(&SeatSight::of(&round), weights, &mut room);
            round.take(cards);
        }
        sum += f64::from(4 - round.points(own));
    }
    sum / f64::from(TRIALS)
}

fn deal(rng: &mut ChaCha8Rng) -> BigTwoRound {
    let mut deck: Vec<u8> = (0..54).collect();
    for last in (1..54).rev() {
        let other = rng.random_range(0..=last);
        deck.swap(last, other);
    }
    let mut hands = [CardSet::NONE; SEATS];
    for (index, card) in deck.into_iter().enumerate() {
        hands[index % SEATS] |= CardSet::from_bits(1 << card);
    }
    let opens = |seat: &usize| hands[*seat].contains_all(CardSet::THREE_OF_CLUBS);
    let opener = (0..SEATS).find(opens).unwrap_or(0);
    BigTwoRound {
        table: PublicRound::new(RoundOptions::default(), opener),
        hands,
    }
}

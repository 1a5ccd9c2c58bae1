//! Plays one bot of Big Two among three others in this process, every deal from all four seats, and
//! says its mean place and how often it is first, with standard errors over the deals.
//!
//! A bot is `ai1`, `ai2`, `ai3`, `random`, or `ai4` with its parameters: `ai4?time=50ms`.

use std::{
    process::ExitCode,
    sync::Arc,
    time::{Duration, Instant},
};

use ai4::worth::Weights;
use clap::Parser;
use house_bots::{
    ai1::lowest,
    ai2::least_outranked,
    ai3::lower_in_either,
    ai4::{Player, PlayerOptions},
};
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use referee_core::{Dice, Game as _, Seat, Seed, Step};
use referee_games::big_two::{BigTwo, Move, Question, Scoring, Setup, View};

/// Plays one bot of Big Two among three others.
#[derive(Parser)]
struct Arguments {
    /// The bot whose places are told
    bot: String,
    /// The three others, in the order in which they sit after it
    #[arg(num_args = 3, required = true)]
    others: Vec<String>,
    /// How many deals, each played from all four seats
    #[arg(long, default_value_t = 400)]
    deals: u64,
    /// What deals are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The limit for a move in milliseconds, which no bot may exceed
    #[arg(long, default_value_t = 10_000)]
    limit: u64,
    /// Scores by payout instead of places
    #[arg(long)]
    payout: bool,
    /// Tells how each deal went
    #[arg(long)]
    verbose: bool,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let mut specs = vec![arguments.bot.clone()];
    specs.extend(arguments.others.iter().cloned());
    let specs: Vec<Spec> = match specs.iter().map(|text| Spec::read(text)).collect() {
        Ok(specs) => specs,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::from(2);
        }
    };
    let setup = Setup {
        scoring: if arguments.payout {
            Scoring::Payout
        } else {
            Scoring::Places
        },
        ..Setup::default()
    };
    let weights = Arc::new(Weights::embedded());
    let limit = Duration::from_millis(arguments.limit);
    let mut clocks = vec![Clock::default(); 4];
    let mut places: Vec<[f64; 4]> = Vec::new();
    let mut firsts: Vec<f64> = Vec::new();
    let mut points: Vec<f64> = Vec::new();
    for deal in 0..arguments.deals {
        let mut place = [0.0; 4];
        let (mut first, mut point) = (0.0, 0.0);
        for turn in 0..4 {
            let result = play(
                &setup,
                (arguments.seed, deal),
                turn,
                (&specs, &weights),
                limit,
                &mut clocks,
            );
            for (bot, (at, _)) in result.iter().enumerate() {
                place[bot] += f64::from(*at) / 4.0;
            }
            first += f64::from(u8::from(result[0].0 == 1)) / 4.0;
            point += f64::from(result[0].1) / 4.0;
        }
        places.push(place);
        firsts.push(first);
        points.push(point);
        if arguments.verbose {
            println!("deal {deal}: {place:?}");
        }
    }
    let own: Vec<f64> = places.iter().map(|place| place[0]).collect();
    let (mean, error) = mean_and_error(&own);
    let (first, first_error) = mean_and_error(&firsts);
    let (point, point_error) = mean_and_error(&points);
    println!(
        "{} among {}: {} deals from all seats, seed {}",
        arguments.bot,
        arguments.others.join(", "),
        arguments.deals,
        arguments.seed
    );
    println!(
        "  mean place {mean:.3} ± {error:.3}, first {:.1} % ± {:.1}, points {point:.3} ± {point_error:.3} (standard errors)",
        100.0 * first,
        100.0 * first_error
    );
    for (bot, (spec, clock)) in specs.iter().zip(&clocks).enumerate() {
        let own: Vec<f64> = places.iter().map(|place| place[bot]).collect();
        println!(
            "  {}: mean place {:.3}, {:.2} ms a move, {:.2} ms at most, {} moves",
            spec.text,
            mean_and_error(&own).0,
            clock.total.as_secs_f64() * 1000.0 / f64::from(clock.moves.max(1)),
            clock.longest.as_secs_f64() * 1000.0,
            clock.moves
        );
    }
    ExitCode::SUCCESS
}

/// The mean and its standard error.
fn mean_and_error(values: &[f64]) -> (f64, f64) {
    let count = values.len() as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0) / count).sqrt())
}

/// A bot as it was asked for.
struct Spec {
    text: String,
    kind: Kind,
}

#[derive(Clone, Copy)]
enum Kind {
    Random,
    Simple(fn(&View, &[Move]) -> Move),
    Ai4(PlayerOptions),
}

impl Spec {
    fn read(text: &str) -> Result<Self, String> {
        let kind = match text {
            "random" => Kind::Random,
            "ai1" => Kind::Simple(|_, legal| lowest(legal)),
            "ai2" => Kind::Simple(least_outranked),
            "ai3" => Kind::Simple(lower_in_either),
            _ => Kind::Ai4(PlayerOptions::parse(text).map_err(|error| error.to_string())?),
        };
        Ok(Self {
            text: text.to_owned(),
            kind,
        })
    }
}

/// A bot in one game.
enum Sitting {
    Random(Box<ChaCha8Rng>),
    Simple(fn(&View, &[Move]) -> Move),
    Ai4(Box<Player>),
}

/// How long a bot has thought.
#[derive(Clone, Default)]
struct Clock {
    total: Duration,
    longest: Duration,
    moves: u32,
}

/// Plays one deal, the bots turned by so many seats. The place and the points of each bot.
fn play(
    setup: &Setup,
    (seed, deal): (u64, u64),
    turn: usize,
    (specs, weights): (&[Spec], &Arc<Weights>),
    limit: Duration,
    clocks: &mut [Clock],
) -> [(u8, i32); 4] {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    bytes[8..16].copy_from_slice(&deal.to_le_bytes());
    let mut state = BigTwo::deal(setup, &mut Dice::new(&Seed::new(bytes)));
    let bot_at = |seat: usize| (seat + turn) % 4;
    // What a bot draws at random has nothing to do with the deal.
    let mut sitting: Vec<Sitting> = (0..4)
        .map(|seat| {
            let seed = seed ^ deal.rotate_left(20) ^ (seat as u64) << 50 ^ 0x5eed;
            match specs[bot_at(seat)].kind {
                Kind::Random => Sitting::Random(Box::new(ChaCha8Rng::seed_from_u64(seed))),
                Kind::Simple(decide) => Sitting::Simple(decide),
                Kind::Ai4(options) => {
                    Sitting::Ai4(Box::new(Player::new(options, Arc::clone(weights), seed)))
                }
            }
        })
        .collect();
    loop {
        let asked = match BigTwo::step(&mut state) {
            Step::Tell(..) => {
                for (seat, sitting) in sitting.iter_mut().enumerate() {
                    if let Sitting::Ai4(player) = sitting {
                        player.told(&view(&state, seat));
                    }
                }
                continue;
            }
            Step::Over(outcome) => {
                let mut results = [(0, 0); 4];
                for (seat, place) in outcome.places.iter() {
                    results[bot_at(seat.index())] = (*place, outcome.scores[seat]);
                }
                return results;
            }
            Step::Ask(asked) => asked,
        };
        let seat = asked[0].0;
        let own = view(&state, seat.index());
        let legal = BigTwo::legal(&state.observe(seat), Question::Play);
        let began = Instant::now();
        let did = match &mut sitting[seat.index()] {
            Sitting::Random(rng) => legal[rng.random_range(0..legal.len())],
            Sitting::Simple(decide) => decide(&own, &legal),
            Sitting::Ai4(player) => player.choose(&own, limit),
        };
        let clock = &mut clocks[bot_at(seat.index())];
        clock.total += began.elapsed();
        clock.longest = clock.longest.max(began.elapsed());
        clock.moves += 1;
        assert!(legal.contains(&did), "{did:?} in {own:?}");
        BigTwo::resolve(&mut state, &[(seat, did)]);
    }
}

/// What a seat knows.
fn view(state: &referee_core::State<BigTwo>, seat: usize) -> View {
    let seat = Seat::new(seat as u8);
    View {
        seat,
        public: state.public.clone(),
        hand: state.private[seat],
    }
}

//! What look-ahead and playouts gain against `shanten`, with a smaller error than by the scores of rounds.
//!
//! Where they choose other discards than the networks alone, many other playouts say what each of these is
//! worth. What the discards of a round are worth more than those of the networks alone, summed, is what the
//! round gains by them (S. Kakade and J. Langford, *Approximately optimal approximate reinforcement
//! learning*, ICML 2002). The engine is told that the other seat races.

#[path = "shared/round.rs"]
mod round;

use std::{
    process::ExitCode,
    sync::atomic::{AtomicU64, Ordering},
    thread,
    time::Instant,
};

use clap::Parser;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use round::{EnginePlayer, Player, Round, mean, wall};
use tenpai::{Engine, Limit, Situation, Tile, Weights, explain::explaining, shuffle};

/// Says how many points a round look-ahead and playouts gain against a seat that plays as `shanten` does,
/// by other playouts
#[derive(Parser)]
struct Arguments {
    /// How many rounds
    #[arg(long, default_value_t = 20)]
    rounds: u64,
    /// What deals and playouts are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many hands the engine evaluates with look-ahead
    #[arg(long, default_value_t = 2_500)]
    hands: u64,
    /// How many playouts the engine makes for an answer
    #[arg(long, default_value_t = 4_000)]
    playouts: u64,
    /// How many playouts say what a discard is worth
    #[arg(long, default_value_t = 5_000)]
    valued: usize,
    /// How many hands of the other seat these begin with
    #[arg(long, default_value_t = 400)]
    others: usize,
    /// How often each of these hands is changed after every discard
    #[arg(long, default_value_t = 20)]
    changes: usize,
    /// How many threads play; the figures do not depend on it
    #[arg(long, default_value_t = 1)]
    threads: u64,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tenpai::prepare();
    let engine = Engine::new(Weights::embedded());
    let next = AtomicU64::new(0);
    let work = || {
        let mut played = Vec::new();
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            if number >= arguments.rounds {
                return played;
            }
            let found = play(&engine, &arguments, number);
            eprintln!("round {number} is played");
            played.push((number, found));
        }
    };
    let mut played: Vec<(u64, Found)> = thread::scope(|scope| {
        let threads: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(work)).collect();
        let played = threads.into_iter().map(|thread| thread.join());
        played.flat_map(|it| it.expect("a thread ends")).collect()
    });
    played.sort_by_key(|one| one.0);
    let rounds: Vec<Found> = played.into_iter().map(|one| one.1).collect();
    report(&rounds);
    ExitCode::SUCCESS
}

fn report(rounds: &[Found]) {
    let sum = |of: fn(&Found) -> u32| rounds.iter().map(of).sum::<u32>();
    println!(
        "{} rounds: {} discards; {} times they differed, {} times more no hand explained the other seat's",
        rounds.len(),
        sum(|it| it.discards),
        sum(|it| it.compared),
        sum(|it| it.unexplained),
    );
    let scores: Vec<f64> = rounds.iter().map(|it| it.score).collect();
    let won: Vec<f64> = rounds.iter().filter_map(|it| it.faan).collect();
    let (score, error) = mean(&scores);
    println!(
        "scores: {score:+.2} ± {error:.2} a round, {:.1} % won with {:.2} faan",
        100.0 * won.len() as f64 / rounds.len() as f64,
        won.iter().sum::<f64>() / won.len() as f64,
    );
    println!("points a round more, ± a standard error:");
    let line = |name: &str, of: fn(&Found) -> f64| {
        let values: Vec<f64> = rounds.iter().map(of).collect();
        let (mean, error) = mean(&values);
        println!("{name:45} {mean:+.2} ± {error:.2}");
    };
    line("look-ahead more than the networks alone", |it| {
        it.look_ahead
    });
    line("playouts more than the networks alone", |it| it.playouts);
    line("playouts more than look-ahead", |it| {
        it.playouts - it.look_ahead
    });
    let seconds: Vec<f64> = rounds.iter().map(|it| it.seconds).collect();
    println!("{:.2} s a round with playouts", mean(&seconds).0);
}

/// What was found in a round. Sums are of points more than by the discards of the networks alone.
#[derive(Default)]
struct Found {
    /// How the round ended.
    score: f64,
    /// See `score`.
    faan: Option<f64>,
    discards: u32,
    /// How often the three did not agree.
    compared: u32,
    unexplained: u32,
    /// By the discards with look-ahead.
    look_ahead: f64,
    /// By the discards with look-ahead and playouts, which were played.
    playouts: f64,
    /// The time that these took.
    seconds: f64,
}

/// Plays a round with playouts.
fn play(engine: &Engine, arguments: &Arguments, number: u64) -> Found {
    let mut rng = ChaCha8Rng::seed_from_u64(!arguments.seed);
    rng.set_stream(number);
    let mut player = PlayoutPlayer {
        engine,
        arguments,
        rng,
        found: Found::default(),
    };
    let tiles = wall(arguments.seed, number);
    let begins = number.is_multiple_of(2);
    let end = Round::deal(tiles, begins, true, Some(0.0)).play(begins, &mut player);
    Found {
        score: f64::from(end.score),
        faan: end.faan(),
        ..player.found
    }
}

struct PlayoutPlayer<'a> {
    engine: &'a Engine,
    arguments: &'a Arguments,
    rng: ChaCha8Rng,
    found: Found,
}

impl Player for PlayoutPlayer<'_> {
    fn discard(&mut self, situation: &Situation) -> Tile {
        let hands = self.arguments.hands;
        let by = |limit| self.engine.discards(situation, &limit)[0].tile;
        let begin = Instant::now();
        let chosen = by(Limit::hands(hands).and_playouts(self.arguments.playouts));
        self.found.seconds += begin.elapsed().as_secs_f64();
        let picked = [by(Limit::hands(1)), by(Limit::hands(hands)), chosen];
        self.found.discards += 1;
        let mut discards = picked.to_vec();
        discards.sort();
        discards.dedup();
        if discards.len() == 1 {
            return chosen;
        }
        let Some(values) = self.values(situation, &discards) else {
            self.found.unexplained += 1;
            return chosen;
        };
        self.found.compared += 1;
        let place = |tile| discards.iter().position(|&it| it == tile);
        let [network, look_ahead, playouts] =
            picked.map(|tile| values[place(tile).expect("it is one of them")]);
        self.found.look_ahead += look_ahead - network;
        self.found.playouts += playouts - network;
        chosen
    }

    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool {
        let limit = Limit::hands(self.arguments.hands);
        self.engine.wins(situation, tile, self_draw, &limit)
    }
}

impl PlayoutPlayer<'_> {
    /// The mean score after each of these discards; none if no hand of the other seat explains its
    /// discards. Every discard meets the same hands and the same walls.
    fn values(&mut self, situation: &Situation, discards: &[Tile]) -> Option<Vec<f64>> {
        let arguments = self.arguments;
        let others = explaining(
            situation,
            arguments.others,
            arguments.changes,
            || false,
            &mut self.rng,
        )?;
        let mut sums = vec![0.0; discards.len()];
        let playouts = arguments.valued;
        for number in 0..playouts {
            let one = &others[number * others.len() / playouts];
            let mut wall: Vec<Tile> = one.rest.tiles().collect();
            shuffle(&mut wall, &mut self.rng);
            for (sum, &discard) in sums.iter_mut().zip(discards) {
                let mut round = Round {
                    situation: situation.clone(),
                    other: Some(one.seat),
                    wall: wall.clone(),
                };
                let engine = self.engine;
                let end = round.discard(discard).unwrap_or_else(|| {
                    round.play(
                        false,
                        &mut EnginePlayer {
                            engine,
                            hands: 1,
                            playouts: 0,
                        },
                    )
                });
                *sum += f64::from(end.score);
            }
        }
        Some(sums.into_iter().map(|sum| sum / playouts as f64).collect())
    }
}

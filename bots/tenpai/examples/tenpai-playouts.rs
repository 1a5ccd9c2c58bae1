//! The gain of look-ahead and playouts against `shanten`, with a smaller error than by the scores
//! of rounds.
//!
//! Where they choose other discards than the networks alone, many other playouts say what each of these is
//! worth. What the discards of a round are worth more than those of the networks alone, summed, is what the
//! round gains by them (S. Kakade and J. Langford, *Approximately optimal approximate reinforcement
//! learning*, ICML 2002). The engine is told that the other seat races.
//!
//! With `--seen` the playouts know the other seat's hand. A player of the game does not, so it gains less by
//! playouts.

#![allow(clippy::print_stdout, clippy::print_stderr, reason = "a program")]

#[path = "shared/measure.rs"]
mod measure;
#[path = "shared/round.rs"]
mod round;

use std::{process::ExitCode, time::Instant};

use clap::Parser;
use measure::{EnginePlayer, mean};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use round::{Player, Round, wall};
use tenpai::{
    MahjongEngine, NetworkWeights, Shanten, Situation, ThinkingLimit, Tile, Tiles, divided,
    explain::explaining, shuffle,
};

/// Says how many points a round look-ahead and playouts gain against a seat that plays as `shanten` does,
/// by other playouts
#[derive(Parser)]
struct Arguments {
    /// How many rounds
    #[arg(long, default_value_t = 20)]
    rounds: usize,
    /// What deals and playouts are drawn from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// How many hands the engine evaluates with look-ahead
    #[arg(long, default_value_t = 2_500)]
    hands: u64,
    /// How many playouts the engine makes for an answer; of several numbers, each is measured, and rounds
    /// are played with the last one
    #[arg(long, value_delimiter = ',', default_value = "4000")]
    playouts: Vec<u64>,
    /// The playouts are made against the hand that the other seat has, not against hands that it may have
    #[arg(long)]
    seen: bool,
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
    threads: usize,
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    tenpai::prepare();
    let engine = MahjongEngine::new(NetworkWeights::wide());
    let play = |number| {
        let found = play(&engine, &arguments, number as u64);
        eprintln!("round {number} is played");
        found
    };
    let never = || false;
    let rounds = divided(arguments.threads, arguments.rounds, never, play);
    report(&rounds, &arguments.playouts);
    ExitCode::SUCCESS
}

fn report(rounds: &[Found], playouts: &[u64]) {
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
    let line = |name: &str, of: &dyn Fn(&Found) -> f64| {
        let values: Vec<f64> = rounds.iter().map(of).collect();
        let (mean, error) = mean(&values);
        println!("{name:45} {mean:+.2} ± {error:.2}");
    };
    line("look-ahead more than the networks alone", &|it| {
        it.look_ahead
    });
    for (at, count) in playouts.iter().enumerate() {
        line(
            &format!("{count} playouts more than the networks alone"),
            &|it| it.playouts[at],
        );
        line(&format!("{count} playouts more than look-ahead"), &|it| {
            it.playouts[at] - it.look_ahead
        });
        let seconds: Vec<f64> = rounds.iter().map(|it| it.seconds[at]).collect();
        println!("{:.2} s a round", mean(&seconds).0);
    }
}

/// The results of a round. Sums are of points more than by the discards of the networks alone.
#[derive(Default)]
struct Found {
    /// The score at the end of the round.
    score: f64,
    /// See `score`.
    faan: Option<f64>,
    discards: u32,
    /// Number of times that they did not agree.
    compared: u32,
    unexplained: u32,
    /// By the discards with look-ahead.
    look_ahead: f64,
    /// By the discards with look-ahead and each number of playouts; the last ones were played.
    playouts: Vec<f64>,
    /// The time that these took.
    seconds: Vec<f64>,
}

/// Plays a round with playouts.
fn play(engine: &MahjongEngine, arguments: &Arguments, number: u64) -> Found {
    let mut rng = ChaCha8Rng::seed_from_u64(!arguments.seed);
    rng.set_stream(number);
    let mut player = PlayoutPlayer {
        engine,
        arguments,
        other: None,
        rng,
        found: Found {
            playouts: vec![0.0; arguments.playouts.len()],
            seconds: vec![0.0; arguments.playouts.len()],
            ..Found::default()
        },
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

/// With `--seen`: discards that are at most so many points worse than the best one, by all draws that may
/// follow, are compared, and at most so many.
const NEAR: f32 = 3.0;
const COMPARED: usize = 5;

struct PlayoutPlayer<'a> {
    engine: &'a MahjongEngine,
    arguments: &'a Arguments,
    /// The other seat as it is.
    other: Option<Shanten>,
    rng: ChaCha8Rng,
    found: Found,
}

impl Player for PlayoutPlayer<'_> {
    fn discard(&mut self, situation: &Situation) -> Tile {
        let Arguments { hands, seen, .. } = *self.arguments;
        let engine = self.engine;
        let by = |limit| engine.discards(situation, &limit)[0].tile;
        let mut picked = vec![by(ThinkingLimit::hands(1)), by(ThinkingLimit::hands(hands))];
        for (at, &playouts) in self.arguments.playouts.iter().enumerate() {
            let begin = Instant::now();
            picked.push(if seen {
                self.best_seen(situation, playouts)
            } else {
                by(ThinkingLimit::hands(hands).and_playouts(playouts))
            });
            self.found.seconds[at] += begin.elapsed().as_secs_f64();
        }
        let chosen = picked[picked.len() - 1];
        self.found.discards += 1;
        let mut discards = picked.clone();
        discards.sort();
        discards.dedup();
        if discards.len() == 1 {
            return chosen;
        }
        let Some(values) = self.values(situation, &discards, self.arguments.valued) else {
            self.found.unexplained += 1;
            return chosen;
        };
        self.found.compared += 1;
        let place = |tile| discards.iter().position(|&it| it == tile);
        let value = |tile: Tile| values[place(tile).expect("it is one of them")];
        let network = value(picked[0]);
        self.found.look_ahead += value(picked[1]) - network;
        for (sum, &tile) in self.found.playouts.iter_mut().zip(&picked[2..]) {
            *sum += value(tile) - network;
        }
        chosen
    }

    fn sees(&mut self, other: Option<Shanten>) {
        self.other = other;
    }

    fn wins(&mut self, situation: &Situation, tile: Tile, self_draw: bool) -> bool {
        let limit = ThinkingLimit::hands(self.arguments.hands);
        self.engine.wins(situation, tile, self_draw, &limit)
    }
}

impl PlayoutPlayer<'_> {
    /// The best discard by about so many playouts against the hand that the other seat has.
    fn best_seen(&mut self, situation: &Situation, playouts: u64) -> Tile {
        let estimates = self.engine.estimates(situation);
        let bound = estimates[0].value - NEAR;
        let near = estimates.iter().filter(|one| one.value >= bound);
        let discards: Vec<Tile> = near.map(|one| one.tile).take(COMPARED).collect();
        let each = playouts as usize / discards.len();
        let values = self.values(situation, &discards, each.max(1));
        let values = values.expect("the hand is known");
        let compared = discards.iter().zip(values);
        let best = compared.reduce(|best, one| if one.1 > best.1 { one } else { best });
        *best.expect("a hand has tiles").0
    }

    /// Hands that the other seat may have, or the one that it has, each with the tiles that are in the wall
    /// then; none if no hand explains its discards.
    fn others(&mut self, situation: &Situation) -> Option<Vec<(Shanten, Tiles)>> {
        let arguments = self.arguments;
        if arguments.seen {
            let seat = self.other?;
            let rest = seat.hand.tiles().fold(situation.unseen(), Tiles::without);
            return Some(vec![(seat, rest)]);
        }
        let (count, changes) = (arguments.others, arguments.changes);
        let others = explaining(situation, count, changes, || false, &mut self.rng)?;
        Some(others.iter().map(|one| (one.seat, one.rest)).collect())
    }

    /// The mean score after each of these discards, in so many playouts; none if no hand of the other seat
    /// explains its discards. Every discard meets the same hands and the same walls.
    fn values(
        &mut self,
        situation: &Situation,
        discards: &[Tile],
        playouts: usize,
    ) -> Option<Vec<f64>> {
        let others = self.others(situation)?;
        let mut sums = vec![0.0; discards.len()];
        for number in 0..playouts {
            let (seat, rest) = others[number * others.len() / playouts];
            let mut wall: Vec<Tile> = rest.tiles().collect();
            shuffle(&mut wall, &mut self.rng);
            for (sum, &discard) in sums.iter_mut().zip(discards) {
                let mut round = Round {
                    situation: situation.clone(),
                    other: Some(seat),
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
                            threads: 1,
                        },
                    )
                });
                *sum += f64::from(end.score);
            }
        }
        Some(sums.into_iter().map(|sum| sum / playouts as f64).collect())
    }
}

//! Prints the table of `docs/ladder.md`: levels of `ladder` against levels ten
//! above, on random boards, each from either side. Seeds are fixed and work is
//! counted in playouts, so it prints the same again.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{
    sync::atomic::{AtomicU32, Ordering},
    thread,
};

use house_bots::ladder::{choose, playouts};
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use referee_core::{Dice, Game as _, Seat, Seed};
use referee_games::connect_four::{ConnectFour, Setup};

/// The lower level, the higher one, rounds of two games.
const PAIRS: [(u32, u32, u32); 5] = [
    (1, 11, 300),
    (11, 21, 300),
    (21, 31, 200),
    (31, 41, 100),
    (40, 50, 100),
];
const THREADS: usize = 2;

/// The results of the higher level in rounds of two games.
#[derive(Default)]
struct Tally {
    /// Games won, drawn, lost.
    games: [u32; 3],
    /// Rounds by their half points, 0 to 4.
    rounds: [u32; 5],
}

fn main() {
    println!(
        "| higher | lower | playouts a move | games | W-D-L | score | standard error | above half |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for (lower, higher, rounds) in PAIRS {
        let tally = play(lower, higher, rounds);
        let [won, drawn, lost] = tally.games;
        let (score, error) = tally.score();
        println!(
            "| {higher} | {lower} | {} to {} | {} | {won}-{drawn}-{lost} | {:.1} % | {:.1} % | {:.1} errors |",
            playouts(higher),
            playouts(lower),
            2 * rounds,
            100.0 * score,
            100.0 * error,
            (score - 0.5) / error,
        );
    }
}

fn play(lower: u32, higher: u32, rounds: u32) -> Tally {
    let next = AtomicU32::new(0);
    let work = || {
        let mut tally = Tally::default();
        loop {
            let round = next.fetch_add(1, Ordering::Relaxed);
            if round >= rounds {
                return tally;
            }
            tally.round(lower, higher, round);
        }
    };
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS).map(|_| scope.spawn(work)).collect();
        threads.into_iter().fold(Tally::default(), |sum, thread| {
            sum.add(&thread.join().expect("the rounds are played"))
        })
    })
}

impl Tally {
    /// A board, and each level first on it once.
    fn round(&mut self, lower: u32, higher: u32, round: u32) {
        let mut seed = [0; 32];
        seed[..4].copy_from_slice(&higher.to_le_bytes());
        seed[4..8].copy_from_slice(&round.to_le_bytes());
        let mut points = 0;
        for seat in Seat::all(2) {
            seed[8] = seat.index() as u8;
            let mut rng = ChaCha8Rng::from_seed(seed);
            seed[8] = 0;
            let winner = game(lower, higher, seat, &Seed::new(seed), &mut rng);
            let result = match winner {
                Some(winner) if winner == seat => 0,
                None => 1,
                Some(_) => 2,
            };
            self.games[result] += 1;
            points += 2 - result;
        }
        self.rounds[points] += 1;
    }

    fn add(mut self, other: &Self) -> Self {
        for (sum, more) in self.games.iter_mut().zip(other.games) {
            *sum += more;
        }
        for (sum, more) in self.rounds.iter_mut().zip(other.rounds) {
            *sum += more;
        }
        self
    }

    /// The score of a game and its standard error, both from rounds: the two
    /// games on a board are not independent.
    fn score(&self) -> (f64, f64) {
        let rounds = f64::from(self.rounds.iter().sum::<u32>());
        let moment = |power: i32| {
            let by_points = self.rounds.iter().enumerate();
            by_points
                .map(|(points, &count)| f64::from(count) * (points as f64 / 4.0).powi(power))
                .sum::<f64>()
                / rounds
        };
        let mean = moment(1);
        (mean, ((moment(2) - mean * mean) / rounds).sqrt())
    }
}

/// The winner of a game, where `seat` is the higher level's; none for a draw.
fn game(lower: u32, higher: u32, seat: Seat, seed: &Seed, rng: &mut ChaCha8Rng) -> Option<Seat> {
    let mut board = ConnectFour::deal(&Setup::default(), &mut Dice::new(seed))
        .public
        .board;
    let mut turn = Seat::new(0);
    while !board.is_full() {
        let level = if turn == seat { higher } else { lower };
        let column = choose(level, &board, turn, rng);
        if board.drop_stone(turn, column) {
            return Some(turn);
        }
        turn = turn.other();
    }
    None
}

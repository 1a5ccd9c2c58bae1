//! The speed of the games' boards on one core: uniform random playouts, and
//! perft of Othello.

#![allow(clippy::print_stdout, reason = "a program")]

use std::time::{Duration, Instant};

use rand::{Rng, RngExt as _, SeedableRng as _, rngs::SmallRng};
use referee_core::Seat;
use referee_games::{
    connect_four,
    othello::{self, Square},
};

/// Time that each figure is measured, and the number of measurements; the best
/// counts, since other work on the machine can only slow it down.
const TIME: Duration = Duration::from_millis(400);
const TIMES: u32 = 5;

fn main() {
    println!("\nUniform random playouts, one core\n");
    println!("| game | a second |");
    println!("| --- | ---: |");
    println!("| Othello | {:.0} |", best(othello_playout));
    for (rows, columns) in [(6, 7), (9, 9), (12, 12)] {
        let board = connect_four::ConnectFourBoard::new(rows, columns, None);
        let rate = best(|rng| connect_four_playout(board.clone(), rng));
        println!("| Connect Four, {rows} rows by {columns} columns | {rate:.0} |");
    }
    println!("\nPerft of Othello, one core\n");
    println!("| depth | leaves | time | leaves a second |");
    println!("| ---: | ---: | ---: | ---: |");
    for depth in [9, 10] {
        let began = Instant::now();
        let leaves = othello::OthelloBoard::BEGINNING.perft(depth);
        let time = began.elapsed();
        println!(
            "| {depth} | {leaves} | {time:.3?} | {:.0} |",
            leaves as f64 / time.as_secs_f64()
        );
    }
}

/// Best number of times per second that this can be done.
fn best(mut playout: impl FnMut(&mut SmallRng) -> i32) -> f64 {
    let mut rng = SmallRng::seed_from_u64(1);
    let mut best = 0_f64;
    for _ in 0..TIMES {
        let began = Instant::now();
        let mut count = 0;
        while began.elapsed() < TIME {
            for _ in 0..64 {
                std::hint::black_box(playout(&mut rng));
            }
            count += 64;
        }
        best = best.max(f64::from(count) / began.elapsed().as_secs_f64());
    }
    best
}

/// Plays Othello to the end; the disc difference.
fn othello_playout(rng: &mut SmallRng) -> i32 {
    let mut board = othello::OthelloBoard::BEGINNING;
    let mut passed = false;
    loop {
        let moves = board.moves();
        if moves != 0 {
            passed = false;
            let index = any_of(moves, rng).trailing_zeros() as u8;
            board = board.play(Square::new(index).expect("a square"));
        } else if passed {
            return board.difference();
        } else {
            passed = true;
            board = board.pass();
        }
    }
}

/// Plays Connect Four to the end; 1 if somebody made a line.
fn connect_four_playout(mut board: connect_four::ConnectFourBoard, rng: &mut SmallRng) -> i32 {
    let mut seat = Seat::new(0);
    while !board.is_full() {
        let column = any_of(board.open().into(), rng).trailing_zeros() as usize;
        if board.drop_stone(seat, column) {
            return 1;
        }
        seat = seat.other();
    }
    0
}

/// One of the bits that are set and all above it, each equally likely to be
/// the lowest.
fn any_of(mut set: u64, rng: &mut impl Rng) -> u64 {
    for _ in 0..rng.random_range(0..set.count_ones()) {
        set &= set - 1;
    }
    set
}

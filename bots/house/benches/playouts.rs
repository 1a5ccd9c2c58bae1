//! Playouts a second of `uct` on one core, and how they grow with time.

#![allow(clippy::print_stdout, reason = "a program")]

use std::time::{Duration, Instant};

use house_bots::uct::TreeSearch;
use rand::SeedableRng as _;
use rand_chacha::ChaCha8Rng;
use referee_core::Seat;
use referee_games::connect_four::{ConnectFourBoard, Point};

fn main() {
    println!("\n(c) Playouts of uct for the first move, one core\n");
    println!("| time | 9 by 9: playouts | a second | 12 by 12: playouts | a second |");
    println!("| ---: | ---: | ---: | ---: | ---: |");
    for time in [50, 100, 200, 400, 800, 1600].map(Duration::from_millis) {
        let [small, large] = [9, 12].map(|side| playouts(side, time));
        println!(
            "| {time:?} | {} | {:.0} | {} | {:.0} |",
            small.0, small.1, large.0, large.1
        );
    }
}

/// Number of playouts that fit, and the same per second.
fn playouts(side: u8, time: Duration) -> (u64, f64) {
    let middle = Point {
        x: i32::from(side) / 2,
        y: i32::from(side) / 2,
    };
    let board = ConnectFourBoard::new(side, side, Some(middle));
    let mut search = TreeSearch::new(board, Seat::new(0), 0.7);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let began = Instant::now();
    let mut count = 0;
    while began.elapsed() < time {
        search.run(16, &mut rng);
        count += 16;
    }
    (count, count as f64 / began.elapsed().as_secs_f64())
}

//! Measures what each idea of the engine is worth: the engine without it against the whole engine,
//! with the same number of positions for a move, on random boards, each played from both sides.

use clap::Parser;
use rand::{RngExt as _, SeedableRng as _};
use rand_chacha::ChaCha8Rng;
use zugzwang::{BoardCell, BoardShape, Engine, Idea, Ideas, Limit, Options, Position};

/// Measures what each idea of the engine is worth.
#[derive(Parser)]
struct Arguments {
    /// How many positions each side looks at for a move
    #[arg(long, default_value_t = 5000)]
    nodes: u64,
    /// How many openings, each played from both sides
    #[arg(long, default_value_t = 50)]
    pairs: u32,
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

/// The most random stones that a game begins with.
const OPENING: usize = 6;

fn main() {
    let arguments = Arguments::parse();
    println!("| without | won, drawn, lost | score |");
    println!("| --- | --- | --- |");
    for idea in Idea::ALL {
        let mut rng = ChaCha8Rng::seed_from_u64(arguments.seed);
        let mut counts = [0; 3];
        let scores: Vec<f64> = (0..arguments.pairs)
            .map(|_| {
                let opening = opening(&mut rng);
                let points = [0, 1].map(|parity| {
                    let points = game(opening, idea, parity, arguments.nodes);
                    counts[2 - (2.0 * points) as usize] += 1;
                    points
                });
                (points[0] + points[1]) / 2.0
            })
            .collect();
        let count = f64::from(arguments.pairs);
        let mean = scores.iter().sum::<f64>() / count;
        let squares: f64 = scores.iter().map(|score| (score - mean).powi(2)).sum();
        let error = 1.96 * (squares / (count - 1.0).max(1.0) / count).sqrt();
        let [won, drawn, lost] = counts;
        println!(
            "| `{}` | {won}, {drawn}, {lost} | {:.1} ± {:.1} % |",
            idea.name(),
            100.0 * mean,
            100.0 * error
        );
    }
}

/// A board of the usual sizes with some random stones, after which nobody wins at once.
fn opening(rng: &mut ChaCha8Rng) -> Position {
    let mut engine = Engine::new(Options {
        table: 0,
        ..Options::default()
    });
    loop {
        let (rows, columns) = (rng.random_range(9..=12), rng.random_range(9..=12));
        let cell = BoardCell {
            column: rng.random_range(0..columns),
            row: rng.random_range(0..rows),
        };
        let shape = BoardShape::new(rows, columns, Some(cell)).expect("a usual board");
        let count = rng.random_range(0..=OPENING);
        let moves: Vec<u8> = (0..count).map(|_| rng.random_range(0..columns)).collect();
        if let Ok(position) = Position::after(shape, &moves)
            && engine.terms(&position).is_some()
        {
            return position;
        }
    }
}

/// The points of the engine without an idea, which moves when the number of stones has this parity.
fn game(opening: Position, idea: Idea, parity: u32, nodes: u64) -> f64 {
    let mut engines = [Ideas::default().with(idea), Ideas::default()].map(|without| {
        Engine::new(Options {
            table: 8,
            without,
            ..Options::default()
        })
    });
    let mut position = opening;
    while !position.is_full() {
        let side = usize::from(position.stones() % 2 != parity);
        let answer = engines[side]
            .search(&position, &Limit::nodes(nodes))
            .expect("the game is not over");
        position.play(answer.column).expect("a legal move");
        if position.is_won() {
            return 1.0 - side as f64;
        }
    }
    0.5
}

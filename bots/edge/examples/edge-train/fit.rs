//! Weights by ridge regression, a stage at a time from the end of the game to its beginning.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use edge::{
    pattern::{self, FEATURES},
    weights::{DISC, MOVES, PatternWeights, STAGES, StageWeights},
};

use crate::data::{self, Record};

#[derive(Args)]
pub(crate) struct Options {
    /// Where to write the weights
    weights: PathBuf,
    /// Files of positions
    #[arg(required = true)]
    positions: Vec<PathBuf>,
    /// How much of what is fitted to is the value of the search; the rest is the result
    #[arg(long, default_value_t = 0.5)]
    searched: f32,
    /// How strongly each weight is held to that of the next stage, as if so many more
    /// positions had said the same
    #[arg(long, default_value_t = 20.0)]
    hold: f32,
    /// Steps of the conjugate gradients for each stage
    #[arg(long, default_value_t = 15)]
    steps: u32,
}

/// Number of columns of the regression: one for each number of a pattern, for each count of moves
/// of either side, and for the empty squares within a stage.
const COLUMNS: usize = pattern::NUMBERS + 2 * MOVES + 4;
/// Number of columns of a position that are one; the others are zero.
const ONES: usize = FEATURES + 3;
/// So many positions with more or fewer empty squares than a stage has count for it too.
const OVERLAP: u32 = 2;

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut records = Vec::new();
    for path in &options.positions {
        records.extend(data::read(path)?);
    }
    println!("{} positions", records.len());
    let canonical = pattern::canonical();
    let mut stages = Vec::new();
    let mut weights = vec![0.0; COLUMNS];
    for number in (0..STAGES).rev() {
        let chosen: Vec<&Record> = records
            .iter()
            .filter(|record| {
                let empties = record.board.empties();
                let stage = |empties: u32| PatternWeights::stage_number(empties);
                (stage(empties + OVERLAP)..=stage(empties.saturating_sub(OVERLAP)))
                    .contains(&number)
            })
            .collect();
        let rows: Vec<[u32; ONES]> = chosen
            .iter()
            .map(|record| columns(record, &canonical))
            .collect();
        let wanted: Vec<f32> = chosen
            .iter()
            .map(|record| {
                let [searched, result] = [record.searched, record.result].map(f32::from);
                options.searched * searched + (1.0 - options.searched) * result
            })
            .collect();
        let error = solve(&rows, &wanted, &mut weights, options);
        println!("stage {number}: {} positions, error {error:.3}", rows.len());
        stages.push(stage(&weights, &canonical));
    }
    stages.reverse();
    crate::write(&options.weights, &PatternWeights::new(stages))
}

/// The columns that are one for a position.
fn columns(record: &Record, canonical: &[u32]) -> [u32; ONES] {
    let board = record.board;
    let mut columns = [0; ONES];
    for (column, number) in columns.iter_mut().zip(pattern::numbers(board)) {
        *column = canonical[number as usize];
    }
    let moves = |moves: u64| (moves.count_ones() as usize).min(MOVES - 1);
    let other = pattern::NUMBERS + MOVES + moves(board.pass().moves());
    let within = PatternWeights::within_stage(board.empties());
    columns[FEATURES] = (pattern::NUMBERS + moves(board.moves())) as u32;
    columns[FEATURES + 1] = other as u32;
    columns[FEATURES + 2] = (pattern::NUMBERS + 2 * MOVES + within) as u32;
    columns
}

/// Changes the weights so that the sum of squares of errors, and of changes times what holds
/// them, is least: conjugate gradients on the normal equations, each column scaled by how
/// often it is one. Returns the root of the mean square error.
fn solve(rows: &[[u32; ONES]], wanted: &[f32], weights: &mut [f32], options: &Options) -> f32 {
    let mut counts = vec![0.0f32; COLUMNS];
    for &column in rows.iter().flatten() {
        counts[column as usize] += 1.0;
    }
    let scale: Vec<f32> = counts
        .iter()
        .map(|count| 1.0 / (count + options.hold))
        .collect();
    let predict = |weights: &[f32], row: &[u32; ONES]| {
        row.iter()
            .map(|&column| weights[column as usize])
            .sum::<f32>()
    };
    let spread = |errors: &[f32], change: &[f32]| {
        let mut sums: Vec<f32> = change.iter().map(|change| -options.hold * change).collect();
        for (row, error) in rows.iter().zip(errors) {
            for &column in row {
                sums[column as usize] += error;
            }
        }
        sums
    };
    let dot = |a: &[f32], b: &[f32]| {
        a.iter()
            .zip(b)
            .map(|(a, b)| f64::from(*a) * f64::from(*b))
            .sum::<f64>()
    };
    let mut errors: Vec<f32> = rows
        .iter()
        .zip(wanted)
        .map(|(row, wanted)| wanted - predict(weights, row))
        .collect();
    let mut change = vec![0.0f32; COLUMNS];
    let mut gradient = spread(&errors, &change);
    let mut direction: Vec<f32> = gradient.iter().zip(&scale).map(|(g, s)| g * s).collect();
    let mut size = dot(&gradient, &direction);
    for _ in 0..options.steps {
        if size < 1e-6 {
            break;
        }
        let along: Vec<f32> = rows.iter().map(|row| predict(&direction, row)).collect();
        let curvature = dot(&along, &along) + f64::from(options.hold) * dot(&direction, &direction);
        let step = (size / curvature) as f32;
        for (change, direction) in change.iter_mut().zip(&direction) {
            *change += step * direction;
        }
        for (error, along) in errors.iter_mut().zip(&along) {
            *error -= step * along;
        }
        gradient = spread(&errors, &change);
        let scaled: Vec<f32> = gradient.iter().zip(&scale).map(|(g, s)| g * s).collect();
        let next = dot(&gradient, &scaled);
        let keep = (next / size) as f32;
        size = next;
        for (direction, scaled) in direction.iter_mut().zip(scaled) {
            *direction = scaled + keep * *direction;
        }
    }
    for (weight, change) in weights.iter_mut().zip(change) {
        *weight += change;
    }
    (dot(&errors, &errors) / rows.len().max(1) as f64).sqrt() as f32
}

fn stage(weights: &[f32], canonical: &[u32]) -> StageWeights {
    let whole = |weight: f32| (weight * DISC as f32).round() as i16;
    let mut stage = StageWeights::zero();
    for (weight, &column) in stage.patterns_mut().iter_mut().zip(canonical) {
        *weight = whole(weights[column as usize]);
    }
    let others = stage.own_moves.iter_mut().chain(&mut stage.other_moves);
    for (weight, fitted) in others
        .chain(&mut stage.empties)
        .zip(&weights[pattern::NUMBERS..])
    {
        *weight = whole(*fitted);
    }
    stage
}

/// Prints how far the evaluation is from search and result, by stage.
pub(crate) fn check(weights: &PatternWeights, paths: &[PathBuf]) -> Result<()> {
    let mut records = Vec::new();
    for path in paths {
        records.extend(data::read(path)?);
    }
    println!(
        "| empty squares | positions | error to result | correlation | error to search | correlation |"
    );
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for number in 0..STAGES {
        let mut line = String::new();
        let mut count = 0;
        for wanted in [
            |record: &Record| record.result,
            |record: &Record| record.searched,
        ] {
            let mut sums = Sums::default();
            for record in &records {
                if PatternWeights::stage_number(record.board.empties()) == number {
                    sums.add(value(weights, record), f64::from(wanted(record)));
                }
            }
            count = sums.count as u64;
            line += &format!(" {:.2} | {:.3} |", sums.error(), sums.correlation());
        }
        let most = 60 - 4 * number;
        let least = if number == STAGES - 1 { 0 } else { most - 3 };
        println!("| {most} to {least} | {count} |{line}");
    }
    Ok(())
}

fn value(weights: &PatternWeights, record: &Record) -> f64 {
    let board = record.board;
    let stage = weights.stage(board.empties());
    let moves = |moves: u64| (moves.count_ones() as usize).min(MOVES - 1);
    let patterns = pattern::numbers(board)
        .iter()
        .map(|&number| i32::from(stage.patterns()[number as usize]))
        .sum::<i32>();
    let sum = patterns
        + i32::from(stage.own_moves[moves(board.moves())])
        + i32::from(stage.other_moves[moves(board.pass().moves())])
        + i32::from(stage.empties[PatternWeights::within_stage(board.empties())]);
    (f64::from(sum) / f64::from(DISC)).clamp(-64.0, 64.0)
}

/// The sums from which mean absolute error and correlation are computed.
#[derive(Default)]
struct Sums {
    count: f64,
    off: f64,
    x: f64,
    y: f64,
    xx: f64,
    yy: f64,
    xy: f64,
}

impl Sums {
    fn add(&mut self, x: f64, y: f64) {
        self.count += 1.0;
        self.off += (x - y).abs();
        self.x += x;
        self.y += y;
        self.xx += x * x;
        self.yy += y * y;
        self.xy += x * y;
    }

    fn error(&self) -> f64 {
        self.off / self.count
    }

    fn correlation(&self) -> f64 {
        let covariance = self.count * self.xy - self.x * self.y;
        let variance = |square: f64, sum: f64| self.count * square - sum * sum;
        covariance / (variance(self.xx, self.x) * variance(self.yy, self.y)).sqrt()
    }
}

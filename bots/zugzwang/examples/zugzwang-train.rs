//! Learns the weights of the evaluation: `play` writes games that the engine plays against
//! itself, `fit` finds the weights that predict their results best, by logistic
//! regression.

#![allow(clippy::print_stderr, clippy::disallowed_methods, reason = "a program")]

use std::{
    error::Error,
    fs,
    io::{BufRead as _, BufReader, BufWriter, Write as _},
    path::{Path, PathBuf},
};

use clap::{Parser, Subcommand};
use rand::{RngExt as _, SeedableRng as _, seq::SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use zugzwang::{
    BoardCell, BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition,
    EvaluationWeights, Limit, Proven,
};

/// Learns the weights of the evaluation.
#[derive(Parser)]
struct Arguments {
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Writes games, one a line: rows, columns, column and row of the forbidden cell, the
    /// winner's parity or `-`, then `column:value` for each move.
    Play {
        /// How many.
        #[arg(long, default_value_t = 1000)]
        games: u32,
        /// Positions that are looked at for a move.
        #[arg(long, default_value_t = 1000)]
        nodes: u64,
        /// How far evaluations are off, so that games differ.
        #[arg(long, default_value_t = 60)]
        blur: u16,
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// The weights that are played with, if not those of the crate.
        #[arg(long)]
        weights: Option<PathBuf>,
        #[arg(long)]
        out: PathBuf,
    },
    /// Writes the weights that fit games.
    Fit {
        #[arg(required = true)]
        games: Vec<PathBuf>,
        /// How often every position is looked at.
        #[arg(long, default_value_t = 2)]
        epochs: u32,
        /// How much the result of the game counts beside the value that the search gave.
        #[arg(long, default_value_t = 0.4)]
        result: f32,
        /// How much weights are drawn to 0.
        #[arg(long, default_value_t = 3e-3)]
        decay: f32,
        #[arg(long)]
        out: PathBuf,
    },
}

fn main() -> Result<(), Box<dyn Error>> {
    match Arguments::parse().verb {
        Verb::Play {
            games,
            nodes,
            blur,
            seed,
            weights,
            out,
        } => {
            let weights = match weights {
                Some(path) => EvaluationWeights::from_bytes(&fs::read(path)?)?,
                None => EvaluationWeights::learned(),
            };
            let mut out = BufWriter::new(fs::File::create(out)?);
            for game in 0..games {
                let mut rng = ChaCha8Rng::seed_from_u64(seed << 32 | u64::from(game));
                let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions {
                    table: 1,
                    weights: weights.clone(),
                    blur,
                    seed: rng.random(),
                    ..ConnectFourEngineOptions::default()
                });
                writeln!(out, "{}", play(&mut engine, nodes, &mut rng))?;
            }
            Ok(out.flush()?)
        }
        Verb::Fit {
            games,
            epochs,
            result,
            decay,
            out,
        } => {
            let samples = Samples::read(&games, result)?;
            eprintln!("{} positions", samples.targets.len());
            fs::write(out, fit(&samples, epochs, decay).to_bytes())?;
            Ok(())
        }
    }
}

/// A random board, up to 12 random stones, then the engine on both sides; as a line.
fn play(engine: &mut ConnectFourEngine, nodes: u64, rng: &mut ChaCha8Rng) -> String {
    loop {
        let (rows, columns) = (rng.random_range(9..=12), rng.random_range(9..=12));
        let cell = BoardCell {
            column: rng.random_range(0..columns),
            row: rng.random_range(0..rows),
        };
        let shape = BoardShape::new(rows, columns, Some(cell)).expect("a usual board");
        let mut position = ConnectFourPosition::new(shape);
        let mut line = format!("{rows} {columns} {} {}", cell.column, cell.row);
        let mut moves = String::new();
        for _ in 0..rng.random_range(0..=12) {
            let open = position.columns();
            let column = open[rng.random_range(0..open.len())];
            if position.play(column).is_err() {
                break;
            }
            moves += &format!(" {column}:-");
        }
        if position.is_won() || position.is_full() || engine.terms(&position).is_none() {
            continue;
        }
        let mut winner = '-';
        while !position.is_full() {
            let answer = engine
                .search(&position, &Limit::nodes(nodes))
                .expect("the game is not over");
            moves += &format!(" {}:{}", answer.column, answer.value);
            let side = if position.stones().is_multiple_of(2) {
                '0'
            } else {
                '1'
            };
            position
                .play(answer.column)
                .expect("the engine plays legal moves");
            match answer.proven {
                Some(Proven::Win { .. }) => {
                    winner = side;
                    break;
                }
                Some(Proven::Loss { .. }) => {
                    winner = if side == '0' { '1' } else { '0' };
                    break;
                }
                _ => {}
            }
        }
        line.push(' ');
        line.push(winner);
        return line + &moves;
    }
}

/// Positions as their terms.
#[derive(Default)]
struct Samples {
    /// Terms and counts of all positions, one after the other.
    terms: Vec<(u16, i8)>,
    /// The place at which the terms of each end.
    ends: Vec<usize>,
    fullness: Vec<f32>,
    /// The probability that the side to move wins.
    targets: Vec<f32>,
}

impl Samples {
    fn read(files: &[PathBuf], result: f32) -> Result<Self, Box<dyn Error>> {
        let mut samples = Self::default();
        for file in files {
            samples.read_file(file, result)?;
        }
        Ok(samples)
    }

    fn read_file(&mut self, file: &Path, result: f32) -> Result<(), Box<dyn Error>> {
        let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions {
            table: 0,
            ..ConnectFourEngineOptions::default()
        });
        for line in BufReader::new(fs::File::open(file)?).lines() {
            let line = line?;
            let mut words = line.split(' ');
            let mut number = || words.next().unwrap_or_default().parse::<u8>();
            let (rows, columns) = (number()?, number()?);
            let (column, row) = (number()?, number()?);
            let shape = BoardShape::new(rows, columns, Some(BoardCell { column, row }))?;
            let winner = words.next().unwrap_or_default().parse::<u32>().ok();
            let mut position = ConnectFourPosition::new(shape);
            for word in words {
                let (column, value) = word.split_once(':').ok_or("expected column:value")?;
                if let Ok(value) = value.parse::<f32>()
                    && let Some(terms) = engine.terms(&position)
                {
                    let outcome = match winner {
                        None => 0.5,
                        Some(side) => f32::from(side == position.stones() % 2),
                    };
                    let target = result * outcome + (1.0 - result) * odds(value / 256.0);
                    self.push(&terms.counts, terms.fullness, target);
                }
                position.play(column.parse()?)?;
            }
        }
        Ok(())
    }

    fn push(&mut self, counts: &[(usize, f32)], fullness: f32, target: f32) {
        let mut counts: Vec<(u16, i8)> = counts
            .iter()
            .map(|&(term, count)| (term as u16, count as i8))
            .collect();
        counts.sort_unstable();
        let begin = self.terms.len();
        for (term, count) in counts {
            match self.terms[begin..].last_mut() {
                Some(last) if last.0 == term => last.1 += count,
                _ => self.terms.push((term, count)),
            }
        }
        self.ends.push(self.terms.len());
        self.fullness.push(fullness);
        self.targets.push(target);
    }

    fn terms(&self, sample: usize) -> &[(u16, i8)] {
        let begin = sample.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.terms[begin..self.ends[sample]]
    }
}

fn odds(logit: f32) -> f32 {
    1.0 / (1.0 + (-logit).exp())
}

/// Stochastic gradients with a step for each weight (Duchi, Hazan, Singer, "Adaptive
/// subgradient methods", 2011). One position of 20 is kept for checking.
fn fit(samples: &Samples, epochs: u32, decay: f32) -> EvaluationWeights {
    let mut values = vec![[0.0_f32; 2]; EvaluationWeights::TERMS];
    let mut squares = vec![[1e-3_f32; 2]; EvaluationWeights::TERMS];
    let (checked, mut learned): (Vec<usize>, Vec<usize>) =
        (0..samples.targets.len()).partition(|sample| sample / 200 % 20 == 0);
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let predict = |values: &[[f32; 2]], sample: usize| {
        let late = samples.fullness[sample];
        let terms = samples.terms(sample).iter();
        let logit: f32 = terms
            .map(|&(term, count)| {
                let [early, end] = values[usize::from(term)];
                f32::from(count) * (early * (1.0 - late) + end * late)
            })
            .sum();
        odds(logit)
    };
    for epoch in 0..epochs {
        learned.shuffle(&mut rng);
        let rate = 0.05 / (1.0 + epoch as f32);
        for &sample in &learned {
            let error = predict(&values, sample) - samples.targets[sample];
            let late = samples.fullness[sample];
            for &(term, count) in samples.terms(sample) {
                let term = usize::from(term);
                for (half, share) in [1.0 - late, late].into_iter().enumerate() {
                    let value = values[term][half];
                    let gradient = error * f32::from(count) * share + decay * value;
                    squares[term][half] += gradient * gradient;
                    values[term][half] -= rate * gradient / squares[term][half].sqrt();
                }
            }
        }
        let loss = |set: &[usize]| {
            let losses = set.iter().map(|&sample| {
                let (p, target) = (predict(&values, sample), samples.targets[sample]);
                -f64::from(target * p.max(1e-6).ln() + (1.0 - target) * (1.0 - p).max(1e-6).ln())
            });
            losses.sum::<f64>() / set.len().max(1) as f64
        };
        eprintln!(
            "epoch {epoch}: loss {:.5}, of those kept for checking {:.5}",
            loss(&learned),
            loss(&checked)
        );
    }
    EvaluationWeights::from_values(&values)
}

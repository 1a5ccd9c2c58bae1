//! The errors of shallow searches against deep ones, for Multi-ProbCut.

use std::{collections::BTreeMap, path::PathBuf};

use anyhow::{Result, ensure};
use clap::Args;
use edge::{OthelloEngine, OthelloEngineOptions as EngineOptions, SearchLimit, probe_depth};

use crate::data;

#[derive(Args)]
pub(crate) struct Options {
    /// Files of positions
    #[arg(required = true)]
    positions: Vec<PathBuf>,
    /// The weights; those of the crate if not given
    #[arg(long)]
    weights: Option<PathBuf>,
    /// How many positions are searched, evenly from all
    #[arg(long, default_value_t = 600)]
    samples: usize,
    /// How deep they are searched
    #[arg(long, default_value_t = 10)]
    depth: u32,
    /// With so many empty squares and fewer they are searched to the end, too
    #[arg(long, default_value_t = 15)]
    solve: u32,
}

/// Empty squares are counted in groups of so many.
const GROUP: u32 = 4;
/// Fewer differences than this say little.
const LEAST: usize = 20;

/// The searches that are compared: the middle of a group of empty squares, and both depths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    empties: u32,
    depth: u32,
    probe: u32,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let mut records = Vec::new();
    for path in &options.positions {
        records.extend(data::read(path)?);
    }
    ensure!(options.samples > 0, "expected at least one sample");
    let mut engine = OthelloEngine::new(EngineOptions {
        table_bytes: 1 << 24,
        weights: options.weights.as_ref().map(crate::read).transpose()?,
        ..EngineOptions::default()
    })?;
    let mut differences: BTreeMap<Pair, Vec<f64>> = BTreeMap::new();
    let step = (records.len() / options.samples).max(1);
    for record in records.iter().step_by(step) {
        let board = record.board;
        let empties = board.empties();
        if board.moves() == 0 || empties < 8 {
            continue;
        }
        engine.clear();
        let mut values = vec![engine.evaluate(board).round()];
        let last = options.depth.min(empties - 1);
        for depth in 1..=last {
            values.push(search(&mut engine, board, depth));
        }
        let mut add = |depth: u32, value: f64| {
            for probe in [0, probe_depth(depth)] {
                let Some(shallow) = values.get(probe as usize) else {
                    continue;
                };
                let pair = Pair {
                    empties: empties / GROUP * GROUP + GROUP / 2,
                    depth,
                    probe,
                };
                differences.entry(pair).or_default().push(value - shallow);
            }
        };
        for depth in 3..=last {
            add(depth, values[depth as usize]);
        }
        if empties <= options.solve {
            add(empties, search(&mut engine, board, empties));
        }
    }
    let cells: Vec<(Pair, f64, f64)> = differences
        .into_iter()
        .filter(|(_, differences)| differences.len() >= LEAST)
        .map(|(pair, differences)| {
            let count = differences.len() as f64;
            let squares: f64 = differences.iter().map(|off| off * off).sum();
            (pair, count, (squares / count).sqrt())
        })
        .collect();
    let fit = fit(&cells);
    println!("| empty squares | depth | probe | positions | error | fitted |");
    println!("| ---: | ---: | ---: | ---: | ---: | ---: |");
    for (pair, count, error) in &cells {
        let fitted: f64 = terms(*pair).iter().zip(fit).map(|(x, c)| x * c).sum();
        println!(
            "| {} | {} | {} | {count} | {error:.2} | {:.2} |",
            pair.empties,
            pair.depth,
            pair.probe,
            fitted.exp()
        );
    }
    println!("FIT = {fit:.4?}");
    Ok(())
}

fn search(engine: &mut OthelloEngine, board: edge::Discs, depth: u32) -> f64 {
    let limit = SearchLimit {
        uncut: true,
        ..SearchLimit::depth(depth)
    };
    engine.search(board, limit).score.into()
}

/// The terms of which the logarithm of an error is a linear function.
fn terms(pair: Pair) -> [f64; 5] {
    let to_the_end = f64::from(u8::from(
        pair.depth >= pair.empties.saturating_sub(GROUP / 2),
    ));
    [
        1.0,
        pair.empties.into(),
        f64::from(pair.depth).ln_1p(),
        f64::from(pair.probe).ln_1p(),
        to_the_end,
    ]
}

/// The factors of the terms by least squares, each pair as often as it was seen.
fn fit(cells: &[(Pair, f64, f64)]) -> [f64; 5] {
    let mut rows = [[0.0; 6]; 5];
    for &(pair, count, error) in cells {
        let terms = terms(pair);
        for (row, left) in rows.iter_mut().zip(terms) {
            for (sum, right) in row.iter_mut().zip(terms.into_iter().chain([error.ln()])) {
                *sum += count * left * right;
            }
        }
    }
    // Gauss and Jordan. A little on the diagonal lets it work where a term never varies.
    for at in 0..5 {
        rows[at][at] += 1e-9;
        let pivot = rows[at];
        for (number, row) in rows.iter_mut().enumerate() {
            let factor = row[at] / pivot[at];
            if number != at {
                for (value, of_pivot) in row.iter_mut().zip(pivot) {
                    *value -= factor * of_pivot;
                }
            }
        }
    }
    let mut fit = [0.0; 5];
    for (at, factor) in fit.iter_mut().enumerate() {
        *factor = rows[at][5] / rows[at][at];
    }
    fit
}

//! Builds the opening book by searches of the engine (drop-out expansion: T. R. Lincke,
//! "Strategies for the automatic construction of opening books", Computers and Games 2000): again
//! and again the position is added that is reached with the fewest plies and the smallest losses
//! of both sides, with the values of its better moves. Searches are of fixed numbers of nodes,
//! each from an empty table, so that the same numbers give the same file. It can be stopped at any
//! moment and called again: it continues with the file.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program"
)]

use std::{
    collections::HashMap,
    fs,
    path::{Path, PathBuf},
    time::{Duration, Instant},
};

use anyhow::{Context as _, Result};
use clap::Parser;
use edge::{Discs, OthelloEngine, OthelloEngineOptions, SearchLimit, Square, Squares, book::Book};

/// Builds the opening book.
#[derive(Parser)]
struct Arguments {
    /// The file of the book; it is continued if it exists
    book: PathBuf,
    /// How many positions it gets
    #[arg(long, default_value_t = 816)]
    positions: usize,
    /// Nodes of the search after each move
    #[arg(long, default_value_t = 60_000)]
    first_nodes: u64,
    /// Nodes of the search after a move that is better than most
    #[arg(long, default_value_t = 1_000_000)]
    nodes: u64,
}

/// Moves that are worse than the best one by more discs, by the first search, are left out.
const WORSE: i32 = 3;
/// The weight of a disc that a move loses, in plies.
const LOSS: i32 = 2;
/// Time between two writes of the file.
const SAVE: Duration = Duration::from_secs(20);

fn main() -> Result<()> {
    let arguments = Arguments::parse();
    let path = &arguments.book;
    let mut book = if path.exists() {
        let file = fs::read(path).with_context(|| format!("could not read {}", path.display()))?;
        Book::read(&file).with_context(|| format!("could not use {}", path.display()))?
    } else {
        Book::default()
    };
    let mut engine = OthelloEngine::new(OthelloEngineOptions {
        table_bytes: 1 << 24,
        ..OthelloEngineOptions::default()
    })?;
    let mut saved = Instant::now();
    while book.len() < arguments.positions {
        let Some(board) = next(&book) else { break };
        let moves = search(&mut engine, board, &arguments);
        book.insert(board, &moves);
        book.back_up();
        if saved.elapsed() >= SAVE {
            save(&book, path)?;
            saved = Instant::now();
            eprintln!("{} positions", book.len());
        }
    }
    save(&book, path)?;
    println!("| empty squares | positions |");
    println!("| ---: | ---: |");
    let mut counts: Vec<(u32, u32)> = (0..=60).rev().map(|empties| (empties, 0)).collect();
    for board in book.positions() {
        counts[60 - board.empties() as usize].1 += 1;
    }
    for (empties, count) in counts.iter().filter(|(_, count)| *count > 0) {
        println!("| {empties} | {count} |");
    }
    Ok(())
}

/// The position to add next; none where all lines have come to an end.
fn next(book: &Book) -> Option<Discs> {
    if book.is_empty() {
        return Some(Discs::START);
    }
    // What it takes to come to a position: layer by layer, since a move fills a square.
    let mut layer = HashMap::from([(least_image(Discs::START), 0)]);
    let mut best: Option<(i32, [u64; 2], Discs)> = None;
    while !layer.is_empty() {
        let mut after = HashMap::new();
        for (&board, &cost) in &layer {
            let moves = book.moves(board);
            let Some(first) = moves.first() else {
                let found = (cost, [board.own, board.other], board);
                if board.moves() != 0
                    && best
                        .is_none_or(|best| found.0.cmp(&best.0).then(found.1.cmp(&best.1)).is_lt())
                {
                    best = Some(found);
                }
                continue;
            };
            for known in &moves {
                let next = board.play(known.square).map(least_image);
                let cost = cost + 1 + LOSS * (first.value - known.value);
                if let Some(next) = next {
                    let least = after.entry(next).or_insert(cost);
                    *least = cost.min(*least);
                }
            }
        }
        layer = after;
    }
    best.map(|(_, _, board)| board)
}

/// The better moves of a position with the values of searches after them.
fn search(engine: &mut OthelloEngine, board: Discs, arguments: &Arguments) -> Vec<(Square, i32)> {
    let mut searched = HashMap::new();
    let mut value = |next: Discs, nodes| {
        *searched
            .entry((least_image(next), nodes))
            .or_insert_with(|| {
                engine.clear();
                -engine
                    .search(least_image(next), SearchLimit::nodes(nodes))
                    .score
            })
    };
    let next = |square| board.play(square).expect("a legal move");
    let firsts: Vec<(Square, i32)> = Squares(board.moves())
        .map(|square| (square, value(next(square), arguments.first_nodes)))
        .collect();
    let best = firsts.iter().map(|(_, value)| *value).max().unwrap_or(0);
    firsts
        .into_iter()
        .filter(|(_, first)| *first >= best - WORSE)
        .map(|(square, _)| (square, value(next(square), arguments.nodes)))
        .collect()
}

fn least_image(board: Discs) -> Discs {
    let least = board
        .images()
        .into_iter()
        .min_by_key(|it| [it.own, it.other]);
    least.expect("there are eight images")
}

/// Writes the file, whole or not at all.
fn save(book: &Book, path: &Path) -> Result<()> {
    let part = path.with_extension("part");
    fs::write(&part, book.write())
        .and_then(|()| fs::rename(&part, path))
        .with_context(|| format!("could not write {}", path.display()))
}

//! The memory that an engine takes. It is the only test of its file, so that no other takes memory
//! at the same time.

#![allow(clippy::disallowed_methods, reason = "a test")]
#![cfg(target_os = "linux")]

use zugzwang::{
    BoardCell, BoardShape, ConnectFourEngine, ConnectFourEngineOptions, ConnectFourPosition, Limit,
};

const MEBIBYTE: u64 = 1 << 20;

/// The resident memory of this process in bytes.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux has this file");
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let words = line.and_then(|line| line.split_whitespace().nth(1));
    let kibibytes: u64 = words
        .and_then(|word| word.parse().ok())
        .expect("a number of KiB");
    kibibytes * 1024
}

#[test]
fn an_engine_takes_its_table_and_two_mebibytes_more_at_most() {
    let cell = BoardCell { column: 5, row: 3 };
    let shape = BoardShape::new(12, 12, Some(cell)).unwrap();
    let before = resident();
    let mut engine = ConnectFourEngine::new(ConnectFourEngineOptions {
        table: 32,
        ..ConnectFourEngineOptions::default()
    });
    engine
        .search(&ConnectFourPosition::new(shape), &Limit::nodes(300_000))
        .unwrap();
    let taken = resident() - before;
    assert!(taken >= 32 * MEBIBYTE, "{taken}");
    assert!(taken <= 34 * MEBIBYTE, "{taken}");
}

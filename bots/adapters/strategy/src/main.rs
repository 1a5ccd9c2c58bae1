//! `strategy FILE.so?parameter=value`: plays a compiled strategy as a bot, for containers.

#![allow(clippy::print_stderr, reason = "a program")]

use std::process::ExitCode;

/// The arguments with which the adapter starts this program again, to load the strategy for one
/// game.
const HOST: [&str; 2] = ["strategy-host", "--"];

fn main() -> ExitCode {
    let words: Vec<_> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    match words[..] {
        [verb, dashes, strategy] if [verb, dashes] == HOST => strategy_adapter::host(strategy),
        [strategy] => match strategy_adapter::adapter(strategy) {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        },
        _ => {
            eprintln!("expected {}", strategy_adapter::EXPECTED);
            ExitCode::from(2)
        }
    }
}

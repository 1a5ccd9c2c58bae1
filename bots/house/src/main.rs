//! `bot NAME?parameter=value`: runs a built-in bot.

use std::process::ExitCode;

use clap::Parser;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a built-in bot as a gRPC service at the address in BOT_LISTEN.
#[derive(Parser)]
#[command(version, after_help = after_help())]
struct Arguments {
    /// Which one: NAME or NAME?parameter=value&…
    bot: String,
}

fn after_help() -> String {
    format!(
        "Bots:\n{}\nExample:\n  BOT_LISTEN=tcp:127.0.0.1:5001 bot 'uct?time=200ms'",
        house_bots::catalogue()
    )
}

fn main() -> ExitCode {
    house_bots::main(&Arguments::parse().bot)
}

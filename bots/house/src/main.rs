//! `bot NAME?parameter=value`: runs a bot of the house.

use std::process::ExitCode;

use clap::Parser;
use house_bots::HOUSE;

#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Runs a bot of the house as a gRPC service, where BOT_LISTEN says.
#[derive(Parser)]
#[command(version, after_help = after_help())]
struct Arguments {
    /// Which one: NAME or NAME?parameter=value&…
    bot: String,
}

fn after_help() -> String {
    let mut help = "Bots:\n".to_owned();
    for bot in HOUSE {
        help += &format!("  {:<8} {}\n", bot.name, bot.summary);
        for parameter in bot.parameters {
            help += &format!(
                "           {}: {} (standard: {})\n",
                parameter.name, parameter.summary, parameter.standard
            );
        }
    }
    help + "\nExample:\n  BOT_LISTEN=tcp:127.0.0.1:5001 bot 'uct?time=200ms'"
}

fn main() -> ExitCode {
    house_bots::main(&Arguments::parse().bot)
}

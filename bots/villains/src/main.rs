//! `villain KIND`: a bot that misbehaves in one way.

use std::process::ExitCode;

use clap::Parser;
use villains::Villain;

/// Plays Connect Four as a gRPC service at the address in BOT_LISTEN, or with
/// --by-callbacks Mahjong and Big Two as well, and misbehaves in one way.
#[derive(Parser)]
#[command(
    version,
    after_help = "`arena check \"exec:villain KIND\"` finds what is wrong with each kind; slow-start
needs --start-limit 5s for it, and memory needs --memory-limit.

Examples:
  BOT_LISTEN=tcp:127.0.0.1:5001 villain late --after 3
  BOT_LISTEN=tcp:127.0.0.1:5001 villain crash --by-callbacks"
)]
struct VillainArguments {
    #[command(flatten)]
    villain: Villain,
}

fn main() -> ExitCode {
    // As a part of a sandbox: tests play villains in one.
    if std::env::args_os()
        .nth(1)
        .is_some_and(|verb| verb == "sandbox")
    {
        return referee_sandbox::enter();
    }
    ExitCode::from(VillainArguments::parse().villain.main(None))
}

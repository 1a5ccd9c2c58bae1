//! `villain KIND`: a bot that plays by the rules until its time has come, and
//! then commits one foul, always the same. `--help` is the catalogue. What it is
//! for is to be caught.

mod callbacks;
mod foul;
mod game;
mod kind;
mod stream;

use std::{path::PathBuf, process::ExitCode, sync::Arc, time::Duration};

use clap::Parser;
use tonic::service::Routes;

use crate::{
    kind::Kind,
    stream::{PlayService, SERVICE},
};

/// Plays Connect Four as a gRPC service where BOT_LISTEN says, or with
/// --by-callbacks Mahjong and Big Two as well, and misbehaves in one way.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  BOT_LISTEN=tcp:127.0.0.1:5001 villain late --after 3
  BOT_LISTEN=tcp:127.0.0.1:5001 villain crash --by-callbacks"
)]
struct Villain {
    /// What it does.
    kind: Kind,
    /// How many points it gives by the rules before it misbehaves.
    #[arg(long, default_value_t = 2)]
    after: u32,
    /// How long it takes before it listens (slow-start) or answers (slow).
    #[arg(long, default_value = "100ms", value_parser = humantime::parse_duration)]
    delay: Duration,
    /// How much it takes (memory).
    #[arg(long, default_value_t = 256)]
    megabytes: usize,
    /// How many games it says that one process can play at once.
    #[arg(long, default_value_t = 1000)]
    max_games: u32,
    /// What it calls itself.
    #[arg(long, default_value = "villain")]
    name: String,
    /// Plays by the kit's callbacks instead of on the wire: Connect Four,
    /// Mahjong and Reversal Big Two. Not every kind can.
    #[arg(long)]
    by_callbacks: bool,
    /// Where it looks (snoops).
    #[arg(long, default_value = ".")]
    folder: PathBuf,
}

fn main() -> ExitCode {
    let villain = Villain::parse();
    if villain.by_callbacks && !callbacks::include(villain.kind) {
        eprintln!("this kind of villain does not play by callbacks");
        return ExitCode::from(2);
    }
    if let Some(code) = foul::before_listening(&villain) {
        return code;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = match runtime {
        Ok(runtime) => runtime.block_on(serve(villain)),
        Err(error) => Err(error.into()),
    };
    match served {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

async fn serve(villain: Villain) -> Result<(), bot_kit::ListenError> {
    if villain.kind == Kind::Unsupported {
        return bot_kit::serve(Routes::default(), &[]).await;
    }
    if villain.by_callbacks || callbacks::only(villain.kind) {
        return callbacks::bot(villain).serve().await;
    }
    let routes = Routes::new(PlayService::new(Arc::new(villain)));
    bot_kit::serve(routes, &[SERVICE]).await
}

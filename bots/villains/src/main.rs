//! `villain KIND`: a Connect Four bot that plays by the rules until its time
//! has come, and then commits one foul, always the same. `--help` is the
//! catalogue. What it is for is to be caught.

mod foul;
mod game;
mod kind;
mod stream;

use std::{process::ExitCode, sync::Arc, time::Duration};

use clap::Parser;
use tonic::service::Routes;

use crate::{
    kind::Kind,
    stream::{PlayService, SERVICE},
};

/// Plays Connect Four as a gRPC service where BOT_LISTEN says, and misbehaves
/// in one way.
#[derive(Debug, Parser)]
#[command(
    version,
    after_help = "Example:\n  BOT_LISTEN=tcp:127.0.0.1:5001 villain late --after 3"
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
}

fn main() -> ExitCode {
    let villain = Villain::parse();
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
    let routes = Routes::new(PlayService::new(Arc::new(villain)));
    bot_kit::serve(routes, &[SERVICE]).await
}

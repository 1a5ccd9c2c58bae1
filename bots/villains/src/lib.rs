//! Villains: bots that play by the rules up to a point and then do one thing wrong,
//! always the same. They show that the referee and the check find it. `villain KIND`
//! is one of them, and its `--help` is the catalogue.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a program, which does wrong on purpose"
)]

mod callbacks;
mod escapes;
mod foul;
mod frames;
mod game;
mod games;
mod kind;
mod serve;
mod stream;
mod test_game;
mod whispers;

use std::{path::PathBuf, sync::Arc, time::Duration};

use clap::Args;
pub use kind::Kind;
use nix::sys::resource::{Resource, setrlimit};
pub use test_game::{GAME, TestGame};
use tonic::service::Routes;

use crate::stream::{PlayService, SERVICE, any_service};

/// The exit code of a villain that could not misbehave as it should.
const FAILED: u8 = 1;

/// A villain's command line.
#[derive(Clone, Debug, Args)]
pub struct Villain {
    /// What it does.
    kind: Kind,
    /// How many points it gives by the rules before it misbehaves.
    #[arg(long, default_value_t = 2)]
    after: u32,
    /// How long it takes before it listens (slow-start) or answers (slow,
    /// clockless, thinks-on) [default: the kind's own].
    #[arg(long, value_parser = humantime::parse_duration)]
    delay: Option<Duration>,
    /// How much it takes (memory).
    #[arg(long, default_value_t = 256)]
    megabytes: usize,
    /// Takes it as memory that processes can share (memory).
    #[arg(long)]
    shared: bool,
    /// Takes it before it listens, which it never does (memory).
    #[arg(long)]
    at_once: bool,
    /// A process that it starts takes it. When that has died it says so, or waits on (memory).
    #[arg(long, value_name = "THEN")]
    by_child: Option<AfterChild>,
    /// How much it keeps of each game (leaks).
    #[arg(long, default_value_t = 64)]
    kilobytes: usize,
    /// How many games it says that one process can play at once [default: 8
    /// where it is about that, else 1000].
    #[arg(long)]
    max_games: Option<u32>,
    /// What it calls itself.
    #[arg(long, default_value = "villain")]
    name: String,
    /// Its last words (crash, error-status) [default: the kind's own].
    #[arg(long)]
    words: Option<String>,
    /// Plays by the kit's callbacks instead of on the wire: Connect Four,
    /// Mahjong and Reversal Big Two. Not every kind can.
    #[arg(long)]
    by_callbacks: bool,
    /// Stops the process that started it for so long whenever the time for a point is over, and
    /// answers meanwhile.
    #[arg(
        long,
        value_name = "DURATION",
        value_parser = humantime::parse_duration,
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "100ms"
    )]
    stops: Option<Duration>,
    /// A thread of it computes all the time.
    #[arg(long)]
    spins: bool,
    /// Where it looks (snoops).
    #[arg(long, default_value = ".")]
    folder: PathBuf,
    /// A file of 25 MiB or more that it reads where it says something (whispers).
    #[arg(long = "book", value_name = "FILE")]
    books: Vec<PathBuf>,
    /// Before it answers it waits as long as this folder has a file with the game's name
    /// (with --by-callbacks).
    #[arg(long, value_name = "FOLDER")]
    hold: Option<PathBuf>,
    /// It leaves so many files in the folder of its socket, and a fiftieth as many folders, one
    /// in the other.
    #[arg(long, default_value_t = 0)]
    clutter: u32,
    #[command(flatten)]
    escapes: escapes::Escapes,
    #[arg(skip)]
    verb: Option<&'static str>,
}

/// The behaviour of a villain whose child has died.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum AfterChild {
    /// It ends its stream with a status that is an error.
    Says,
    /// It waits for its child for an hour.
    Waits,
}

impl Villain {
    /// Plays Connect Four as a gRPC service at the address in `BOT_LISTEN`, and
    /// misbehaves. `verb` precedes the kind on the command line of this program, for a
    /// villain that starts another one. Gives the program's exit code.
    #[must_use]
    pub fn main(mut self, verb: Option<&'static str>) -> u8 {
        self.verb = verb;
        if self.by_callbacks && !callbacks::include(self.kind) {
            eprintln!("this kind of villain does not play by callbacks");
            return 2;
        }
        // One that crashes does so on purpose: that is worth no core file.
        if let Err(error) = setrlimit(Resource::RLIMIT_CORE, 0, 0) {
            eprintln!("note: a crash may leave a core file: {error}");
        }
        if self.spins {
            std::thread::spawn(|| {
                loop {
                    std::hint::spin_loop();
                }
            });
        }
        if let Some(code) = foul::before_listening(&self) {
            return code;
        }
        if frames::adds_frames(self.kind) {
            return frames::main(&self);
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let served = match runtime {
            Ok(runtime) => runtime.block_on(serve(self)),
            Err(error) => Err(error.into()),
        };
        match served {
            Ok(()) => 0,
            Err(error) => {
                eprintln!("{error}");
                FAILED
            }
        }
    }

    fn delay(&self) -> Duration {
        self.delay.unwrap_or(match self.kind {
            Kind::SlowStart => Duration::from_secs(2),
            Kind::Clockless => Duration::from_secs(1),
            Kind::ThinksOn => Duration::from_millis(20),
            _ => Duration::from_millis(100),
        })
    }

    fn words<'a>(&'a self, own: &'a str) -> &'a str {
        self.words.as_deref().unwrap_or(own)
    }

    fn max_games(&self) -> u32 {
        self.max_games.unwrap_or(match self.kind {
            Kind::Overcommitted | Kind::Clings => 8,
            _ => 1000,
        })
    }
}

async fn serve(villain: Villain) -> Result<(), bot_kit::ListenError> {
    let kind = villain.kind;
    if kind == Kind::Unsupported {
        return bot_kit::serve(Routes::default(), &[], &[]).await;
    }
    if villain.by_callbacks || callbacks::only(kind) {
        return callbacks::bot(villain).serve().await;
    }
    let mut routes = Routes::new(PlayService::new(Arc::new(villain)));
    match kind {
        Kind::NoHealth => return serve::without_health(routes).await,
        Kind::NoReflection => return serve::without_reflection(routes, SERVICE).await,
        Kind::AnswersAnyService => {
            let router = routes.axum_router_mut();
            *router = std::mem::take(router).fallback(any_service);
        }
        _ => {}
    }
    bot_kit::serve(routes, &[SERVICE], &[]).await
}

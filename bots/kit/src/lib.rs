//! Writing a bot: implement the callbacks of a game, and one line of main.
//!
//! ```no_run
//! use bot_kit::{Bot, connect_four::{ConnectFourBot, GetPoint, Point}};
//!
//! /// Plays the leftmost column that has room.
//! struct Leftmost;
//!
//! impl ConnectFourBot for Leftmost {
//!     fn get_point(&mut self, ask: &GetPoint) -> Point {
//!         ask.points().next().expect("a column has room")
//!     }
//! }
//!
//! fn main() -> std::process::ExitCode {
//!     Bot::new("leftmost", "1.0").connect_four(|_start| Leftmost).main()
//! }
//! ```
//!
//! A bot that works on the game's own position instead of callbacks is a [`Thinker`].
//!
//! The kit does the rest: the server, its address, Ready, health, reflection, one value of
//! yours for each game, an orderly stop. A panic in a callback loses its own game only.

pub mod big_two;
pub mod connect_four;
mod join;
mod listen;
mod local_player;
pub mod mahjong;
pub mod othello;
mod session;
#[cfg(test)]
mod tests;
mod thinker;

use std::{process::ExitCode, sync::Arc};

pub use arena_proto::arena::v1::{Ending, FoulKind, GameOver, GameStart, SeatResult};
use arena_proto::opaque::OpaqueService;
pub use listen::{ListenError, listen, router, serve};
pub use local_player::LocalPlayer;
pub use thinker::{Chooser, Thinker, Turn};
use tonic::{Status, service::Routes};

use crate::session::{BotDescription, BotSession, NewPlayer, SeatPlayer};

/// A bot: its name, what it says of itself, the games that it plays.
pub struct Bot {
    options: BotDescription,
    games: Vec<GameService>,
    /// Those of the games that it [chooses](Self::chooses) in.
    descriptors: Vec<&'static [u8]>,
}

/// A game that a bot plays.
struct GameService {
    /// The path of its call.
    path: &'static str,
    new: Arc<NewPlayer>,
}

impl Bot {
    /// A bot that plays nothing yet. Name and version are shown to people.
    #[must_use]
    pub fn new(name: &str, version: &str) -> Self {
        Self {
            options: BotDescription {
                name: name.to_owned(),
                version: version.to_owned(),
                max_games: 1,
                can_resume: false,
                quick: false,
            },
            games: Vec::new(),
            descriptors: Vec::new(),
        }
    }

    /// Number of games that one process can play at once; 1 by default.
    #[must_use]
    pub fn max_games(mut self, games: u32) -> Self {
        self.options.max_games = games;
        self
    }

    /// The bot can be resumed mid-game: it has the callbacks `resumed_…`, or no memory.
    #[must_use]
    pub fn can_resume(mut self) -> Self {
        self.options.can_resume = true;
        self
    }

    /// The bot answers within microseconds, so it is called on the thread of
    /// the server, which saves two thread switches for each question.
    #[must_use]
    pub fn quick(mut self) -> Self {
        self.options.quick = true;
        self
    }

    /// Serves the call at this path; `new` makes the player of one game from its
    /// first call.
    fn plays(
        mut self,
        path: &'static str,
        new: impl Fn(&GameStart, &[u8]) -> Result<Box<dyn SeatPlayer>, Status> + Send + Sync + 'static,
    ) -> Self {
        self.games.push(GameService {
            path,
            new: Arc::new(new),
        });
        self
    }

    /// Serves until it is asked to stop. Where it listens is what the
    /// environment variable `BOT_LISTEN` says: `unix:PATH` or
    /// `tcp:HOST:PORT`. Where `BOT_JOIN` names an arena, it joins that instead, with the token of
    /// the file `BOT_TOKEN_FILE`.
    #[must_use]
    #[expect(clippy::print_stderr, reason = "it is the whole program of a bot")]
    pub fn main(self) -> ExitCode {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let served = match runtime {
            Ok(runtime) => runtime.block_on(self.serve()),
            Err(error) => Err(ListenError::Io(error)),
        };
        match served {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => {
                eprintln!("{error}");
                ExitCode::FAILURE
            }
        }
    }

    /// The same inside a runtime.
    ///
    /// # Errors
    ///
    /// [`ListenError`] where it can't listen there.
    pub async fn serve(self) -> Result<(), ListenError> {
        let options = Arc::new(self.options);
        let mut routes = Routes::default();
        let mut services = Vec::new();
        for GameService { path, new } in self.games {
            let options = options.clone();
            let router = routes.axum_router_mut();
            let play = move |calls| {
                let session = BotSession::new(calls, options.clone(), new.clone());
                std::future::ready(Ok(session))
            };
            *router = std::mem::take(router).route_service(path, OpaqueService(play));
            services.extend(path.trim_start_matches('/').split('/').next());
        }
        serve(routes, &services, &self.descriptors).await
    }
}

//! The referee: plays one game between bots over gRPC streams, enforces the
//! limits, and records what happened. It decides and never arranges; the only
//! place that waits for a player is here.

mod address;
mod bot;
mod busy;
mod connection;
mod cores;
mod dial;
mod excuses;
mod heartbeat;
mod host;
mod play;
mod pool;
mod presence;
mod probe;
pub mod proc;
mod process;
mod rerun;
mod resume;
mod serve;
mod services;
mod shortage;
mod still;
mod stops;
mod stream;
mod supervisor;
mod traffic;

pub use address::{Address, BadAddress};
pub use bot::Bot;
pub use connection::ConnectError;
pub use cores::{BotCores, Cores, core_count, referee_threads};
pub use dial::BotDial;
pub use excuses::Excuses;
pub use host::{HandOverError, HostedBot, parts};
pub use play::{CLOSE_GRACE, GameError, Live, SeatedGame};
pub use pool::{CutOff, Pool};
pub use presence::BotPresence;
pub use probe::{Health, Probe, ProbeReply, ProbeStream};
pub use process::{
    BotContainer, BotProcess, BotResource, BotSandbox, GAME_LOG_LIMIT, LOG_LIMIT, Launch,
    LeftBehind, MemoryGauge, MemoryOptions, STOP_GRACE, StartError, StopReport,
    folder_for_a_socket,
};
pub use referee_net::causes;
pub use rerun::{Reanswer, RerunEnd, rerun};
pub use resume::Resumption;
pub use serve::{ServeError, ServeOptions, ServiceAccess};
pub use shortage::Shortage;
pub use stream::Closed;
pub use supervisor::{Supervisor, supervise};

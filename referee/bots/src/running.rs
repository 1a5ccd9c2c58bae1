//! One process of a bot, or a bot that runs already: started or reached, asked without a game, and
//! ended.

use std::{
    io,
    sync::Arc,
    time::{Duration, Instant},
};

use referee::{BotProcess, ConnectError, Probe, STOP_GRACE, Shortage, StartError};
use referee_core::Foul;

use crate::{BotOptions, Entry, LaunchContext, LaunchTarget};

/// A bot that listens, and our connection to it.
pub struct RunningBot {
    /// The connection.
    pub probe: Probe,
    /// The process, where we started it.
    pub process: Option<Arc<BotProcess>>,
    /// From its start until it took our connection.
    pub took: Duration,
}

/// Reason why a bot does not run.
#[derive(Debug, thiserror::Error)]
pub enum NotRunning {
    /// It can't be started or reached, which is its own doing.
    #[error("{0}")]
    Foul(Foul),
    /// We lack what it needs.
    #[error(transparent)]
    Shortage(#[from] Shortage),
    /// We have no folder for its socket.
    #[error("could not make a folder among the temporary files (TMPDIR)")]
    Socket(#[source] io::Error),
}

impl LaunchContext {
    /// Starts one process of a bot, or reaches the bot where it runs already, within its time to
    /// start. `set` numbers its processes, for the names of their logs.
    ///
    /// # Errors
    ///
    /// It can't be started or reached, or we fail.
    pub async fn run(
        &self,
        entry: &Entry,
        options: &BotOptions,
        set: u64,
    ) -> Result<RunningBot, NotRunning> {
        let within = options.start_limit;
        let began = Instant::now();
        let source = self.source(entry, options, None, set);
        let (process, connected) = match source.map_err(NotRunning::Socket)? {
            LaunchTarget::Running(address) => {
                let dial = self.dial_of(entry);
                (None, Probe::connect(&address, &dial, within).await)
            }
            LaunchTarget::Process(launch) => {
                let process = Arc::new(launch.start().await?);
                let connected = Probe::of(process.clone(), within).await;
                (Some(process), connected)
            }
        };
        match connected {
            Ok(probe) => Ok(RunningBot {
                probe,
                process,
                took: began.elapsed(),
            }),
            Err(ConnectError::Shortage(shortage)) => Err(shortage.into()),
            Err(ConnectError::Failed(detail)) => Err(NotRunning::Foul(match process {
                Some(process) => process.not_connected(detail),
                None => Foul::Unreachable { detail },
            })),
        }
    }
}

impl RunningBot {
    /// Stops its process and all that it has started, where we started it.
    pub async fn end(self) {
        if let Some(process) = self.process {
            let _ = process.stop_and_report(STOP_GRACE).await;
            process.ended().await;
        }
    }
}

impl From<StartError> for NotRunning {
    fn from(error: StartError) -> Self {
        match error {
            StartError::Foul(foul) => Self::Foul(foul),
            StartError::Shortage(shortage) => Self::Shortage(shortage),
        }
    }
}

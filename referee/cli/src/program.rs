//! The verbs of the program `referee`.

use std::path::{Path, PathBuf};

use clap::{Parser, Subcommand};
use referee_net::{Token, TokenError};

use crate::{
    End, GateArgs, Hidden, HostArgs, LogFormat, LogFormatArgs, ReachArgs, SocketsArgs, WorkArgs,
    on_runtime, serve::ServeArgs, text::say, usage,
};

/// The command line of the program `referee`.
#[derive(Parser)]
#[command(
    name = "referee",
    version,
    about = "Plays games between bots over gRPC and says who broke which rule",
    after_help = "Example:\n  referee serve --listen 0.0.0.0:50050"
)]
pub struct RefereeCommand {
    #[command(flatten)]
    log: LogFormatArgs,
    #[command(subcommand)]
    verb: RefereeVerb,
}

#[derive(Subcommand)]
enum RefereeVerb {
    /// Serve `arena.v1.Referee/PlayGame`, health and reflection
    Serve(Box<ServeArgs>),
    /// Play what an arena hands out, until it is stopped
    Work(Box<WorkArgs>),
    /// Let clients with a certificate reach a bot's Unix socket over TLS
    Gate(Box<GateArgs>),
    /// Wait for a packed bot, which a referee hands over, and become it
    Host(HostArgs),
    /// Let every user connect to sockets that this user's bot makes
    Sockets(SocketsArgs),
    /// Say whether an address can be connected to
    Reach(ReachArgs),
    /// Write a new token to a new file that only you may read
    Token {
        /// The file.
        file: PathBuf,
    },
    #[command(flatten)]
    Hidden(Hidden),
}

impl RefereeCommand {
    /// Format of log lines.
    #[must_use]
    pub const fn log_format(&self) -> LogFormat {
        self.log.log_format
    }

    /// Does it.
    ///
    /// # Errors
    ///
    /// What was typed can't be meant, or the system fails.
    pub fn run(self) -> anyhow::Result<End> {
        match self.verb {
            RefereeVerb::Serve(serve) => on_runtime(serve.run()),
            RefereeVerb::Token { file } => new_token(&file),
            RefereeVerb::Work(work) => on_runtime(work.run()),
            RefereeVerb::Gate(gate) => on_runtime(gate.run()),
            RefereeVerb::Host(host) => on_runtime(host.run()),
            RefereeVerb::Sockets(sockets) => on_runtime(sockets.run()),
            RefereeVerb::Reach(reach) => on_runtime(reach.run()),
            RefereeVerb::Hidden(verb) => verb.run(),
        }
    }
}

fn new_token(file: &Path) -> anyhow::Result<End> {
    let written = Token::generate().and_then(|token| {
        token.write_new(file)?;
        Ok(token)
    });
    match written {
        Ok(token) => {
            say(&format!(
                "wrote a new token to {}\nits SHA-256, by which a server may know it: {}",
                file.display(),
                token.hash()
            ))?;
            Ok(End::Done)
        }
        Err(error @ TokenError::File { .. }) => usage(error.to_string()),
        Err(error) => Err(error.into()),
    }
}

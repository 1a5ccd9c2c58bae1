//! The verbs that a program starts itself with, so that one binary is enough.

use std::{
    ffi::OsStr,
    num::NonZeroU32,
    process::{Command, ExitCode},
};

use clap::Subcommand;
use line_adapters::{GtpOptions, LineDialect, LineSpec, ProgramCommand};
use strategy_adapter::AdapterError;

use crate::{End, sandbox, text::tell, usage};

/// The argument that this program is started again with, to stand for a container.
pub(crate) const CONTAINER: &str = "container";

/// A verb that nobody types.
#[derive(Debug, Subcommand)]
pub enum Hidden {
    /// Run a built-in bot (what `house:` bots are started with)
    #[command(hide = true)]
    Bot {
        /// NAME?parameter=value&…
        spec: String,
    },
    /// Play a compiled strategy (what `strategy:` bots are started with)
    #[command(hide = true)]
    Strategy {
        /// PATH?parameter=value&…
        spec: String,
    },
    /// Load a strategy for one game (started by the verb `strategy`)
    #[command(hide = true)]
    StrategyHost {
        /// The same.
        spec: String,
    },
    /// Play a program that reads and writes lines (what `stdio:` and `gtp:` bots are started with)
    #[command(hide = true)]
    Lines {
        /// What it speaks.
        dialect: LineDialect,
        /// Play many games with one process, one after another.
        #[arg(long)]
        keep: bool,
        /// Number of games at once, each with a process of its own.
        #[arg(long, default_value = "1")]
        max_games: NonZeroU32,
        /// The seconds of a move that an engine is told; 0 for none.
        #[arg(long)]
        time: Option<u32>,
        /// The command that sets up a position.
        #[arg(long)]
        setup: Option<String>,
        /// The program and its arguments.
        #[arg(last = true, required = true)]
        command: Vec<String>,
    },
    /// Kill the bots that outlive us (started by the program itself)
    #[command(hide = true)]
    Supervise,
}

impl Hidden {
    /// Builds walls around a bot and ends, if this process was started for that. Programs
    /// call it first of all, before they read arguments or start threads.
    #[must_use]
    pub fn enter_sandbox() -> Option<ExitCode> {
        let verb = std::env::args_os().nth(1)?;
        if verb == OsStr::new(CONTAINER) {
            return Some(referee_container::enter());
        }
        (verb == OsStr::new(sandbox::VERB)).then(referee_sandbox::enter)
    }

    /// The command of the process that kills the bots if this process ends without doing so.
    ///
    /// # Errors
    ///
    /// The path of this program is not known.
    pub fn supervisor() -> std::io::Result<Command> {
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("supervise");
        Ok(command)
    }

    /// Does it.
    ///
    /// # Errors
    ///
    /// The SPEC is wrong, or the system fails.
    pub fn run(self) -> anyhow::Result<End> {
        match self {
            Self::Bot { spec } => {
                // It knows its own hand, and its opponent runs as the same user.
                nix::sys::prctl::set_dumpable(false)?;
                let code = house_bots::main(&spec);
                Ok(if code == ExitCode::SUCCESS {
                    End::Done
                } else {
                    End::Usage
                })
            }
            Self::Strategy { spec } => match strategy_adapter::adapter(&spec) {
                Ok(()) => Ok(End::Done),
                Err(AdapterError::Strategy(error)) => usage(error.to_string()),
                Err(error) => {
                    tell(&error.to_string());
                    Ok(End::No)
                }
            },
            Self::StrategyHost { spec } => {
                let code = strategy_adapter::host(&spec);
                Ok(if code == ExitCode::SUCCESS {
                    End::Done
                } else {
                    End::Failed
                })
            }
            Self::Lines {
                dialect,
                keep,
                max_games,
                time,
                setup,
                command,
            } => {
                let mut words = command.into_iter();
                let Some(program) = words.next() else {
                    return usage("expected a command");
                };
                let command = ProgramCommand {
                    program,
                    arguments: words.collect(),
                };
                let dialect = match dialect {
                    LineDialect::Stdio => LineDialect::Stdio,
                    LineDialect::Gtp(_) => LineDialect::Gtp(GtpOptions { time, setup }),
                };
                let spec = LineSpec {
                    command,
                    dialect,
                    keep,
                    max_games,
                };
                match line_adapters::adapter(&spec) {
                    Ok(()) => Ok(End::Done),
                    Err(error) => {
                        tell(&error.to_string());
                        Ok(End::No)
                    }
                }
            }
            Self::Supervise => {
                referee::supervise();
                Ok(End::Done)
            }
        }
    }
}

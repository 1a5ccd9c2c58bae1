//! The walls around bots that are somebody's programs: which are asked for, which this
//! machine allows, and what is said of them.

use std::{
    path::{Path, PathBuf},
    sync::{Arc, OnceLock},
};

use clap::{Args, ValueEnum};
use referee::BotSandbox;
use referee_bots::{Entry, Trust};
use referee_sandbox::{Reexec, Sandbox, SandboxError, SandboxMode, Wall};

use crate::{bots::lobby_folder, text, usage};

/// The argument that this program is started again with, inside and outside of a sandbox.
pub const VERB: &str = "sandbox";

/// Which walls are asked for.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct SandboxArgs {
    /// Isolation of bots that are not built in: complete or an error (require), as much as this
    /// machine allows (best), or none (off). `arena selftest` shows it.
    #[arg(
        long,
        env = "ARENA_SANDBOX",
        value_enum,
        default_value_t,
        hide_possible_values = true
    )]
    sandbox: SandboxChoice,
    /// Bots may think while others move. Else those in a sandbox with a freezer are held
    /// still.
    #[arg(long)]
    pondering: bool,
}

#[derive(Clone, Copy, Debug, Default, ValueEnum)]
enum SandboxChoice {
    Require,
    #[default]
    Best,
    Off,
}

impl SandboxArgs {
    /// Finds out which walls hold here. Only the first call in a process does.
    pub fn probe(self) -> anyhow::Result<Arc<Sandbox>> {
        // A process has one --sandbox.
        static PROBED: OnceLock<Arc<Sandbox>> = OnceLock::new();
        if let Some(sandbox) = PROBED.get() {
            return Ok(sandbox.clone());
        }
        let mode = match self.sandbox {
            SandboxChoice::Require => SandboxMode::Require,
            SandboxChoice::Best => SandboxMode::Best,
            SandboxChoice::Off => SandboxMode::Off,
        };
        let sandbox = match Sandbox::probe(mode, Reexec::this_program([VERB])) {
            Ok(sandbox) => Arc::new(sandbox),
            Err(error @ SandboxError::Missing(_)) => {
                return usage(format!("--sandbox require: could not {error}"));
            }
            Err(error) => return Err(error.into()),
        };
        Ok(PROBED.get_or_init(|| sandbox).clone())
    }

    /// True if bots may think while others move.
    #[must_use]
    pub const fn allows_pondering(self) -> bool {
        self.pondering
    }

    /// The walls around these bots; none where all are trusted or run elsewhere. They see
    /// nothing of what is hidden, nor of the folder of runs.
    pub fn around<'e>(
        self,
        bots: impl IntoIterator<Item = &'e Entry>,
        hidden: impl IntoIterator<Item = PathBuf>,
    ) -> anyhow::Result<Option<BotSandbox>> {
        let is_foreign = |bot: &Entry| bot.launcher().trust() == Trust::Process;
        if !bots.into_iter().any(is_foreign) {
            return Ok(None);
        }
        let runs = Path::new("arena-runs").to_owned();
        self.around_all(hidden.into_iter().chain([runs])).map(Some)
    }

    /// The walls around whatever bot may come, which does not see what is hidden, nor the sockets
    /// of the lobby.
    pub fn around_all(
        self,
        hidden: impl IntoIterator<Item = PathBuf>,
    ) -> anyhow::Result<BotSandbox> {
        Ok(BotSandbox {
            sandbox: self.probe()?,
            hidden: hidden.into_iter().chain([lobby_folder()]).collect(),
            pondering: self.pondering,
        })
    }
}

/// Says what walls are around the bots of a run.
pub fn note(sandbox: Option<&BotSandbox>) {
    let Some(sandbox) = sandbox else {
        return;
    };
    let walls = sandbox.walls();
    if sandbox.sandbox.is_off() {
        return text::note(
            "sandbox: off: a bot can do all that you can: read and change your files, the store \
             and other bots, dial anybody, and leave processes behind",
        );
    }
    let missing = walls.missing();
    if missing.is_empty() {
        return text::note(&format!("sandbox: {walls}"));
    }
    let consequences: Vec<&str> = missing.iter().map(|one| &*one.consequence).collect();
    text::note(&format!(
        "sandbox: {walls}: {}; `arena selftest` says what to do about it",
        consequences.join("; ")
    ));
}

/// True if nothing that one of these bots does in one process can be known to the next one. The
/// containers of an image have the same files, and what was read of them stays in memory.
pub fn forgets<'a>(
    bots: impl IntoIterator<Item = &'a Entry>,
    sandbox: Option<&BotSandbox>,
) -> bool {
    let is_contained = |bot: &Entry| bot.launcher().trust() == Trust::Container;
    if bots.into_iter().any(is_contained) {
        return false;
    }
    let needed = [
        Wall::Files,
        Wall::Processes,
        Wall::Network,
        Wall::Ipc,
        Wall::SystemCalls,
        Wall::Ending,
        Wall::PageCache,
    ];
    sandbox.is_none_or(|sandbox| needed.iter().all(|wall| sandbox.walls().hold(*wall)))
}

//! The arguments for starting and reaching bots, the same for every verb and program.

use std::path::PathBuf;

use clap::Args;
use referee::{BotDial, BotSandbox};
use referee_bots::{Entry, LaunchOptions};

use crate::{Hidden, net::BotsTlsArgs, sandbox::SandboxArgs};

/// How bots are started and reached.
#[derive(Args, Clone, Debug, Default)]
pub struct LaunchArgs {
    #[command(flatten)]
    sandbox: SandboxArgs,
    #[command(flatten)]
    tls: BotsTlsArgs,
}

impl LaunchArgs {
    /// Settings for dialling bots that run somewhere; all addresses may be.
    ///
    /// # Errors
    ///
    /// A file is wrong.
    pub fn dial(&self) -> anyhow::Result<BotDial> {
        self.tls.load()
    }

    /// The walls around these bots: see [`SandboxArgs::around`].
    ///
    /// # Errors
    ///
    /// The machine allows fewer walls than are asked for.
    pub fn around<'e>(
        &self,
        bots: impl IntoIterator<Item = &'e Entry>,
        hidden: impl IntoIterator<Item = PathBuf>,
    ) -> anyhow::Result<Option<BotSandbox>> {
        self.sandbox.around(bots, hidden)
    }

    /// The walls around whatever bot may come: see [`SandboxArgs::around_all`].
    ///
    /// # Errors
    ///
    /// The machine allows fewer walls than are asked for.
    pub fn around_all(
        &self,
        hidden: impl IntoIterator<Item = PathBuf>,
    ) -> anyhow::Result<BotSandbox> {
        self.sandbox.around_all(hidden)
    }

    /// The options for starting and reaching bots, with these walls; no logs, no cores of
    /// their own, and no packed bots.
    ///
    /// # Errors
    ///
    /// A file is wrong, or this program can't be started again.
    pub fn options(&self, sandbox: Option<BotSandbox>) -> anyhow::Result<LaunchOptions> {
        Ok(LaunchOptions {
            sandbox,
            pondering: self.sandbox.allows_pondering(),
            dial: self.dial()?,
            ..LaunchOptions::new(Hidden::supervisor()?)
        })
    }
}

//! The argument that divides the cores.

use anyhow::Context as _;
use clap::Args;
use referee::Cores;

use crate::usage;

/// Whether cores are divided.
#[derive(Args, Clone, Copy, Debug)]
pub struct PinArgs {
    /// Keep the referee to cores of its own, and each bot to one of the others.
    #[arg(long)]
    pin: bool,
}

impl PinArgs {
    /// The cores as they are divided, if they are to be.
    ///
    /// # Errors
    ///
    /// There are not two cores.
    pub fn cores(self) -> anyhow::Result<Option<Cores>> {
        if !self.pin {
            return Ok(None);
        }
        match Cores::divide().context("could not look for cores")? {
            Some(cores) => Ok(Some(cores)),
            None => usage("--pin: there is one core, and the referee and bots need one each"),
        }
    }
}

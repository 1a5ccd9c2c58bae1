//! Bots: what a SPEC says ([`Schemes`], [`Entry`]), and how a bot is started or reached
//! ([`LaunchContext`]); what its program is ([`identity_of_file`], [`needs_of_file`]), and its
//! files packed for another machine ([`archive`]).
//!
//! It knows no game that is played, no lease and no worker.

mod address;
pub mod archive;
mod cause;
mod command;
mod context;
mod entry;
mod hint;
mod identity;
mod image;
mod input;
mod launcher;
mod lobby;
mod log_name;
mod needs;
mod neighbours;
mod output;
mod packed;
mod running;

pub use cause::{Cause, Runs};
pub use command::{CommandLine, check_home};
pub use context::{
    BotAddress, BotOptions, LaunchContext, LaunchError, LaunchOptions, LaunchTarget,
};
pub use entry::{Entry, EntryError, is_of_a_name};
pub use hint::{Hint, hint_for};
pub use identity::identity_of_file;
pub use image::{Unpinned, image_label, image_scheme};
pub use input::{open_input, read_input, read_input_text, read_stream_text};
pub use launcher::{Interface, Launcher, Reach, Scheme, Schemes, SpecReader, Trust};
pub use lobby::lobby_scheme;
pub use log_name::is_log_of;
pub use needs::{has_program, is_label, machine_label, needs_of_file, program_in_path};
pub use neighbours::{SharedFolder, shared_folders};
pub use output::{Output, OutputOptions, write_output, write_whole};
pub use packed::{PackedSpec, PackedSpecError, stays_in_folder};
pub use referee_sandbox::{MissingModule, ModuleLanguage, ModulePlace, without_returns};
pub use running::{NotRunning, RunningBot};

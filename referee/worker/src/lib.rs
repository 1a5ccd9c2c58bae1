//! A worker: what a bot is, how one is started or reached, and how a leased chunk of
//! games is played: assignments in, typed results out.
//!
//! It knows no store, no schedule and no terminal. It gets its work from a dispatcher
//! behind the trait [`Dispatch`], in owned messages ([`lease`]).

mod abilities;
mod address;
pub mod archive;
mod bots;
mod bounds;
mod buckets;
mod command;
mod dispatch;
mod entry;
mod games;
mod hint;
mod identity;
mod image;
mod input;
mod launcher;
pub mod lease;
mod needs;
mod packed;
mod packer;
mod records;
pub mod remote;
mod stop;
mod summary;
mod worker;
mod workers;

pub use abilities::{Abilities, Machine, Need};
pub use bots::{BotPool, ChunkBots};
pub use bounds::ChunkBounds;
pub use buckets::{Buckets, bucket};
pub use dispatch::{Dispatch, DispatchError};
pub use entry::{Entry, SpecError, is_of_a_name};
pub use games::{BotGames, ChunkGame, Games, Packed, WorkError};
pub use hint::{Hint, hint_for};
pub use identity::identity_of_file;
pub use image::{Unpinned, image_label, image_scheme};
pub use input::{open_input, read_input, read_input_text, read_stream_text};
pub use launcher::{
    BotAddress, BotOptions, LaunchContext, Launcher, Reach, Reader, Scheme, Schemes, Source, Trust,
};
pub use needs::{has_program, is_label, machine_label, needs_of_file};
pub use packed::{PackedSpec, PackedSpecError, stays_in_folder};
pub use packer::Packer;
pub use records::{ReadError, RecordFolder, read_record, write_whole};
pub use stop::Stop;
pub use summary::{Summary, course, moves};
pub use worker::Worker;
pub use workers::{WorkerIdentity, Workers};

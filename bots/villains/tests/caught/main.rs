//! Every villain against the referee, over real sockets with real processes.
#![allow(clippy::disallowed_methods, reason = "a test")]
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

mod addresses;
mod delays;
mod floods;
mod fouls;
mod leaks;
mod load;
mod neighbours;
mod processes;
mod repeats;
mod sandboxes;
mod service;
mod shortages;
mod starts;
mod unfit;
mod vocabulary;

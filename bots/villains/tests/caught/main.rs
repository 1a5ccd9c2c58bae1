//! Every villain against the referee, over real sockets with real processes.
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

mod delays;
mod fouls;
mod leaks;
mod neighbours;
mod processes;
mod repeats;
mod service;
mod starts;
mod unfit;
mod vocabulary;

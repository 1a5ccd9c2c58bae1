//! Every villain against the referee, over real sockets with real processes.

mod delays;
mod fouls;
mod leaks;
mod neighbours;
mod processes;
mod repeats;
mod service;
mod starts;
mod vocabulary;

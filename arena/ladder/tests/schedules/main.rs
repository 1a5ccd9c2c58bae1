//! Every schedule, played to its end with made-up scores: against brute force,
//! in every order, with bots that fail.

mod elimination;
mod json;
mod ladder;
mod listed;
mod order;
mod swiss;
mod vocabulary;

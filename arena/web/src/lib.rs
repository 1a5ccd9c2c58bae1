//! The web page of an arena: what is being played, what was played, and games against people. What
//! it shows is read from the store, and heard from the tournaments that are played in this process
//! ([`Hub`]); nothing is decided here. The same things are told to programs over HTTP as JSON, in
//! the types of `arena-events`.
//!
//! Pages are whole without a script; the one small script adds what changes while somebody looks,
//! clicks on boards, and stepping through a game without loading the page again.

#![forbid(unsafe_code)]

mod advice;
mod api;
mod assets;
mod caller;
mod client;
mod contest;
mod ended;
mod error;
mod evaluation;
mod expectation;
mod export;
mod feed;
mod frame;
mod guard;
mod hub;
mod language;
mod layout;
mod lists;
mod pages;
mod people;
mod places;
mod plot;
mod queue;
mod records;
mod sample;
mod serve;
mod site;
mod standing;
#[cfg(test)]
mod tests;
mod viewer;

pub use advice::{Advice, AdviceRequest, Adviser, NoAdvice, advise};
pub use expectation::ChooseBot;
pub use export::{BotLog, ExportError, bot_html, game_html, tournament_html, tournament_svg};
pub use hub::{Hub, HubObserver};
pub use language::Language;
pub use people::{Opponent, PeopleOptions, RecordBounds};
pub use serve::{serve, serve_until};
pub use site::SiteOptions;

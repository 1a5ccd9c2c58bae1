//! `arena` as a person uses it: real bots, real files, real signals.

#![allow(
    clippy::print_stdout,
    clippy::print_stderr,
    clippy::disallowed_methods,
    reason = "a test"
)]
#![expect(clippy::unwrap_used, reason = "a test that can't go on has failed")]

mod away;
mod beside;
mod bot_deaths;
mod browser;
mod certs;
mod check_referee;
mod checks;
mod cluster_api;
mod compose;
mod containers;
mod contest_pods;
mod contests;
mod deployment;
mod documents;
mod driver;
mod engine;
mod engine_author;
mod exams;
mod foreign_workers;
mod games;
mod images;
mod inputs;
mod kills;
mod kubernetes;
mod languages;
mod lines;
mod lobby;
mod metrics;
mod namespaces;
mod networks;
mod node;
mod notation;
mod outputs;
mod packed;
mod people;
mod pods;
mod postgres;
mod postgres_tls;
mod processes;
mod proxies;
mod registry;
mod releases;
mod remote;
mod replays;
mod runs;
mod secrets;
mod selftest;
mod sidecars;
mod site;
mod stops;
mod strategies;
mod tournaments;
mod travel;
mod viewers;
mod vocabulary;
mod workers;

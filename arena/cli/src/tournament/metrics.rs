//! What can be measured from outside while a tournament goes on, in Prometheus'
//! words. The same figures lie in the store as counters, for people.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use metrics::{
    Histogram, Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge,
    histogram,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};

const GAMES: &str = "arena_games_total";
const RUNNING: &str = "arena_games_running";
const VOIDED: &str = "arena_games_voided_total";
const QUEUE: &str = "arena_queue_wait_seconds";
const ASK: &str = "arena_ask_seconds";
const LATENESS: &str = "arena_referee_lateness_seconds";
const COMMIT: &str = "arena_store_commit_seconds";

/// Bounds of the buckets that times are counted in, in seconds.
const BOUNDS: &[f64] = &[
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0,
];

/// Serves the metrics at `http://ADDRESS/metrics` from now on.
///
/// # Errors
///
/// Nothing can listen there.
pub(crate) fn serve(address: SocketAddr) -> anyhow::Result<()> {
    PrometheusBuilder::new()
        .with_http_listener(address)
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BOUNDS)?
        .install()
        .with_context(|| format!("could not serve metrics at {address}"))?;
    describe_counter!(GAMES, "Games played, by game and by how they ended.");
    describe_gauge!(RUNNING, "Games that are being played.");
    describe_counter!(VOIDED, "Games played again because the referee was late.");
    describe_histogram!(QUEUE, Unit::Seconds, "How long work waited for a worker.");
    describe_histogram!(ASK, Unit::Seconds, "From a question to its answer, by bot.");
    describe_histogram!(
        LATENESS,
        Unit::Seconds,
        "The referee's worst delay in each second."
    );
    describe_histogram!(
        COMMIT,
        Unit::Seconds,
        "How long a commit of the store took."
    );
    Ok(())
}

pub(crate) fn ended(game: &str, how: &str) {
    counter!(GAMES, "game" => game.to_owned(), "ended" => how.to_owned()).increment(1);
}

pub(crate) fn voided(games: u32) {
    counter!(VOIDED).increment(games.into());
}

pub(crate) fn waited(time: Duration) {
    histogram!(QUEUE).record(time);
}

/// Where the times of a bot's answers go.
pub(crate) fn asks(bot: &str) -> Histogram {
    histogram!(ASK, "bot" => bot.to_owned())
}

pub(crate) fn late(time: Duration) {
    histogram!(LATENESS).record(time);
}

pub(crate) fn committed(time: Duration) {
    histogram!(COMMIT).record(time);
}

/// A game is being played until this is dropped.
pub(crate) fn running() -> Running {
    gauge!(RUNNING).increment(1.0);
    Running
}

pub(crate) struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        gauge!(RUNNING).decrement(1.0);
    }
}

//! What can be measured from outside while a tournament goes on, in Prometheus'
//! words. The same figures lie in the store as counters, for people.

use std::{net::SocketAddr, time::Duration};

use anyhow::Context as _;
use arena_store::Counter;
use arena_tournament::EndedGame;
use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use referee_worker::Buckets;

const GAMES: &str = "arena_games_total";
const RUNNING: &str = "arena_games_running";
const EXCUSED: &str = "arena_answers_excused_total";
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
    describe_counter!(
        EXCUSED,
        "Answers that were late but for a delay of the referee, by bot."
    );
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

/// A game has ended.
pub(crate) fn game(name: &str, game: &EndedGame) {
    for (_, counter, _) in &game.row.counters {
        if let Counter::Ended(ended) = counter {
            let ended = ended.to_string();
            counter!(GAMES, "game" => name.to_owned(), "ended" => ended).increment(1);
        }
    }
    for (seat, buckets) in game.thinking.iter().enumerate() {
        let Some(entrant) = game.row.lineup[game.row.order[seat]] else {
            continue;
        };
        for (who, what, count) in &game.row.counters {
            if *what == Counter::Excused && *who == Some(entrant) {
                let bot = game.players[seat].clone();
                counter!(EXCUSED, "bot" => bot).increment(count.unsigned_abs());
            }
        }
        let asks = histogram!(ASK, "bot" => game.players[seat].clone());
        for (bucket, count) in buckets {
            let longest = Duration::from_micros(Buckets::longest(*bucket));
            asks.record_many(longest, *count as usize);
        }
    }
}

/// A chunk was leased that had waited so long.
pub(crate) fn waited(time: Duration) {
    histogram!(QUEUE).record(time);
}

/// The referee's worst delay in a second.
pub(crate) fn late(time: Duration) {
    histogram!(LATENESS).record(time);
}

/// So many games are being played.
pub(crate) fn running(games: usize) {
    gauge!(RUNNING).set(games as f64);
}

/// A transaction of the store took so long.
pub(crate) fn committed(time: Duration) {
    histogram!(COMMIT).record(time);
}

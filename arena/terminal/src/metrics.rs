//! Figures that can be measured from outside while a tournament goes on, in Prometheus' words. The
//! same figures lie in the store as counters, for people.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    time::Duration,
};

use arena_store::{Counter, WorkerSession};
use arena_tournament::EndedGame;
use metrics::{
    Unit, counter, describe_counter, describe_gauge, describe_histogram, gauge, histogram,
};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder};
use referee_net::{PageBounds, ServerTls, TextPage, certificate_end, serve_pages};
use referee_worker::Buckets;
use tokio::net::TcpListener;

const GAMES: &str = "arena_games_total";
const RUNNING: &str = "arena_games_running";
const EXCUSED: &str = "arena_answers_excused_total";
const QUEUE: &str = "arena_queue_wait_seconds";
const ASK: &str = "arena_ask_seconds";
const LATENESS: &str = "arena_referee_lateness_seconds";
const LEFT: &str = "arena_chunks_waiting";
const WORKERS: &str = "arena_workers_connected";
const WORKER_RUNNING: &str = "arena_worker_games_running";
const WORKER_GAMES: &str = "arena_worker_games_total";
const WORKER_REFUSED: &str = "arena_worker_games_refused_total";
const WORKER_LATENESS: &str = "arena_worker_lateness_seconds";
const AWAY: &str = "arena_bot_away";
const CERTIFICATE: &str = "arena_certificate_expiry_timestamp_seconds";
const COMMIT: &str = "arena_store_commit_seconds";

/// Bounds of the buckets that times are counted in, in seconds.
const BOUNDS: &[f64] = &[
    0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0,
];

/// Time after which measurements are put into their buckets, also while nobody asks.
const UPKEEP: Duration = Duration::from_secs(5);

/// Serves the metrics at `/metrics` of this listener from now on.
///
/// # Errors
///
/// They are served already.
pub fn serve(listener: TcpListener, tls: Option<ServerTls>) -> anyhow::Result<()> {
    let figures = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), BOUNDS)?
        .install_recorder()?;
    let kept = figures.clone();
    tokio::spawn(async move {
        loop {
            tokio::time::sleep(UPKEEP).await;
            kept.run_upkeep();
        }
    });
    let bounds = PageBounds::default();
    let render = move |_: &str| TextPage::Ok(figures.render());
    tokio::spawn(serve_pages(listener, tls, bounds, &["/metrics"], render));
    describe_counter!(GAMES, "Games played, by game and by how they ended.");
    describe_gauge!(RUNNING, "Games that are being played.");
    describe_gauge!(
        LEFT,
        "Chunks of games that are left of the matches that can be played, by tournament."
    );
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
    describe_gauge!(
        CERTIFICATE,
        Unit::Seconds,
        "When a certificate that is served ends, in seconds since 1970, by file."
    );
    describe_gauge!(
        AWAY,
        "1 for a bot that runs as a service and is away, so that its games wait."
    );
    describe_gauge!(WORKERS, "Processes of workers that are connected.");
    describe_gauge!(WORKER_RUNNING, "Games that a worker is playing.");
    describe_counter!(WORKER_GAMES, "Games of a worker that count.");
    describe_counter!(
        WORKER_REFUSED,
        "Games of a worker that came too late or were refused."
    );
    describe_gauge!(
        WORKER_LATENESS,
        Unit::Seconds,
        "The worst delay of a worker's referee in the last minute."
    );
    Ok(())
}

/// Records the figures of workers.
pub fn workers(sessions: &[WorkerSession]) {
    let connected = sessions.iter().filter(|session| session.about.connected);
    gauge!(WORKERS).set(connected.count() as f64);
    let mut sums: BTreeMap<&str, (u64, u64, u64, u64)> = BTreeMap::new();
    for session in sessions {
        let about = &session.about;
        let sum = sums.entry(&session.worker).or_default();
        sum.0 += u64::from(about.running);
        sum.1 += about.accepted;
        sum.2 += about.stale + about.refused;
        sum.3 = sum.3.max(about.worst_delay_us);
    }
    for (worker, (running, accepted, refused, delay_us)) in sums {
        let worker = || worker.to_owned();
        gauge!(WORKER_RUNNING, "worker" => worker()).set(running as f64);
        counter!(WORKER_GAMES, "worker" => worker()).absolute(accepted);
        counter!(WORKER_REFUSED, "worker" => worker()).absolute(refused);
        gauge!(WORKER_LATENESS, "worker" => worker()).set(delay_us as f64 / 1e6);
    }
}

/// Records the number of chunks that are left of each tournament that is being played.
pub fn left(tournaments: &[(String, u64)], before: &mut BTreeSet<String>) {
    let now: BTreeSet<String> = tournaments.iter().map(|(name, _)| name.clone()).collect();
    for ended in before.difference(&now) {
        gauge!(LEFT, "tournament" => ended.clone()).set(0.0);
    }
    for (name, chunks) in tournaments {
        gauge!(LEFT, "tournament" => name.clone()).set(*chunks as f64);
    }
    *before = now;
}

/// Records when the certificates of these files end.
pub fn certificates(files: &[PathBuf]) {
    for file in files {
        if let Some(end) = certificate_end(file) {
            let file = file.display().to_string();
            gauge!(CERTIFICATE, "file" => file).set(end as f64);
        }
    }
}

/// Records which bots of the tournaments that are being played are away. `before` has those that
/// were.
pub fn all_away(away: BTreeSet<(String, String)>, before: &mut BTreeSet<(String, String)>) {
    for (tournament, bot) in before.difference(&away) {
        self::away(Some(tournament), bot, false);
    }
    for (tournament, bot) in &away {
        self::away(Some(tournament), bot, true);
    }
    *before = away;
}

/// A bot of a tournament is away, or has come back.
pub fn away(tournament: Option<&str>, bot: &str, is_away: bool) {
    let labels = [
        ("tournament", tournament.unwrap_or_default().to_owned()),
        ("bot", bot.to_owned()),
    ];
    gauge!(AWAY, &labels).set(f64::from(u8::from(is_away)));
}

/// A game has ended.
pub fn game(name: &str, game: &EndedGame) {
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
pub fn waited(time: Duration) {
    histogram!(QUEUE).record(time);
}

/// The referee's worst delay in a second.
pub fn late(time: Duration) {
    histogram!(LATENESS).record(time);
}

/// So many games are being played.
pub fn running(games: usize) {
    gauge!(RUNNING).set(games as f64);
}

/// A transaction of the store took so long.
pub fn committed(time: Duration) {
    histogram!(COMMIT).record(time);
}

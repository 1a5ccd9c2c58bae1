//! Reports: every record is examined before it counts, and some are replayed. A worker whose
//! record is of another game, or of none that was played so, is shut out.

use std::sync::Arc;

use arena_events::tournament::FaultKind;
use arena_proto::arena::v1 as proto;
use arena_tournament::{NotHeld, TournamentError};
use futures_util::future::join_all;
use rand::RngExt as _;
use referee_worker::{
    Summary,
    lease::{GameKey, GameReport, LeaseId, ReportReply, SessionId},
    remote::wire,
};
use tonic::Status;

use super::{Examines, Replays, ServiceState, failed, invalid};
use crate::{AccessError, Storage, running::RunningTournament};

/// So many of the first games of a process are replayed, whatever the sample.
const FIRST: u64 = 20;

/// A reported game.
struct ReportedGame<S: Storage> {
    /// Its tournament, where it is being played.
    running: Option<Arc<RunningTournament<S>>>,
    lease: LeaseId,
    key: GameKey,
    record: Vec<u8>,
    logs: Vec<String>,
    /// Reason why it is not even examined.
    refused: Option<NotHeld>,
    replays: bool,
}

/// Result of the examination of a report.
type Examined = Result<Option<Summary>, FaultKind>;

pub(super) async fn report<S: Storage>(
    shared: &Arc<ServiceState<S>>,
    session: SessionId,
    worker: &str,
    games: Vec<proto::GameReport>,
) -> Result<Vec<ReportReply>, Status> {
    let games = games.into_iter().map(|game| read(shared, session, game));
    let games: Vec<ReportedGame<S>> = games.collect::<Result<_, _>>()?;
    let (games, examined) = examine(shared, games).await?;
    for (game, found) in games.iter().zip(&examined) {
        if let Err(fault) = found {
            let refused = refuse(shared, session, worker, game, fault).await;
            return Err(refused.into());
        }
    }
    let taken = games.into_iter().zip(examined);
    let taken = join_all(taken.map(|(game, found)| take(shared, session, worker, game, found)));
    let taken = taken.await;
    let replies: Vec<ReportReply> = taken
        .into_iter()
        .collect::<Result<_, _>>()
        .map_err(|error| failed(&error))?;
    shared.sessions.with(session, |session| {
        for reply in &replies {
            session.reported(*reply);
        }
    });
    let counted = replies
        .iter()
        .filter(|reply| **reply == ReportReply::Accepted);
    let counted = counted.count() as u64;
    if counted > 0 {
        for running in shared.tournaments.all() {
            running.dispatcher.progressed(session);
        }
        if shared.credits.counted(worker, counted) {
            // Other threads of this worker may be waiting for that.
            shared.tournaments.tell_changed();
        }
    }
    Ok(replies)
}

async fn take<S: Storage>(
    shared: &ServiceState<S>,
    session: SessionId,
    worker: &str,
    game: ReportedGame<S>,
    found: Examined,
) -> Result<ReportReply, TournamentError> {
    let Some(running) = game.running else {
        return Ok(ReportReply::Ended);
    };
    if let Some(why) = game.refused {
        return Ok(why.into());
    }
    let Ok(Some(summary)) = found else {
        return Ok(ReportReply::Stale);
    };
    let report = GameReport {
        lease: game.lease,
        key: game.key,
        summary,
        record: Some(game.record),
        logs: game.logs,
    };
    // It looks at the lease once more: examining takes a while.
    let tournaments = &shared.tournaments;
    tournaments
        .take(&running, report, Some(session), Some(worker))
        .await
}

fn read<S: Storage>(
    shared: &ServiceState<S>,
    session: SessionId,
    game: proto::GameReport,
) -> Result<ReportedGame<S>, Status> {
    let lease = wire::lease_id(game.lease).map_err(invalid)?;
    let first = shared
        .sessions
        .with(session, |session| session.status.accepted < FIRST);
    let replays = match shared.options.replays {
        Replays::All => true,
        Replays::OneIn(_) if first == Some(true) => true,
        Replays::OneIn(n) => shared.sample.lock().random_range(0..n.max(1)) == 0,
    };
    let key = wire::key(game.key).map_err(invalid)?;
    let running = shared.tournaments.running(lease.run);
    let refused = running.as_ref().and_then(|running| {
        let held = running.dispatcher.check_game(Some(session), lease, key);
        held.inspect_err(|why| {
            let tournament = &running.name;
            tracing::warn!(%session, tournament, ?lease, ?key, %why, "a game is not examined");
        })
        .err()
    });
    Ok(ReportedGame {
        running,
        lease,
        key,
        record: game.record.into(),
        logs: game.logs,
        refused,
        replays,
    })
}

/// Examines records, where it may on a thread that may compute for long.
async fn examine<S: Storage>(
    shared: &ServiceState<S>,
    games: Vec<ReportedGame<S>>,
) -> Result<(Vec<ReportedGame<S>>, Vec<Examined>), Status> {
    let permit = shared.examiners.clone().acquire_owned().await;
    let work = move || {
        let _permit = permit;
        let examined = games.iter().map(|game| match &game.running {
            Some(running) if game.refused.is_none() => {
                let dispatcher = &running.dispatcher;
                dispatcher.examine(game.key, &game.record, game.replays)
            }
            _ => Ok(None),
        });
        let examined = examined.collect();
        (games, examined)
    };
    if shared.options.examines == Examines::Inline {
        return Ok(work());
    }
    let examined = tokio::task::spawn_blocking(work).await;
    examined.map_err(|error| failed(&error))
}

/// Shuts a worker out for a game that was not played so, and names both.
async fn refuse<S: Storage>(
    shared: &ServiceState<S>,
    session: SessionId,
    worker: &str,
    game: &ReportedGame<S>,
    fault: &FaultKind,
) -> AccessError {
    let tournament = game.running.as_ref().map_or("", |running| &running.name);
    let why = format!(
        "it reported game {}.{} of {tournament} with a record that does not prove it: {fault}",
        game.key.group, game.key.seating
    );
    tracing::error!(worker, why, "a worker is shut out");
    shared
        .sessions
        .with(session, |session| session.status.refused += 1);
    let kept = shared.tournaments.storage().shut_out_worker(worker, &why);
    if let Err(error) = kept.await {
        tracing::error!(worker, %error, "could not write that it is shut out");
    }
    let refused = AccessError::ShutOut {
        name: worker.to_owned(),
        why,
    };
    let _ = shared.look_up_workers().await;
    for (session, name) in shared.sessions.names() {
        if name == worker {
            shared.dismiss(session, &refused).await;
        }
    }
    refused
}

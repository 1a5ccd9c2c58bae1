//! Sends finished games to the arena, as many at once as have come while the last ones were
//! sent, again and again until the arena has them.

use arena_proto::arena::v1 as proto;
use tokio::sync::mpsc;

use super::{RemoteShared, Unsent, WorkerRefusal, limits::Within as _, wire};
use crate::lease::ReportReply;

/// The most games of a request.
const MOST_GAMES: usize = 256;
/// A request is sent when its records and logs have so many bytes.
const ENOUGH_BYTES: usize = 2 * 1024 * 1024;

/// Sends reports until the arena refuses this worker.
pub(super) async fn report(
    shared: &RemoteShared,
    mut unsent: mpsc::Receiver<Unsent>,
) -> WorkerRefusal {
    loop {
        let Some(first) = unsent.recv().await else {
            // Nobody can report any more.
            return std::future::pending().await;
        };
        let batch = batch(first, &mut unsent);
        if let Err(refused) = send(shared, batch).await {
            return refused;
        }
    }
}

fn batch(first: Unsent, unsent: &mut mpsc::Receiver<Unsent>) -> Vec<Unsent> {
    let size = |unsent: &Unsent| {
        let report = &unsent.report;
        let logs: usize = report.logs.iter().map(String::len).sum();
        report.record.as_ref().map_or(0, Vec::len) + logs
    };
    let mut bytes = size(&first);
    let mut batch = vec![first];
    while batch.len() < MOST_GAMES && bytes < ENOUGH_BYTES {
        let Ok(next) = unsent.try_recv() else { break };
        bytes += size(&next);
        batch.push(next);
    }
    batch
}

async fn send(shared: &RemoteShared, batch: Vec<Unsent>) -> Result<(), WorkerRefusal> {
    let (games, answers): (Vec<_>, Vec<_>) = batch
        .into_iter()
        .map(|Unsent { report, answer }| {
            let game = proto::GameReport {
                lease: Some(wire::from_lease_id(report.lease)),
                key: Some(wire::from_key(report.key)),
                record: report.record.unwrap_or_default().into(),
                logs: report.logs,
            };
            (game, answer)
        })
        .unzip();
    let message = proto::ReportRequest {
        session: shared.session().into(),
        games,
    };
    let ask = || async {
        let request = shared.request(message.clone());
        shared.client().report(request).await
    };
    let replies = shared.persist(ask).await?.into_inner();
    let within = replies.within();
    within.map_err(|error| shared.refuse(&error.to_string()))?;
    let replies = replies.games;
    if replies.len() != answers.len() {
        return Err(shared.refuse("it has not answered for every game of a report"));
    }
    for (answer, reply) in answers.into_iter().zip(replies) {
        let reply = wire::reply(reply).map_err(|error| shared.refuse(&error.to_string()))?;
        match reply {
            ReportReply::Accepted | ReportReply::Duplicate => {}
            ReportReply::Stale => {
                tracing::info!("a game came too late: its chunk was given to another worker");
            }
            ReportReply::NotHeld => {
                tracing::info!("a game does not count: the arena does not know its lease as ours");
            }
            ReportReply::Away => {
                tracing::info!("a game is played later: one of its bots is away");
            }
            ReportReply::Ended => {
                tracing::info!("a game does not count: its tournament was paused or has ended");
            }
        }
        // An error means that the game was cut off.
        let _ = answer.send(reply);
    }
    Ok(())
}

//! The stream of a session.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use arena_proto::arena::v1::{
    self as proto, attend_reply::Message as Down, attend_request::Message as Up,
};
use arena_store::WorkerStatus;
use prost::Message as _;
use referee_core::printable;
use referee_worker::{
    Abilities,
    lease::{LeaseId, SessionId},
    remote::{limits::Within as _, wire},
};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Request, Status, Streaming};

use super::{Replies, ServiceState, invalid};
use crate::{Storage, access::Credentials, sessions::JoinedSession};

/// Time that a worker has for its first message.
const JOIN_LIMIT: Duration = Duration::from_secs(10);
/// Largest number of messages that wait in a stream.
const QUEUE: usize = 64;

pub(super) async fn attend<S: Storage>(
    shared: Arc<ServiceState<S>>,
    request: Request<Streaming<proto::AttendRequest>>,
) -> Result<Replies<proto::AttendReply>, Status> {
    if !shared.tournaments.has_looked() {
        return Err(Status::unavailable("the arena is starting; try again"));
    }
    let shown = Credentials::of(&request)?;
    let mut up = request.into_inner();
    let first = tokio::time::timeout(JOIN_LIMIT, up.message()).await;
    let first = first.map_err(|_| Status::deadline_exceeded("expected Join at once"))??;
    let Some(proto::AttendRequest {
        message: Some(Up::Join(join)),
    }) = first
    else {
        return Err(Status::invalid_argument(
            "expected Join as the first message",
        ));
    };
    join.within().map_err(invalid)?;
    let id = wire::session(&join.session).map_err(invalid)?;
    check_version(join.version.as_ref())?;
    let worker = shared.identify(&shown, &join.name).await?;
    let status = describe(&join);
    let said = join.encoded_len();
    let rules = join.version.map(|version| version.rules);
    let machine = wire::machine(
        join.machine.unwrap_or_default(),
        rules.unwrap_or_default().into_keys(),
    );
    let (down, replies) = mpsc::channel(QUEUE);
    let number = shared.streams.fetch_add(1, Ordering::Relaxed);
    let can = Arc::new(Abilities::Remote(machine));
    let session = JoinedSession::new(
        worker.name.clone(),
        shown.proof(),
        can,
        status,
        said,
        shared.now_ms(),
    );
    shared.sessions.join(id, session, number, down)?;
    shared.sessions.with(id, |session| {
        session.send(Down::Welcome(proto::Welcome {
            name: worker.name.clone(),
            lease: Some(wire::from_duration(shared.tournaments.options().lease)),
        }));
    });
    tracing::info!(worker = worker.name, session = %id, "a worker has joined");
    tokio::spawn(async move {
        let left = tokio::select! {
            biased;
            () = shared.stop.cancelled() => false,
            left = hear(&shared, id, up) => left,
        };
        shared.sessions.stream_ended(id, number);
        if left {
            tracing::info!(worker = worker.name, session = %id, "a worker has left");
            shared.take_back(id).await;
        } else {
            tracing::info!(worker = worker.name, session = %id, "the stream of a worker is closed");
        }
    });
    Ok(Box::pin(ReceiverStream::new(replies)))
}

/// Checks that a worker plays by the same rules.
fn check_version(theirs: Option<&proto::Version>) -> Result<(), Status> {
    let ours = wire::own_version();
    let theirs = theirs.cloned().unwrap_or_default();
    let program = printable(&theirs.program);
    if theirs.protocol != ours.protocol || theirs.behavior != ours.behavior {
        return Err(Status::failed_precondition(format!(
            "this arena ({}) has protocol {} and referee behaviour {}, the worker ({program}) has \
             {} and {}; install the same version on both",
            ours.program, ours.protocol, ours.behavior, theirs.protocol, theirs.behavior
        )));
    }
    for (game, version) in &theirs.rules {
        if ours.rules.get(game).is_some_and(|ours| ours != version) {
            return Err(Status::failed_precondition(format!(
                "this arena ({}) has version {} of the rules of {game}, the worker ({program}) \
                 has {version}; install the same version on both",
                ours.program, ours.rules[game]
            )));
        }
    }
    Ok(())
}

/// A worker's statements about itself, fit to be shown.
fn describe(join: &proto::Join) -> WorkerStatus {
    let machine = join.machine.clone().unwrap_or_default();
    let version = join.version.as_ref();
    WorkerStatus {
        host: printable(&machine.host),
        program: printable(version.map_or("", |version| &version.program)),
        cores: machine.cores,
        memory_mib: machine.memory_mib,
        games_at_once: machine.games_at_once,
        provides: machine.provides.iter().map(|one| printable(one)).collect(),
        isolation: printable(&machine.isolation),
        ..WorkerStatus::default()
    }
}

/// Hears a worker until its stream ends; true where the worker has ended it itself.
async fn hear<S: Storage>(
    shared: &ServiceState<S>,
    id: SessionId,
    mut up: Streaming<proto::AttendRequest>,
) -> bool {
    loop {
        let message = up.message().await;
        if let Ok(Some(message)) = &message
            && let Err(error) = message.within()
        {
            tracing::warn!(session = %id, %error, "a worker's message is not read");
            return false;
        }
        match message {
            Ok(Some(message)) => match message.message {
                Some(Up::Renew(renew)) => {
                    if let Err(status) = renewed(shared, id, renew).await {
                        tracing::warn!(session = %id, %status, "a worker's message has no sense");
                        return false;
                    }
                }
                Some(Up::Live(update)) => {
                    if let Ok((lease, key, live)) = wire::live(update)
                        && let Some(running) = shared.tournaments.running(lease.run)
                        && let Err(why) = running.dispatcher.tell_live(id, lease, key, live)
                    {
                        // What a worker says in the moment in which it loses a lease.
                        tracing::debug!(session = %id, ?lease, %why, "a move is not told");
                    }
                }
                Some(Up::Join(_)) | None => {}
            },
            Ok(None) => return true,
            Err(_) => return false,
        }
    }
}

/// Renews what a session has, and tells it what it has no more.
async fn renewed<S: Storage>(
    shared: &ServiceState<S>,
    id: SessionId,
    renew: proto::Renew,
) -> Result<(), Status> {
    let delay = wire::duration(renew.delay, "delay").unwrap_or_default();
    let now = shared.now_ms();
    let named = renew.leases.into_iter();
    let named: Vec<LeaseId> = named
        .map(|lease| wire::lease_id(Some(lease)))
        .collect::<Result<_, _>>()
        .map_err(invalid)?;
    let mut lost = Vec::new();
    let mut unwanted = Vec::new();
    for lease in named {
        let running = shared.tournaments.running(lease.run);
        let kept = match &running {
            Some(running) => {
                let renewed = running.dispatcher.renew_for(Some(id), lease).await;
                // What can't be written now can be written the next time.
                renewed.unwrap_or(true)
            }
            None => false,
        };
        let groups = match &running {
            Some(running) if kept => running.dispatcher.unwanted(lease),
            _ => {
                lost.push(lease);
                continue;
            }
        };
        shared
            .sessions
            .with(id, |session| session.leases.insert(lease));
        if !groups.is_empty() {
            unwanted.push(proto::Unwanted {
                lease: Some(wire::from_lease_id(lease)),
                groups,
            });
        }
    }
    shared.sessions.with(id, |session| {
        session.heard(now, renew.running, delay);
        for lease in &lost {
            session.leases.remove(lease);
        }
        session.send(Down::Standing(proto::Standing {
            lost: lost.into_iter().map(wire::from_lease_id).collect(),
            unwanted,
        }));
    });
    Ok(())
}

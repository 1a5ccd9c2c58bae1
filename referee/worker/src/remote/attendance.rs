//! The stream of a session: says who the worker is, renews its leases, sends live moves up,
//! and hears which leases are lost.

use std::time::Duration;

use arena_proto::arena::v1::{self as proto, attend_reply, attend_request::Message};
use tokio::{sync::mpsc, time::Instant};
use tokio_stream::wrappers::ReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Code, Status, Streaming};

use super::{
    Joined, NO_CONNECTION, RemoteShared, WorkerRefusal,
    limits::{self, Within as _},
    wire,
};
use crate::lease::LiveUpdate;

/// Longest time until the arena's welcome.
const WELCOME_LIMIT: Duration = Duration::from_secs(20);
/// Leases are renewed so often within the time that they are valid.
const RENEWALS: u32 = 6;
/// A stream that has lived so long was no failure: the next pause is a short one again.
const STABLE: Duration = Duration::from_secs(30);

/// Keeps the stream open until the worker leaves or is refused.
pub(super) async fn attend(
    shared: &RemoteShared,
    mut live: mpsc::Receiver<LiveUpdate>,
    leave: &CancellationToken,
) -> Result<(), WorkerRefusal> {
    let mut pauses = shared.pauses();
    loop {
        let began = Instant::now();
        let status = match attend_once(shared, &mut live, leave).await {
            Ok(()) => return Ok(()),
            Err(status) => status,
        };
        if status.code() == Code::FailedPrecondition {
            return Err(shared.refuse(status.message()));
        }
        if let Some(refused) = shared.refused(&status) {
            return Err(refused);
        }
        tracing::warn!(reason = reason(&status), "{NO_CONNECTION}");
        shared.joined.send_replace(Joined::NotYet);
        if began.elapsed() > STABLE {
            pauses = shared.pauses();
        }
        tokio::select! {
            biased;
            () = leave.cancelled() => return Ok(()),
            () = tokio::time::sleep(pauses.next().unwrap_or(STABLE)) => {}
        }
    }
}

/// The reason why there is no connection: what the status says, and what is at the bottom of
/// it, as "the server speaks TLS".
fn reason(status: &Status) -> String {
    let mut words = status.message().to_owned();
    let mut source = std::error::Error::source(status);
    while let Some(error) = source {
        source = error.source();
        let cause = error.to_string();
        if source.is_none() && !words.contains(&cause) {
            words = format!("{words}: {cause}");
        }
    }
    referee_core::printable(&words)
}

/// One stream, from Join to its end. Ok where the worker leaves.
async fn attend_once(
    shared: &RemoteShared,
    live: &mut mpsc::Receiver<LiveUpdate>,
    leave: &CancellationToken,
) -> Result<(), Status> {
    let (up, messages) = mpsc::channel(64);
    let join = proto::Join {
        session: shared.session().into(),
        name: shared.options.name.clone(),
        version: Some(wire::own_version()),
        machine: Some(wire::from_machine(&shared.options.machine)),
    };
    send(&up, Message::Join(join)).await?;
    let opening = async {
        let request = shared.request(ReceiverStream::new(messages));
        let mut down = shared.client().attend(request).await?.into_inner();
        let welcome = welcome(&mut down).await?;
        Ok::<_, Status>((down, welcome))
    };
    let opened = tokio::select! {
        biased;
        () = leave.cancelled() => return Ok(()),
        opened = super::within(WELCOME_LIMIT, opening) => opened,
    };
    let (mut down, welcome) = opened?;
    let lease = wire::duration(welcome.lease, "lease");
    let lease = lease.map_err(|error| Status::internal(error.to_string()))?;
    let name = welcome.name;
    // What was held before a break is renewed before anything else is asked.
    send(&up, renewal(shared)).await?;
    shared.joined.send_replace(Joined::Yes { name });
    let mut renewals = tokio::time::interval((lease / RENEWALS).max(Duration::from_millis(10)));
    renewals.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    renewals.tick().await;
    loop {
        tokio::select! {
            biased;
            // Dropping `up` ends the stream, which says that the worker leaves.
            () = leave.cancelled() => {
                drop(up);
                let rest = async { while down.message().await.is_ok_and(|message| message.is_some()) {} };
                let _ = tokio::time::timeout(WELCOME_LIMIT, rest).await;
                return Ok(());
            }
            _ = renewals.tick() => send(&up, renewal(shared)).await?,
            message = down.message() => match message? {
                Some(message) => hear(shared, message)?,
                None => return Err(Status::unavailable("the arena has closed the stream")),
            },
            // The last one: there may be moves without a pause.
            Some(update) = live.recv() => {
                // A move may be lost: where the stream is full, renewals are worth more.
                let update = wire::from_live(update);
                let message = proto::AttendRequest { message: Some(Message::Live(update)) };
                let _ = up.try_send(message);
            }
        }
    }
}

async fn send(up: &mpsc::Sender<proto::AttendRequest>, message: Message) -> Result<(), Status> {
    let message = proto::AttendRequest {
        message: Some(message),
    };
    let sent = up.send(message).await;
    sent.map_err(|_| Status::unavailable("the stream is broken"))
}

async fn welcome(down: &mut Streaming<proto::AttendReply>) -> Result<proto::Welcome, Status> {
    match down.message().await? {
        Some(proto::AttendReply {
            message: Some(attend_reply::Message::Welcome(welcome)),
        }) if welcome.name.len() <= limits::NAME => Ok(welcome),
        _ => Err(Status::internal("expected a welcome")),
    }
}

fn renewal(shared: &RemoteShared) -> Message {
    let (running, delay) = (shared.options.gauge)();
    let held = shared.held.lock();
    Message::Renew(proto::Renew {
        leases: held.keys().copied().map(wire::from_lease_id).collect(),
        running,
        delay: Some(wire::from_duration(delay)),
    })
}

fn hear(shared: &RemoteShared, message: proto::AttendReply) -> Result<(), Status> {
    let bad = |error: wire::BadMessage| Status::internal(error.to_string());
    message.within().map_err(bad)?;
    let Some(attend_reply::Message::Standing(standing)) = message.message else {
        return Ok(());
    };
    for lost in standing.lost {
        let lost = wire::lease_id(Some(lost)).map_err(bad)?;
        if let Some(held) = shared.held.lock().remove(&lost) {
            held.lost.cancel();
        }
    }
    for unwanted in standing.unwanted {
        let lease = wire::lease_id(unwanted.lease).map_err(bad)?;
        if let Some(held) = shared.held.lock().get_mut(&lease) {
            held.unwanted.extend(unwanted.groups);
        }
    }
    Ok(())
}

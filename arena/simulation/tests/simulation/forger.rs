//! A simulated worker that forges every field of every message: it speaks of leases, attempts and
//! games that it does not have, with values that nothing should hold.

use std::time::Duration;

use arena_proto::arena::v1::{
    self as proto, attend_request::Message, dispatch_client::DispatchClient, live_update::Event,
};
use referee_net::Bearer;
use referee_worker::{lease::SessionId, remote::wire};
use tokio::sync::mpsc;
use tokio_stream::wrappers::ReceiverStream;
use tonic::{Code, Request, Status, transport::Channel};

use crate::{chance::Chance, watch::Watch};

/// Longest wait between two messages, in milliseconds.
const PAUSE: u64 = 400;
/// After so long without an answer it goes on.
const PATIENCE: Duration = Duration::from_secs(5);
/// Values that are at the edge of something.
const EDGES: [u64; 8] = [
    0,
    1,
    2,
    u32::MAX as u64,
    u32::MAX as u64 + 1,
    i64::MAX as u64,
    u64::MAX - 1,
    u64::MAX,
];

/// A process of the worker.
pub(crate) struct Forger {
    pub(crate) name: String,
    pub(crate) session: SessionId,
    pub(crate) channel: Channel,
    pub(crate) bearer: Option<Bearer>,
    pub(crate) watch: Watch,
    chance: Chance,
    /// Leases that it was given.
    seen: Vec<proto::Lease>,
}

impl Forger {
    pub(crate) fn new(
        name: String,
        session: SessionId,
        channel: Channel,
        bearer: Option<Bearer>,
        watch: Watch,
    ) -> Self {
        let seed = u64::from_be_bytes(session.0[..8].try_into().expect("8 bytes"));
        Self {
            name,
            session,
            channel,
            bearer,
            watch,
            chance: Chance::new(seed),
            seen: Vec::new(),
        }
    }

    /// Forges until this is over; false where the arena does not let it in any more.
    pub(crate) async fn run(&mut self, until: Duration) -> bool {
        while self.watch.now() < until {
            match self.attend(until).await {
                Err(status) if is_refused(&status) => {
                    self.watch.refuses(&self.name, status.message());
                    return false;
                }
                _ => self.pause().await,
            }
        }
        true
    }

    /// Joins as it should, and says on the stream and beside it what it should not.
    async fn attend(&mut self, until: Duration) -> Result<(), Status> {
        let (up, messages) = mpsc::channel(64);
        let send = |message| proto::AttendRequest {
            message: Some(message),
        };
        let join = self.join(self.session.0.to_vec());
        let _ = up.send(send(Message::Join(join))).await;
        let request = self.request(ReceiverStream::new(messages));
        let mut client = DispatchClient::new(self.channel.clone());
        let opened = tokio::time::timeout(PATIENCE, client.attend(request)).await;
        let _down = opened.map_err(|_| Status::unavailable("no answer"))??;
        while self.watch.now() < until && !up.is_closed() {
            self.pause().await;
            self.watch.count("forged");
            if self.chance.one_in(2) {
                let message = match self.chance.below(3) {
                    0 => Message::Live(self.live()),
                    1 => Message::Renew(self.renewal()),
                    _ => {
                        let session = self.session.0.to_vec();
                        Message::Join(self.join(session))
                    }
                };
                let _ = up.try_send(send(message));
            } else {
                match tokio::time::timeout(PATIENCE, self.call()).await {
                    Ok(Err(status)) if is_refused(&status) => return Err(status),
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// One call beside the stream.
    async fn call(&mut self) -> Result<(), Status> {
        let mut client = DispatchClient::new(self.channel.clone());
        match self.chance.below(5) {
            0 => {
                let message = proto::LeaseRequest {
                    session: self.session.0.to_vec().into(),
                    games: self.edge(),
                    scope: self.chance.one_in(4).then(|| proto::Scope {
                        tournament: "no such one".to_owned(),
                        matchup: Some(self.edge() as u32),
                    }),
                };
                let reply = client.lease(self.request(message)).await?.into_inner();
                if let Some(proto::lease_reply::Reply::Work(lease)) = reply.reply {
                    self.seen.push(lease);
                }
            }
            1 | 2 => {
                let games = (0..1 + self.chance.below(3)).map(|_| self.report());
                let message = proto::ReportRequest {
                    games: games.collect(),
                    session: self.named_session().into(),
                };
                client.report(self.request(message)).await?;
            }
            3 => {
                let message = proto::GiveBackRequest {
                    session: self.named_session().into(),
                    lease: Some(self.lease()),
                    unplayed: vec![self.key(); self.chance.below(4) as usize],
                    memory: vec![
                        proto::MemoryPeak {
                            bytes: Some(self.edge())
                        };
                        self.chance.below(6) as usize
                    ],
                };
                client.give_back(self.request(message)).await?;
            }
            _ => {
                let message = proto::FetchArchiveRequest {
                    session: self.named_session().into(),
                    hash: "0".repeat(self.chance.below(100) as usize),
                };
                // There is no such archive, which is no refusal of the worker.
                let _ = client.fetch_archive(self.request(message)).await;
            }
        }
        Ok(())
    }

    fn join(&mut self, session: Vec<u8>) -> proto::Join {
        proto::Join {
            session: session.into(),
            name: self.name.clone(),
            version: Some(wire::own_version()),
            machine: Some(proto::Machine {
                cores: self.edge() as u32,
                memory_mib: self.edge(),
                games_at_once: self.edge() as u32,
                provides: vec!["\u{1b}[2J../../x\0".to_owned(); self.chance.below(50) as usize],
                isolated: self.chance.one_in(2),
                ..proto::Machine::default()
            }),
        }
    }

    fn renewal(&mut self) -> proto::Renew {
        proto::Renew {
            leases: (0..self.chance.below(5)).map(|_| self.lease()).collect(),
            running: self.edge() as u32,
            delay: Some(self.duration()),
        }
    }

    fn live(&mut self) -> proto::LiveUpdate {
        proto::LiveUpdate {
            lease: Some(self.lease()),
            key: Some(self.key()),
            event: Some(match self.chance.one_in(2) {
                true => Event::Started(proto::GameStarted {
                    game_id: "../../x".to_owned(),
                }),
                false => Event::Played(proto::Played {
                    seat: self.edge() as u32,
                    number: self.edge() as u32,
                    notation: "\u{1b}[2J".to_owned(),
                    thought: Some(self.duration()),
                }),
            }),
        }
    }

    fn report(&mut self) -> proto::GameReport {
        proto::GameReport {
            lease: Some(self.lease()),
            key: Some(self.key()),
            record: vec![self.chance.below(256) as u8; self.chance.below(100) as usize].into(),
            logs: Vec::new(),
        }
    }

    /// A lease that it does not have: like one that it has seen, with one field changed at least.
    fn lease(&mut self) -> proto::LeaseId {
        let at = self.chance.below(self.seen.len().max(1) as u64) as usize;
        let seen = self.seen.get(at).and_then(|lease| lease.id);
        let mut id = seen.unwrap_or_else(|| proto::LeaseId {
            run: 1 + self.chance.below(3),
            chunk: Some(proto::Chunk {
                first_group: self.chance.below(12),
                groups: 1 + self.chance.below(4),
                matchup: self.chance.below(3) as u32,
                seating: None,
            }),
            attempt: 1 + self.chance.below(3) as u32,
        });
        let mut chunk = id.chunk.unwrap_or_default();
        let edge = self.edge();
        match self.chance.below(6) {
            0 => id.run = id.run.wrapping_add(1 + edge / 2),
            1 => chunk.matchup = chunk.matchup.wrapping_add(1 + (edge as u32) / 2),
            2 => chunk.first_group = chunk.first_group.wrapping_add(1 + edge / 2),
            3 => chunk.groups = chunk.groups.wrapping_add(1 + edge / 2),
            4 => {
                chunk.seating = match chunk.seating {
                    Some(seating) => Some(seating ^ 1),
                    None => Some(edge as u32),
                }
            }
            _ => id.attempt = id.attempt.wrapping_add(1 + (edge as u32) / 2),
        }
        id.chunk = Some(chunk);
        id
    }

    fn key(&mut self) -> proto::GameKey {
        proto::GameKey {
            group: match self.chance.one_in(4) {
                true => self.edge(),
                false => self.chance.below(12),
            },
            seating: self.chance.below(3) as u32,
        }
    }

    /// Its own session most of the time.
    fn named_session(&mut self) -> Vec<u8> {
        match self.chance.one_in(4) {
            true => vec![7; self.chance.below(20) as usize],
            false => self.session.0.to_vec(),
        }
    }

    fn duration(&mut self) -> prost_types::Duration {
        prost_types::Duration {
            seconds: self.edge().cast_signed(),
            nanos: (self.edge() as u32).cast_signed(),
        }
    }

    fn edge(&mut self) -> u64 {
        EDGES[self.chance.below(EDGES.len() as u64) as usize]
    }

    fn request<T>(&self, message: T) -> Request<T> {
        let mut request = Request::new(message);
        if let Some(bearer) = &self.bearer {
            bearer.add_to(request.metadata_mut());
        }
        request
    }

    async fn pause(&mut self) {
        let pause = self.chance.below(PAUSE);
        tokio::time::sleep(Duration::from_millis(20 + pause)).await;
    }
}

fn is_refused(status: &Status) -> bool {
    matches!(
        status.code(),
        Code::PermissionDenied | Code::Unauthenticated
    )
}

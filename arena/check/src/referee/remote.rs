//! A referee that runs elsewhere: the villains run here, and it is asked to play the games.

use std::time::Duration;

use arena_proto::arena::v1::{
    GameSpec, Limits, Player, game_event::Event, referee_client::RefereeClient,
};
use referee::{Address, BotProcess, causes};
use referee_bots::{Entry, LaunchContext, LaunchTarget};
use referee_core::{Record, Seat};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, UnixStream},
    task::JoinHandle,
};
use tonic::{Status, transport::Channel};

use super::{OPTIONS, RefereeError, SEED, VillainCase, VillainCases, in_order};

/// Longest time that connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// Time between two pings of a referee that is silent, and the longest time that it may take to
/// answer.
const PING_EVERY: Duration = Duration::from_secs(5);
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);
/// Time that a game may take beyond its limits: starting, a busy machine, and what is played again
/// for a delay of the referee's.
const SLACK: Duration = Duration::from_secs(120);
/// The largest record of one of these games, and far more; in bytes.
const LARGEST: usize = 16 << 20;

/// A referee, and what it plays with.
pub(super) struct RemoteReferee<'a> {
    client: RefereeClient<Channel>,
    /// The name or address by which it knows this machine.
    host: &'a str,
    villains: &'a VillainCases,
    context: &'a LaunchContext,
    honest: Reachable,
}

/// A villain's process, which listens on a socket of its own, and the port that
/// leads there.
struct Reachable {
    process: BotProcess,
    address: String,
    forwarding: JoinHandle<()>,
}

impl<'a> RemoteReferee<'a> {
    /// Connects to a referee and starts the honest bot.
    pub(super) async fn connect(
        address: &Address,
        host: &'a str,
        villains: &'a VillainCases,
        context: &'a LaunchContext,
    ) -> Result<Self, RefereeError> {
        let channel = channel(address).await;
        let channel = channel.map_err(|error| RefereeError::NotReached {
            address: address.clone(),
            why: causes(&error),
        })?;
        Ok(Self {
            client: RefereeClient::new(channel).max_decoding_message_size(LARGEST),
            host,
            villains,
            context,
            honest: Reachable::start(&villains.honest, host, context).await?,
        })
    }

    /// Has a game played with the villain in this seat.
    pub(super) async fn play(
        &self,
        villain: &VillainCase,
        seat: Seat,
        game_id: String,
    ) -> Result<Record, RefereeError> {
        let running = Reachable::start(&villain.entry, self.host, self.context).await?;
        let player = |name: &str, bot: &Reachable| Player {
            name: name.to_owned(),
            address: bot.address.clone(),
        };
        let limits = &villain.limits;
        let spec = GameSpec {
            game_id,
            game: self.villains.game.info().name.to_owned(),
            setup_json: villain.setup.to_string(),
            seed: Some(SEED.to_vec().into()),
            players: in_order(
                player(&villain.entry.name, &running),
                player("opponent", &self.honest),
                seat,
            ),
            limits: Some(Limits {
                start: limits.start.try_into().ok(),
                r#move: limits.per_move.try_into().ok(),
                budget: None,
            }),
        };
        let within = limits.start + 2 * limits.per_move + SLACK;
        let record = tokio::time::timeout(within, self.record_of(spec)).await;
        running.stop().await;
        record.unwrap_or_else(|_| Err(RefereeError::NotPlayed(silent_for(within))))
    }

    async fn record_of(&self, spec: GameSpec) -> Result<Record, RefereeError> {
        let events = self.client.clone().play_game(spec).await;
        let events = events.map_err(|status| failed(&status))?;
        let mut events = events.into_inner();
        while let Some(event) = events.message().await.map_err(|status| failed(&status))? {
            if let Some(Event::Finished(finished)) = event.event {
                return Ok(Record::parse(&finished.record)?.printable());
            }
        }
        let silent = "did not say how the game ended".to_owned();
        Err(RefereeError::NotPlayed(silent))
    }

    /// Stops the honest bot.
    pub(super) async fn stop(self) {
        self.honest.stop().await;
    }
}

/// The error for a failure of the referee.
fn failed(status: &Status) -> RefereeError {
    let silent = silent_for(ANSWERS_WITHIN);
    RefereeError::NotPlayed(match std::error::Error::source(status).map(causes) {
        // What the transport says has a cause; what the referee says has none.
        Some(why) if why.contains("keep-alive timed out") => silent,
        // In the middle of a game it does not say which it was.
        Some(why) => format!("{silent}, or the connection to it broke: {why}"),
        None => format!("answers {}: {}", status.code(), status.message()),
    })
}

fn silent_for(within: Duration) -> String {
    format!("did not answer within {within:?}")
}

/// A connection that breaks when the other end is silent for long.
async fn channel(address: &Address) -> Result<Channel, tonic::transport::Error> {
    address
        .endpoint()?
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(ANSWERS_WITHIN)
        .keep_alive_while_idle(true)
        .connect()
        .await
}

impl Reachable {
    async fn start(
        entry: &Entry,
        host: &str,
        context: &LaunchContext,
    ) -> Result<Self, RefereeError> {
        let source = context.source(entry, &OPTIONS, None, 0);
        let LaunchTarget::Process(launch) = source.map_err(RefereeError::Socket)? else {
            unreachable!("villains are programs");
        };
        let started = launch.start().await;
        let process = started.map_err(|error| RefereeError::NotStarted {
            name: entry.name.clone(),
            error,
        })?;
        let Address::Unix(socket) = process.address().clone() else {
            unreachable!("bots that we start listen on a socket");
        };
        let not_there = |error| RefereeError::Host {
            host: host.to_owned(),
            error,
        };
        let listener = TcpListener::bind((host, 0)).await.map_err(not_there)?;
        let address = format!("tcp:{}", listener.local_addr().map_err(not_there)?);
        let forwarding = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let socket = socket.clone();
                tokio::spawn(async move {
                    // What breaks at one end is broken at the other.
                    if let Ok(mut villain) = UnixStream::connect(socket).await {
                        let _ = stream.set_nodelay(true);
                        let _ = copy_bidirectional(&mut stream, &mut villain).await;
                    }
                });
            }
        });
        Ok(Self {
            process,
            address,
            forwarding,
        })
    }

    async fn stop(self) {
        self.process.stop();
        self.process.ended().await;
    }
}

impl Drop for Reachable {
    fn drop(&mut self) {
        self.forwarding.abort();
    }
}

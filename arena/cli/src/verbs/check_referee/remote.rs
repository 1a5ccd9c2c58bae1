//! A referee that runs somewhere: villains run here, and it is asked to play
//! the games.

use std::{process::Command, sync::Arc, time::Duration};

use anyhow::{Context as _, bail};
use arena_proto::arena::v1::{
    GameSpec, Limits, Player, game_event::Event, referee_client::RefereeClient,
};
use referee::{Address, Launch, Memory, Process, Supervisor, causes};
use referee_core::{Record, Seat};
use tokio::{
    io::copy_bidirectional,
    net::{TcpListener, UnixStream},
    task::JoinHandle,
};
use tonic::{Status, transport::Channel};
use villains::Kind;

use super::{AMPLE, SEED};
use crate::usage;

/// How long connecting may take.
const CONNECT: Duration = Duration::from_secs(10);
/// How often a referee that says nothing is asked whether it is there, and how long
/// it may take to say so.
const ASKED_EVERY: Duration = Duration::from_secs(5);
const ANSWERS_WITHIN: Duration = Duration::from_secs(15);
/// How much longer a game may take than its limits: starting, a busy machine, and
/// what is played again for a delay of the referee's.
const SLACK: Duration = Duration::from_secs(120);
/// The largest record of one of these games, and far more.
const LARGEST: usize = 16 << 20;

/// A referee, and what it plays with.
pub(super) struct Remote {
    client: RefereeClient<Channel>,
    /// What it knows this machine by.
    host: String,
    supervisor: Arc<Supervisor>,
    honest: Reachable,
}

/// A villain's process, which listens on a socket of its own, and the port that
/// leads there.
struct Reachable {
    process: Process,
    address: String,
    forwarding: JoinHandle<()>,
}

impl Remote {
    /// Connects to a referee and starts the honest bot.
    pub(super) async fn connect(referee: &str, host: &str) -> anyhow::Result<Self> {
        let address: Address = match referee
            .parse()
            .or_else(|_| format!("tcp:{referee}").parse())
        {
            Ok(address) => address,
            Err(_) => {
                return usage(format!(
                    "--referee {referee}: expected HOST:PORT, where `referee serve` listens"
                ));
            }
        };
        let channel = match channel(&address).await {
            Ok(channel) => channel,
            Err(error) => {
                return usage(format!(
                    "--referee {referee}: nothing answers at {address}: {:#}",
                    anyhow::Error::from(error)
                ));
            }
        };
        let mut command = Command::new(std::env::current_exe()?);
        command.arg("supervise");
        let supervisor = Supervisor::start(command).context("could not start the supervisor")?;
        let supervisor = Arc::new(supervisor);
        let honest = Reachable::start(Kind::Honest, &[], host, &supervisor).await?;
        Ok(Self {
            client: RefereeClient::new(channel).max_decoding_message_size(LARGEST),
            host: host.to_owned(),
            supervisor,
            honest,
        })
    }

    /// Has a game played with the villain in this seat.
    pub(super) async fn play(
        &self,
        kind: Kind,
        seat: Seat,
        game_id: String,
    ) -> anyhow::Result<Record> {
        let trial = kind.trial();
        let villain = Reachable::start(kind, trial.arguments, &self.host, &self.supervisor);
        let villain = villain.await?;
        let player = |name: String, bot: &Reachable| Player {
            name,
            address: bot.address.clone(),
        };
        let mut players = vec![
            player(kind.name(), &villain),
            player("opponent".to_owned(), &self.honest),
        ];
        if seat.index() > 0 {
            players.reverse();
        }
        let spec = GameSpec {
            game_id,
            game: villains::GAME.to_owned(),
            setup_json: trial.setup.to_owned(),
            seed: Some(SEED.to_vec().into()),
            players,
            limits: Some(Limits {
                start: trial.ready_within.try_into().ok(),
                r#move: trial.per_move.try_into().ok(),
                budget: None,
            }),
        };
        let within = trial.ready_within + 2 * trial.per_move + SLACK;
        let record = match tokio::time::timeout(within, self.record_of(spec)).await {
            Ok(record) => record,
            Err(_) => Err(silent(within)),
        };
        villain.stop().await;
        record
    }

    async fn record_of(&self, spec: GameSpec) -> anyhow::Result<Record> {
        let failed = |status: Status| match std::error::Error::source(&status).map(causes) {
            // What the transport says has a cause; what the referee says has none.
            Some(why) if why.contains("keep-alive timed out") => silent(ANSWERS_WITHIN),
            // In the middle of a game it does not say which it was.
            Some(why) => {
                anyhow::anyhow!(
                    "{}, or the connection to it broke: {why}",
                    silent(ANSWERS_WITHIN)
                )
            }
            None => anyhow::anyhow!(
                "the referee answers {}: {}",
                status.code(),
                status.message()
            ),
        };
        let events = self.client.clone().play_game(spec).await.map_err(failed)?;
        let mut events = events.into_inner();
        while let Some(event) = events.message().await.map_err(failed)? {
            if let Some(Event::Finished(finished)) = event.event {
                return Ok(Record::parse(&finished.record)?);
            }
        }
        bail!("the referee did not say how the game ended")
    }

    /// Stops the honest bot.
    pub(super) async fn stop(self) {
        self.honest.stop().await;
    }
}

/// A connection that breaks when the other end says nothing any more.
async fn channel(address: &Address) -> Result<Channel, tonic::transport::Error> {
    address
        .endpoint()?
        .connect_timeout(CONNECT)
        .http2_keep_alive_interval(ASKED_EVERY)
        .keep_alive_timeout(ANSWERS_WITHIN)
        .keep_alive_while_idle(true)
        .connect()
        .await
}

fn silent(within: Duration) -> anyhow::Error {
    anyhow::anyhow!("the referee did not answer within {within:?}")
}

impl Reachable {
    async fn start(
        kind: Kind,
        arguments: &[&str],
        host: &str,
        supervisor: &Arc<Supervisor>,
    ) -> anyhow::Result<Self> {
        let mut words = vec!["villain".into(), kind.name().into()];
        words.extend(arguments.iter().map(Into::into));
        let launch = Launch {
            program: std::env::current_exe()?,
            arguments: words,
            start_limit: AMPLE,
            memory: Memory::default(),
            log: None,
            supervisor: Some(supervisor.clone()),
        };
        let process = launch
            .start()
            .await
            .map_err(|foul| anyhow::anyhow!("{foul}"))?;
        let Address::Unix(socket) = process.address().clone() else {
            bail!("a villain listens on a socket");
        };
        let listener = match TcpListener::bind((host, 0)).await {
            Ok(listener) => listener,
            Err(error) => return usage(format!("--host {host}: could not listen there: {error}")),
        };
        let address = format!("tcp:{}", listener.local_addr()?);
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

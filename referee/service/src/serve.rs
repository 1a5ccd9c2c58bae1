//! The referee as a gRPC service: `Referee.PlayGame`, health and reflection.

use std::{
    collections::HashMap,
    pin::Pin,
    sync::{Arc, Weak},
    time::Duration,
};

use arena_proto::arena::v1::{
    self as proto, GameEvent, GameFinished, GameSpec, GameStarted,
    game_event::Event,
    referee_server::{Referee, RefereeServer},
};
use futures_util::Stream;
use parking_lot::Mutex;
use referee_core::{Foul, JsonBounds, Limits, PerSeat, Record, Seed, is_printable};
use referee_games::{Fixture, GAMES, ending, game, results};
use referee_net::{Bounds, ServerTls, TokenFile, incoming};
use tokio::{
    net::TcpListener,
    sync::{Semaphore, mpsc},
    time::timeout,
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tokio_util::sync::CancellationToken;
use tonic::{Request, Response, Status, service::interceptor::InterceptedService};

use crate::{Address, Bot, BotDial, GameError, Live, Pool, SeatedGame};

/// The largest game that is asked for, in bytes: a set-up, and who plays.
const MESSAGES: [(&str, usize); 1] = [("/arena.v1.Referee/PlayGame", 1024 * 1024)];
/// The largest question about its health, and of reflection, in bytes.
const LARGEST_QUESTION: usize = 4096;
/// Longest time to find out where the name of a bot's host leads.
const RESOLVE_LIMIT: Duration = Duration::from_secs(10);

/// The options of the service.
#[derive(Clone, Debug)]
pub struct ServeOptions {
    /// Number of threads that games are played on.
    pub threads: usize,
    /// Most games that it plays at once; further ones are refused.
    pub max_games: usize,
    /// Longest time that running games may go on when it is asked to stop.
    pub grace: Duration,
    /// The callers that it lets in, and the bots that it may dial.
    pub access: ServiceAccess,
}

/// The access to a service: who may call it, and which bots it may dial. By default
/// everybody, without TLS, and all.
#[derive(Clone, Debug, Default)]
pub struct ServiceAccess {
    /// TLS of the listener.
    pub tls: Option<ServerTls>,
    /// Callers must have one of these tokens, except for questions about its health.
    pub tokens: Option<TokenFile>,
    /// Bounds of the listener.
    pub bounds: Bounds,
    /// Settings for dialling bots.
    pub bots: BotDial,
}

/// Reason why the service can't run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The system can't start a thread.
    #[error("could not start its threads: {0}")]
    Threads(#[from] std::io::Error),
    /// The transport failed.
    #[error("could not serve: {0}")]
    Transport(#[from] tonic::transport::Error),
    /// Reflection could not be set up.
    #[error("could not describe itself: {0}")]
    Reflection(#[from] tonic_reflection::server::Error),
}

impl ServeOptions {
    /// Serves until it is stopped: then it takes no new game, and cuts off running games
    /// after the grace.
    ///
    /// # Errors
    ///
    /// [`ServeError`].
    pub async fn run(
        self,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> Result<(), ServeError> {
        let pool = Arc::new(Pool::new(self.threads)?);
        let service = Service {
            pool: pool.clone(),
            bots: Mutex::default(),
            room: Arc::new(Semaphore::new(self.max_games.min(Semaphore::MAX_PERMITS))),
            max_games: self.max_games,
            dial: self.access.bots,
            stop: stop.clone(),
        };
        let (health, health_service) = tonic_health::server::health_reporter();
        health.set_serving::<RefereeServer<Service>>().await;
        let reflection = tonic_reflection::server::Builder::configure()
            .register_encoded_file_descriptor_set(arena_proto::DESCRIPTORS)
            .build_v1()?;
        let told = stop.clone();
        tokio::spawn(async move {
            told.cancelled().await;
            health.set_not_serving::<RefereeServer<Service>>().await;
        });
        let ServiceAccess { bounds, tokens, .. } = self.access;
        let known = move |request: Request<()>| match &tokens {
            Some(tokens) => tokens.check(request.metadata()).map(|()| request),
            None => Ok(request),
        };
        let largest = bounds.message_bytes;
        let bounds = Bounds {
            message_bytes: LARGEST_QUESTION,
            messages: MESSAGES.to_vec(),
            ..bounds
        };
        let referee = RefereeServer::new(service).max_decoding_message_size(largest);
        let serving = bounds
            .server()
            .add_service(health_service)
            .add_service(InterceptedService::new(reflection, known.clone()))
            .add_service(InterceptedService::new(referee, known))
            .serve_with_incoming_shutdown(
                incoming(listener, self.access.tls, &bounds),
                stop.clone().cancelled_owned(),
            );
        let too_long = async {
            stop.cancelled().await;
            tokio::time::sleep(self.grace).await;
        };
        tokio::select! {
            served = serving => {
                pool.drain().await;
                Ok(served?)
            }
            () = too_long => {
                tracing::warn!(grace = ?self.grace, "games were still running and are cut off");
                Ok(())
            }
        }
    }
}

struct Service {
    pool: Arc<Pool>,
    /// The bots of running games by address, so that all games with one share a connection.
    bots: Mutex<HashMap<Address, Weak<Bot>>>,
    /// A permit for each further game.
    room: Arc<Semaphore>,
    max_games: usize,
    dial: BotDial,
    stop: CancellationToken,
}

type Events = Pin<Box<dyn Stream<Item = Result<GameEvent, Status>> + Send>>;

#[tonic::async_trait]
impl Referee for Service {
    type PlayGameStream = Events;

    async fn play_game(&self, request: Request<GameSpec>) -> Result<Response<Events>, Status> {
        if self.stop.is_cancelled() {
            return Err(Status::unavailable("the referee is stopping"));
        }
        let running = self.room.clone().try_acquire_owned().map_err(|_| {
            Status::resource_exhausted(format!(
                "{} games are running, which is as many as this referee plays at once",
                self.max_games
            ))
        })?;
        let (live, mut seen) = mpsc::unbounded_channel();
        let game = self.game(request.into_inner(), live).await?;
        let game_id = game.fixture.game_id.clone();
        let (events, outgoing) = mpsc::unbounded_channel();
        let pool = self.pool.clone();
        tokio::spawn(async move {
            let _running = running;
            let playing = async move {
                let played = game.play(&pool).await;
                // Dropping the pool joins its threads, so none of them may drop it.
                drop(pool);
                played
            };
            tokio::pin!(playing);
            loop {
                tokio::select! {
                    biased;
                    Some(live) = seen.recv() => {
                        let _ = events.send(Ok(event(shown(live, &game_id))));
                    }
                    played = &mut playing => {
                        while let Ok(live) = seen.try_recv() {
                            let _ = events.send(Ok(event(shown(live, &game_id))));
                        }
                        let _ = events.send(finished(played));
                        break;
                    }
                    // The call was cancelled; dropping the game cuts it off.
                    () = events.closed() => break,
                }
            }
        });
        Ok(Response::new(Box::pin(UnboundedReceiverStream::new(
            outgoing,
        ))))
    }
}

impl Service {
    /// Reads what is to be played.
    async fn game(
        &self,
        spec: GameSpec,
        watch: mpsc::UnboundedSender<Live>,
    ) -> Result<SeatedGame, Status> {
        let kind = game(&spec.game).ok_or_else(|| {
            let known: Vec<_> = GAMES.iter().map(|game| game.info().name).collect();
            let known = known.join(", ");
            invalid(format!(
                "game: expected one of {known}, found \"{}\"",
                spec.game
            ))
        })?;
        check_names(&spec)?;
        let setup = match spec.setup_json.trim() {
            "" => serde_json::Value::Null,
            text => JsonBounds::SETUP
                .read(text.as_bytes())
                .map_err(|error| invalid(format!("setup_json: {error}")))?,
        };
        let setup = kind
            .setup(&setup)
            .map_err(|error| invalid(format!("setup_json: {error}")))?;
        let seed = match spec.seed {
            Some(bytes) => <[u8; 32]>::try_from(&bytes[..])
                .map_err(|_| invalid(format!("seed: expected 32 bytes, found {}", bytes.len())))?,
            None => {
                let mut seed = [0; 32];
                getrandom::fill(&mut seed)
                    .map_err(|error| Status::internal(format!("could not draw a seed: {error}")))?;
                seed
            }
        };
        let seats = kind.info().seats;
        if spec.players.len() != usize::from(seats) {
            return Err(invalid(format!(
                "players: {} has {seats} seats, found {} players",
                kind.info().name,
                spec.players.len()
            )));
        }
        let limits = limits(spec.limits.as_ref())?;
        let mut bots = Vec::new();
        for player in &spec.players {
            let address = player.address.parse();
            let address = address.map_err(|error| invalid(format!("players: {error}")))?;
            self.check_dial(&address).await?;
            bots.push(self.bot(address, limits.start));
        }
        let names: Vec<String> = spec.players.into_iter().map(|player| player.name).collect();
        Ok(SeatedGame {
            fixture: Fixture {
                kind,
                game_id: spec.game_id,
                setup,
                seed: Seed::new(seed),
                players: names.into(),
                limits,
                spent: PerSeat::default(),
            },
            bots,
            watch: Some(watch),
        })
    }

    async fn check_dial(&self, address: &Address) -> Result<(), Status> {
        let checked = timeout(RESOLVE_LIMIT, self.dial.check(address)).await;
        let refused = checked.unwrap_or_else(|_| {
            let host = "its name could not be resolved in time";
            Err(format!("{address}: {host}"))
        });
        refused.map_err(|why| Status::permission_denied(Foul::evidence(format!("players: {why}"))))
    }

    fn bot(&self, address: Address, connect_limit: Duration) -> Arc<Bot> {
        let mut bots = self.bots.lock();
        bots.retain(|_, bot| bot.strong_count() > 0);
        if let Some(bot) = bots.get(&address).and_then(Weak::upgrade) {
            return bot;
        }
        let bot = Bot::at(address.clone(), connect_limit).with_dial(self.dial.clone());
        let bot = Arc::new(bot);
        bots.insert(address, Arc::downgrade(&bot));
        bot
    }
}

fn limits(given: Option<&proto::Limits>) -> Result<Limits, Status> {
    let standard = Limits::default();
    let Some(given) = given else {
        return Ok(standard);
    };
    Ok(Limits {
        start: limit("start", given.start)?.unwrap_or(standard.start),
        per_move: limit("move", given.r#move)?.unwrap_or(standard.per_move),
        budget: limit("budget", given.budget)?,
        answer_bytes: standard.answer_bytes,
    })
}

/// One limit, if the request has it. The message may hold any `i64`, and prost's own
/// conversion panics at `i64::MIN`.
fn limit(name: &str, given: Option<prost_types::Duration>) -> Result<Option<Duration>, Status> {
    let Some(given) = given else { return Ok(None) };
    let normal = given.normalized();
    let time = u64::try_from(normal.seconds)
        .ok()
        .zip(u32::try_from(normal.nanos).ok())
        .map(|(seconds, nanos)| Duration::new(seconds, nanos))
        .filter(|time| !time.is_zero() && *time <= Limits::LONGEST);
    if time.is_none() {
        return Err(invalid(format!(
            "limits.{name}: expected a positive duration of at most 365 days, \
             found {} s and {} ns",
            given.seconds, given.nanos
        )));
    }
    Ok(time)
}

/// Checks that the names in events, logs and the record are short and fit to be shown.
fn check_names(spec: &GameSpec) -> Result<(), Status> {
    const LONGEST: usize = 200;
    let players = spec.players.iter().map(|player| ("players", &player.name));
    for (what, name) in players.chain([("game_id", &spec.game_id)]) {
        if name.len() > LONGEST || !name.chars().all(is_printable) {
            return Err(invalid(format!(
                "{what}: expected a name of at most {LONGEST} bytes without control characters, \
                 found \"{name}\""
            )));
        }
    }
    Ok(())
}

/// The words may quote what was found.
fn invalid(words: String) -> Status {
    Status::invalid_argument(Foul::evidence(words))
}

const fn event(event: Event) -> GameEvent {
    GameEvent { event: Some(event) }
}

fn shown(live: Live, game_id: &str) -> Event {
    match live {
        Live::Started => Event::Started(GameStarted {
            game_id: game_id.to_owned(),
        }),
        Live::Played {
            seat,
            number,
            notation,
            thought,
        } => Event::Played(proto::Played {
            seat: seat.index() as u32,
            number,
            notation,
            thought: Some(
                thought
                    .try_into()
                    .expect("an answer takes less than 10^11 years"),
            ),
        }),
    }
}

fn finished(played: Result<Record, GameError>) -> Result<GameEvent, Status> {
    let record = match played {
        Ok(record) => record,
        Err(GameError::Setup(error)) => return Err(invalid(error.to_string())),
        Err(error @ GameError::CutOff(_)) => return Err(Status::unavailable(error.to_string())),
        Err(error @ GameError::Shortage(_)) => {
            return Err(Status::resource_exhausted(error.to_string()));
        }
    };
    let verdict = &record.result.verdict;
    // A void game has no outcome, so no reason.
    let reason = verdict
        .outcome()
        .map_or_else(String::new, |outcome| outcome.reason.clone());
    Ok(event(Event::Finished(GameFinished {
        ending: ending(verdict).into(),
        reason,
        results: results(verdict),
        record: record.to_json_lines(),
    })))
}

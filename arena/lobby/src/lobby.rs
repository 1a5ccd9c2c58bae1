//! `arena.v1.Lobby`: who attends, and the streams of games.

use std::{
    collections::HashMap,
    fs::File,
    pin::Pin,
    sync::Arc,
    time::{Duration, SystemTime},
};

use arena_proto::arena::v1::{
    self as proto, FromBot, FromSeat, Hello, Invitation, Ping, ToBot, ToSeat,
    from_bot::Message as Up, from_seat::Message as SeatUp, lobby_server, to_bot::Message as Down,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _};
use parking_lot::Mutex;
use referee_core::printable;
use referee_net::{NamedTokens, Token};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, mpsc, watch},
    time::{Instant, interval, timeout},
};
use tokio_stream::wrappers::{ReceiverStream, UnboundedReceiverStream};
use tokio_util::sync::CancellationToken;
use tonic::{
    Request, Response, Status, Streaming,
    service::{Routes, interceptor::InterceptedService},
};

use crate::{
    Attendant, LobbyError, LobbyFolder,
    seat::{Arrival, SeatGame},
    socket,
};

/// The largest message of each call that a bot makes, by its path, in bytes.
pub const MESSAGES: [(&str, usize); 2] = [
    ("/arena.v1.Lobby/Attend", 16 * 1024),
    ("/arena.v1.Lobby/Play", LARGEST_ANSWER),
];

/// The largest message of a bot in a game, in bytes. The referee judges what an answer may have.
const LARGEST_ANSWER: usize = 1024 * 1024;
/// Interval of pings.
const PING: Duration = Duration::from_secs(2);
/// A bot that has answered none for so long is gone. It is less than a bot has to start, so that
/// a game that begins meanwhile waits for the bot.
const SILENT: Duration = Duration::from_secs(6);
/// What is known of a bot is written down each time after so many pings.
const PINGS_NOTED: u64 = 5;
/// Time that a bot has for its first message.
const FIRST_MESSAGE: Duration = Duration::from_secs(10);
/// Most services of a bot, and longest name of one, in bytes.
const SERVICES: usize = 64;
const LONGEST_SERVICE: usize = 200;
/// Length of a key, in bytes.
const KEY: usize = 16;
/// Most streams that a bot has open at once. All bots and workers share those of the server.
const CALLS: usize = 256;
/// Most messages that wait in a control stream.
const QUEUE: usize = 64;
/// Most answers of a bot that wait for the referee.
const ANSWERS: usize = 16;

type Key = [u8; KEY];
type Replies<T> = Pin<Box<dyn Stream<Item = Result<T, Status>> + Send>>;

/// The bots that attend, and their games.
#[derive(Clone)]
pub struct Lobby(Arc<LobbyState>);

struct LobbyState {
    tokens: NamedTokens,
    folder: LobbyFolder,
    /// No other arena has the folder.
    _held: File,
    bots: Mutex<HashMap<String, Bot>>,
    seats: Mutex<HashMap<Key, OpenSeat>>,
    /// The calls that each bot may have open besides.
    calls: Mutex<HashMap<String, Arc<Semaphore>>>,
    stop: CancellationToken,
}

/// A bot that attends or has attended.
struct Bot {
    control: Option<Control>,
    /// The number of its control stream, while there is one.
    attends: watch::Sender<Option<u64>>,
    /// Number of its control streams so far.
    streams: u64,
}

/// The control stream of a bot.
struct Control {
    number: u64,
    down: mpsc::Sender<Result<ToBot, Status>>,
    /// Ends it where a newer one takes its place.
    superseded: CancellationToken,
}

/// A seat in a game that is played.
struct OpenSeat {
    bot: String,
    arrivals: mpsc::Sender<Arrival>,
}

/// The caller of a call.
#[derive(Clone)]
struct Caller {
    name: String,
    token: Token,
}

impl Lobby {
    /// A lobby for the bots that have these tokens, with its sockets in this folder, until it is
    /// stopped.
    ///
    /// # Errors
    ///
    /// The folder can't be used.
    pub fn open(
        tokens: NamedTokens,
        folder: LobbyFolder,
        stop: CancellationToken,
    ) -> Result<Self, LobbyError> {
        let held = folder.hold(&tokens.names())?;
        Ok(Self(Arc::new(LobbyState {
            tokens,
            folder,
            _held: held,
            bots: Mutex::default(),
            seats: Mutex::default(),
            calls: Mutex::default(),
            stop,
        })))
    }

    /// What is served to bots. Who calls is looked at before anything of a message is read.
    #[must_use]
    pub fn routes(&self) -> Routes {
        let state = self.0.clone();
        let admit = move |mut request: Request<()>| {
            let caller = state.admit(&request)?;
            request.extensions_mut().insert(caller);
            Ok(request)
        };
        let server =
            lobby_server::LobbyServer::new(self.clone()).max_decoding_message_size(LARGEST_ANSWER);
        Routes::new(InterceptedService::new(server, admit))
    }
}

impl LobbyState {
    fn admit(&self, request: &Request<()>) -> Result<Caller, Status> {
        let refused = |why| {
            Status::unauthenticated(format!(
                "{why}: BOT_TOKEN_FILE names the file with the token that this arena knows"
            ))
        };
        let token = Token::of_call(request.metadata()).map_err(|_| refused("it is no token"))?;
        let token = token.ok_or_else(|| refused("there is no token"))?;
        let name = self.tokens.name_of(&token);
        let name = name.ok_or_else(|| refused("this token is not known here"))?;
        Ok(Caller { name, token })
    }

    /// A place for one call of a bot, as long as its replies are.
    fn place(&self, name: &str) -> Result<OwnedSemaphorePermit, Status> {
        let mut calls = self.calls.lock();
        let of_bot =
            (calls.entry(name.to_owned())).or_insert_with(|| Arc::new(Semaphore::new(CALLS)));
        let place = of_bot.clone().try_acquire_owned();
        place.map_err(|_| {
            Status::resource_exhausted(format!("{name} has {CALLS} streams open; try again later"))
        })
    }

    /// A bot attends: a control stream of it that was open is superseded.
    fn join(
        self: &Arc<Self>,
        name: &str,
        services: &[String],
        down: mpsc::Sender<Result<ToBot, Status>>,
    ) -> Result<(u64, CancellationToken, CancellationToken), Status> {
        let mut bots = self.bots.lock();
        let listener = self.folder.listen(name).map_err(|error| {
            tracing::warn!(bot = name, %error, "could not make the socket of a bot");
            Status::unavailable(format!("the arena could not make a socket: {error}"))
        })?;
        let bot = bots.entry(name.to_owned()).or_insert_with(|| Bot {
            control: None,
            attends: watch::Sender::new(None),
            streams: 0,
        });
        bot.streams += 1;
        let number = bot.streams;
        let superseded = CancellationToken::new();
        let new = Control {
            number,
            down,
            superseded: superseded.clone(),
        };
        if let Some(old) = bot.control.replace(new) {
            let message = Some(Down::Superseded(proto::Superseded {}));
            let _ = old.down.try_send(Ok(ToBot { message }));
            old.superseded.cancel();
        }
        bot.attends.send_replace(Some(number));
        let ended = CancellationToken::new();
        let (state, services, end) = (self.clone(), services.to_vec(), ended.clone());
        let name = name.to_owned();
        tokio::spawn(async move {
            let play = |service: String| {
                let (state, name) = (state.clone(), name.clone());
                move |calls| {
                    let answers = state.seat(&name, &service, calls);
                    std::future::ready(answers)
                }
            };
            socket::serve(listener, &services, play, end).await;
        });
        Ok((number, superseded, ended))
    }

    /// A bot takes no game any more by this control stream.
    fn leave(&self, name: &str, number: u64) {
        let mut bots = self.bots.lock();
        let Some(bot) = bots.get_mut(name) else {
            return;
        };
        if bot
            .control
            .take_if(|control| control.number == number)
            .is_some()
        {
            self.folder.close(name);
            bot.attends.send_replace(None);
        }
    }

    /// Opens the stream of a seat, and invites its bot.
    fn seat(
        self: &Arc<Self>,
        name: &str,
        service: &str,
        calls: Streaming<Bytes>,
    ) -> Result<ReceiverStream<Result<Bytes, Status>>, Status> {
        let mut key: Key = [0; KEY];
        getrandom::fill(&mut key)
            .map_err(|error| Status::unavailable(format!("there is no chance: {error}")))?;
        let attends = self
            .bots
            .lock()
            .get(name)
            .map(|bot| bot.attends.subscribe());
        let attends = attends.ok_or_else(socket::breaks)?;
        let (answers, replies) = mpsc::channel(ANSWERS);
        let (arrivals, arriving) = mpsc::channel(1);
        let seat = OpenSeat {
            bot: name.to_owned(),
            arrivals,
        };
        self.seats.lock().insert(key, seat);
        let (state, name, service) = (self.clone(), name.to_owned(), service.to_owned());
        tokio::spawn(async move {
            let invite = || state.invite(&name, key, &service);
            let game = SeatGame::new(calls, answers, arriving, attends, invite);
            let ended = game.play().await;
            state.seats.lock().remove(&key);
            tracing::debug!(bot = name, ?ended, "a seat of the lobby is free");
        });
        Ok(ReceiverStream::new(replies))
    }

    fn invite(&self, name: &str, key: Key, service: &str) {
        let bots = self.bots.lock();
        if let Some(control) = bots.get(name).and_then(|bot| bot.control.as_ref()) {
            let message = Some(Down::Invitation(Invitation {
                key: Bytes::copy_from_slice(&key),
                service: service.to_owned(),
            }));
            let _ = control.down.try_send(Ok(ToBot { message }));
        }
    }

    /// Hears a bot until it leaves.
    async fn hear(
        self: Arc<Self>,
        caller: &Caller,
        hello: Hello,
        mut up: Streaming<FromBot>,
        down: mpsc::Sender<Result<ToBot, Status>>,
        (number, superseded, ended): (u64, CancellationToken, CancellationToken),
    ) {
        let name = &*caller.name;
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let mut about = Attendant {
            name: name.to_owned(),
            services: hello.services,
            program: printable(&hello.program),
            since_unix_ms: u64::try_from(since.unwrap_or_default().as_millis()).unwrap_or(u64::MAX),
            round_trip: None,
        };
        let say = |message| {
            down.try_send(Ok(ToBot {
                message: Some(message),
            }))
        };
        let mut ping = interval(PING);
        let mut pings = 0;
        // True if the last ping was answered.
        let mut is_answered = false;
        let mut sent = Instant::now();
        let mut heard = sent;
        let why = loop {
            tokio::select! {
                biased;
                () = superseded.cancelled() => break "another stream with its token is in its place",
                () = self.stop.cancelled() => {
                    let _ = say(Down::Drain(proto::Drain {}));
                    break "the arena stops";
                }
                _ = ping.tick() => {
                    if heard.elapsed() >= SILENT {
                        break "it is silent";
                    }
                    if self.tokens.name_of(&caller.token).as_deref() != Some(name) {
                        let words = "this token is not known here any more";
                        let _ = down.try_send(Err(Status::unauthenticated(words)));
                        break "its token was taken out";
                    }
                    sent = Instant::now();
                    let _ = say(Down::Ping(Ping { number: pings }));
                    pings += 1;
                    is_answered = false;
                }
                message = up.message() => match message {
                    Ok(Some(FromBot { message: Some(Up::Pong(pong)) })) => {
                        heard = Instant::now();
                        let is_last = pong.number.checked_add(1) == Some(pings);
                        if !is_last || std::mem::replace(&mut is_answered, true) {
                            continue;
                        }
                        let is_first = about.round_trip.replace(heard - sent).is_none();
                        if is_first {
                            let round_trip = heard - sent;
                            tracing::info!(bot = name, number, ?round_trip, "a bot attends");
                        }
                        // Another stream may be in its place, which no file may be written over.
                        let is_noted = is_first || pings.is_multiple_of(PINGS_NOTED);
                        if is_noted
                            && !ended.is_cancelled()
                            && !superseded.is_cancelled()
                            && let Err(error) = self.folder.note(&about)
                        {
                            tracing::warn!(%error, "could not write down who attends");
                        }
                    }
                    Ok(Some(FromBot { message: Some(Up::Drain(_)) })) => {
                        self.leave(name, number);
                        ended.cancel();
                    }
                    Ok(Some(_)) => {}
                    Ok(None) => break "it has ended its stream",
                    Err(_) => break "its stream broke",
                },
            }
        };
        tracing::info!(bot = name, number, why, "a bot attends no more");
        self.leave(name, number);
        ended.cancel();
    }
}

/// Checks what a bot says that it serves: it becomes a part of paths.
fn check(hello: &Hello) -> Result<(), Status> {
    let is_good = |service: &String| {
        let of_a_name = |c: char| c.is_ascii_alphanumeric() || "._".contains(c);
        !service.is_empty() && service.len() <= LONGEST_SERVICE && service.chars().all(of_a_name)
    };
    let services = &hello.services;
    let is_twice = |(at, one): (usize, &String)| services[..at].contains(one);
    if services.is_empty()
        || services.len() > SERVICES
        || !services.iter().all(is_good)
        || services.iter().enumerate().any(is_twice)
        || hello.program.len() > LONGEST_SERVICE
    {
        return Err(Status::invalid_argument(format!(
            "expected 1 to {SERVICES} services, each once, as in games.othello.v1.OthelloBot"
        )));
    }
    Ok(())
}

/// The first message of a stream.
async fn first<T>(up: &mut Streaming<T>, expected: &str) -> Result<T, Status> {
    let first = timeout(FIRST_MESSAGE, up.message()).await;
    let late = |_| Status::deadline_exceeded(format!("expected {expected} at once"));
    let first = first.map_err(late)??;
    first.ok_or_else(|| Status::invalid_argument(format!("expected {expected}")))
}

fn caller<T>(request: &Request<T>) -> Result<Caller, Status> {
    let caller = request.extensions().get::<Caller>();
    caller
        .cloned()
        .ok_or_else(|| Status::unauthenticated("there is no token"))
}

/// Replies that hold their call's place until they end.
fn held<T: 'static>(
    replies: impl Stream<Item = Result<T, Status>> + Send + 'static,
    place: OwnedSemaphorePermit,
) -> Replies<T> {
    Box::pin(replies.inspect(move |_| {
        let _ = &place;
    }))
}

#[tonic::async_trait]
impl lobby_server::Lobby for Lobby {
    type AttendStream = Replies<ToBot>;
    type PlayStream = Replies<ToSeat>;

    async fn attend(
        &self,
        request: Request<Streaming<FromBot>>,
    ) -> Result<Response<Self::AttendStream>, Status> {
        let caller = caller(&request)?;
        let place = self.0.place(&caller.name)?;
        let mut up = request.into_inner();
        let FromBot {
            message: Some(Up::Hello(hello)),
        } = first(&mut up, "Hello").await?
        else {
            return Err(Status::invalid_argument("expected Hello first"));
        };
        check(&hello)?;
        let (down, replies) = mpsc::channel(QUEUE);
        let message = Some(Down::Greeting(proto::Greeting {
            name: caller.name.clone(),
        }));
        let _ = down.try_send(Ok(ToBot { message }));
        let stream = self.0.join(&caller.name, &hello.services, down.clone())?;
        let state = self.0.clone();
        tokio::spawn(async move { state.hear(&caller, hello, up, down, stream).await });
        Ok(Response::new(held(ReceiverStream::new(replies), place)))
    }

    async fn play(
        &self,
        request: Request<Streaming<FromSeat>>,
    ) -> Result<Response<Self::PlayStream>, Status> {
        let caller = caller(&request)?;
        let place = self.0.place(&caller.name)?;
        let mut up = request.into_inner();
        let FromSeat {
            message: Some(SeatUp::Take(take)),
        } = first(&mut up, "Take").await?
        else {
            return Err(Status::invalid_argument("expected Take first"));
        };
        let key = Key::try_from(&*take.key);
        let arrivals = key.ok().and_then(|key| {
            let seats = self.0.seats.lock();
            // A key is good for the bot that was invited with it, and for nobody else.
            let seat = seats.get(&key).filter(|seat| seat.bot == caller.name)?;
            Some(seat.arrivals.clone())
        });
        let unknown = || Status::not_found(format!("{} has no seat with this key", caller.name));
        let arrivals = arrivals.ok_or_else(unknown)?;
        let (down, replies) = mpsc::unbounded_channel();
        let arrival = Arrival {
            calls: take.calls,
            answer: take.answer,
            up: up.boxed(),
            down,
        };
        arrivals.send(arrival).await.map_err(|_| unknown())?;
        Ok(Response::new(held(
            UnboundedReceiverStream::new(replies),
            place,
        )))
    }
}

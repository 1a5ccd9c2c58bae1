//! Joining an arena instead of listening: a bot that nobody can dial dials the arena's lobby
//! (`arena.v1.Lobby`), and is invited to games there. Their streams go on to the bot's own server,
//! through memory, so that a bot does not know how it is reached.

use std::{collections::HashSet, env, io, path::PathBuf, time::Duration};

use arena_proto::{
    arena::v1::{
        Drain, Failure, FromBot, FromSeat, Hello, Invitation, Pong, Take, ToSeat,
        from_bot::Message as ToArena, from_seat::Message as FromPlayer, lobby_client::LobbyClient,
        to_bot::Message as FromArena,
    },
    opaque::OpaqueCodec,
};
use bytes::Bytes;
use futures_util::{Stream, StreamExt as _, stream};
use hyper_util::rt::TokioIo;
use referee_net::{
    Bearer, ClientFiles, ClientTls, DialOptions, Target, Token, channel as channel_to, with_causes,
};
use tokio::{
    io::{DuplexStream, duplex},
    sync::{mpsc, watch},
    task::JoinSet,
    time::{Instant, sleep, timeout},
};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{
    Code, Request, Status, Streaming,
    client::Grpc,
    codegen::{InterceptedService, http::uri::PathAndQuery},
    transport::{Channel, Endpoint, server::Router},
};
use tower::service_fn;

use crate::listen::{GRACE, ListenError};

/// The arena sends a ping every two seconds. After this time without one its stream is dead.
const SILENT: Duration = Duration::from_secs(6);
/// Longest time for opening a stream.
const OPENS_WITHIN: Duration = Duration::from_secs(10);
/// Pause before the arena is dialled again: at first, and at most.
const FIRST_PAUSE: Duration = Duration::from_millis(500);
const LONGEST_PAUSE: Duration = Duration::from_secs(2);
/// Longest time for coming back to a game. The arena waits for less.
const BACK_WITHIN: Duration = Duration::from_secs(35);
/// Longest time for the last messages of a game, and of a control stream.
const LAST_MESSAGES: Duration = Duration::from_secs(5);
/// The largest message of an arena, in bytes.
const LARGEST_CALL: usize = 4 * 1024 * 1024;
/// Number of bytes that wait at each end of a pipe in memory.
const PIPE: usize = 64 * 1024;

/// An arena that a bot joins.
pub(crate) struct ArenaToJoin {
    target: Target,
    bearer: Bearer,
    tls: Option<ClientTls>,
}

type Client = LobbyClient<InterceptedService<Channel, Bearer>>;

/// A bot that attends.
#[derive(Clone)]
struct Attending {
    /// Takes the other ends of pipes to the bot's own server.
    pipes: mpsc::UnboundedSender<io::Result<DuplexStream>>,
    /// The connection that the control stream is on.
    lobby: watch::Receiver<Option<Client>>,
}

/// How a control stream has ended.
enum Ended {
    /// We were asked to stop.
    Stopped,
    /// Another process attends with the token.
    Superseded,
    /// The arena does not let us in, and will not later.
    Refused(String),
    /// It is to be tried again.
    Broken(String),
}

impl ArenaToJoin {
    /// The arena that `BOT_JOIN` names, if it names one, with the token in `BOT_TOKEN_FILE` and
    /// the certificate authority in `BOT_CA`.
    ///
    /// # Errors
    ///
    /// Which of them is wrong.
    pub(crate) fn of_environment() -> Result<Option<Self>, ListenError> {
        let Ok(address) = env::var("BOT_JOIN") else {
            return Ok(None);
        };
        let wrong = |why: String| ListenError::Join(format!("BOT_JOIN is \"{address}\": {why}"));
        let target: Target = address
            .parse()
            .map_err(|_| wrong("expected https://HOST:PORT or http://HOST:PORT".to_owned()))?;
        let Some(file) = env::var_os("BOT_TOKEN_FILE") else {
            return Err(wrong(
                "BOT_TOKEN_FILE must name the file with the token that you were given".to_owned(),
            ));
        };
        let token = Token::read(&PathBuf::from(file)).map_err(|error| wrong(error.to_string()))?;
        let bearer = Bearer::new(&token, &target, false);
        let ca = env::var_os("BOT_CA").map(PathBuf::from);
        let files = ClientFiles { ca, identity: None };
        let tls = target.has_tls().then(|| ClientTls::load(files)).transpose();
        Ok(Some(Self {
            bearer: bearer.map_err(|error| wrong(error.to_string()))?,
            tls: tls.map_err(|error| wrong(error.to_string()))?,
            target,
        }))
    }

    /// Attends until it is asked to stop, and comes back wherever it is cut off.
    ///
    /// # Errors
    ///
    /// The arena does not let it in, or another process has its place.
    pub(crate) async fn join(
        self,
        router: Router,
        services: &[&str],
        stop: impl Future<Output = ()> + Clone,
    ) -> Result<(), ListenError> {
        let (pipes, incoming) = mpsc::unbounded_channel();
        let (found, lobby) = watch::channel(None);
        let attending = Attending { pipes, lobby };
        let serving = router.serve_with_incoming(UnboundedReceiverStream::new(incoming));
        let staying = async {
            let mut games = Games::default();
            let mut pause = FIRST_PAUSE;
            let mut told = String::new();
            let ended = loop {
                let began = Instant::now();
                let stream = self.attend(services, &attending, &found, &mut games, stop.clone());
                let ended = stream.await;
                // Games go on by streams that are open; none is opened before it is found again.
                found.send_replace(None);
                let why = match ended {
                    Ended::Broken(why) => why,
                    ended => break ended,
                };
                if began.elapsed() > LONGEST_PAUSE {
                    pause = FIRST_PAUSE;
                }
                if told != why {
                    say(&format!("{}: {why}; it is tried again", self.target));
                    told = why;
                }
                tokio::select! {
                    () = stop.clone() => break Ended::Stopped,
                    () = sleep(pause) => pause = LONGEST_PAUSE.min(2 * pause),
                }
            };
            // Those that run go on for a while.
            let _ = timeout(GRACE, games.end()).await;
            let said = |why: String| Err(ListenError::Join(format!("{}: {why}", self.target)));
            match ended {
                Ended::Stopped | Ended::Broken(_) => Ok(()),
                Ended::Refused(why) => said(why),
                Ended::Superseded => said(
                    "another process has joined with the same token, and this one ends; each \
                     process needs a token of its own"
                        .to_owned(),
                ),
            }
        };
        tokio::select! {
            served = serving => Ok(served?),
            stayed = staying => stayed,
        }
    }

    /// One control stream, from its beginning to its end.
    #[expect(clippy::print_stdout, reason = "it is the whole program of a bot")]
    async fn attend(
        &self,
        services: &[&str],
        attending: &Attending,
        found: &watch::Sender<Option<Client>>,
        games: &mut Games,
        stop: impl Future<Output = ()>,
    ) -> Ended {
        let channel = match channel_to(&self.target, self.tls.clone(), &DialOptions::default()) {
            Ok(channel) => channel,
            Err(error) => return Ended::Refused(error.to_string()),
        };
        let client = LobbyClient::with_interceptor(channel, self.bearer.clone());
        let mut client = client.max_decoding_message_size(LARGEST_CALL);
        let (up, outgoing) = mpsc::unbounded_channel();
        let send = |message| {
            let message = Some(message);
            let _ = up.send(FromBot { message });
        };
        send(ToArena::Hello(Hello {
            services: services
                .iter()
                .map(|service| (*service).to_owned())
                .collect(),
            program: concat!("bot-kit ", env!("CARGO_PKG_VERSION")).to_owned(),
        }));
        tokio::pin!(stop);
        let opening = client.attend(UnboundedReceiverStream::new(outgoing));
        let opened = tokio::select! {
            () = &mut stop => return Ended::Stopped,
            opened = timeout(OPENS_WITHIN, opening) => opened,
        };
        let mut down = match opened {
            Ok(Ok(opened)) => opened.into_inner(),
            Ok(Err(status)) => return ended(&status),
            Err(_) => return Ended::Broken("it does not answer".to_owned()),
        };
        loop {
            let message = tokio::select! {
                () = &mut stop => {
                    send(ToArena::Drain(Drain {}));
                    let _ = timeout(GRACE, games.end()).await;
                    games.tasks.shutdown().await;
                    drop(up);
                    hear_out(&mut down).await;
                    return Ended::Stopped;
                }
                message = timeout(SILENT, down.message()) => message,
            };
            let message = match message {
                Ok(Ok(Some(message))) => message.message,
                Ok(Ok(None)) => return Ended::Broken("it has ended the stream".to_owned()),
                Ok(Err(status)) => return ended(&status),
                Err(_) => return Ended::Broken("nothing is heard of it".to_owned()),
            };
            match message {
                Some(FromArena::Greeting(greeting)) => {
                    println!("attending at {} as {}", self.target, greeting.name);
                    found.send_replace(Some(client.clone()));
                }
                Some(FromArena::Ping(ping)) => send(ToArena::Pong(Pong {
                    number: ping.number,
                })),
                Some(FromArena::Invitation(invitation)) => games.take(attending, invitation),
                Some(FromArena::Superseded(_)) => return Ended::Superseded,
                // The stream ends soon.
                Some(FromArena::Drain(_)) | None => {}
            }
        }
    }
}

/// The meaning of a status instead of a control stream.
fn ended(status: &Status) -> Ended {
    let why = status.message().to_owned();
    match status.code() {
        Code::Unimplemented => Ended::Refused(
            "this arena has no lobby: `arena serve --lobby FILE` opens it".to_owned(),
        ),
        Code::Unauthenticated | Code::PermissionDenied | Code::InvalidArgument => {
            Ended::Refused(why)
        }
        _ => Ended::Broken(with_causes(why, status)),
    }
}

#[expect(
    clippy::print_stderr,
    reason = "the log of a bot is its standard error"
)]
fn say(words: &str) {
    eprintln!("{words}");
}

/// The games that are played, by the keys of their invitations.
#[derive(Default)]
struct Games {
    tasks: JoinSet<Bytes>,
    keys: HashSet<Bytes>,
}

impl Games {
    /// Takes a seat. An invitation to a game that is played already says that it waits for us,
    /// which its own stream knows.
    fn take(&mut self, attending: &Attending, invitation: Invitation) {
        while let Some(over) = self.tasks.try_join_next() {
            if let Ok(key) = over {
                self.keys.remove(&key);
            }
        }
        let key = invitation.key.clone();
        if self.keys.insert(key.clone()) {
            let game = attending.clone().play(invitation);
            self.tasks.spawn(async move {
                game.await;
                key
            });
        }
    }

    /// Waits until all are over.
    async fn end(&mut self) {
        while self.tasks.join_next().await.is_some() {}
    }
}

/// How a stream of a game has ended.
enum Sat {
    /// The game is over for us.
    Over,
    /// The stream broke.
    Broken,
    /// The arena was reached in another way.
    Moved,
}

impl Sat {
    fn by(status: &Status) -> Self {
        match is_last(status) {
            true => Self::Over,
            false => Self::Broken,
        }
    }
}

/// Both sides of a stream of a game.
type OpenStream = (mpsc::UnboundedSender<FromSeat>, Streaming<ToSeat>);

/// A game on the side of the bot.
struct Seat<A> {
    key: Bytes,
    /// Number of calls that the bot has been given.
    heard: u64,
    /// Its last answer.
    last: Bytes,
    /// To the bot.
    calls: mpsc::UnboundedSender<Bytes>,
    /// Of the bot.
    answers: A,
}

impl Attending {
    async fn play(mut self, invitation: Invitation) {
        let Ok(path) = format!("/{}/Play", invitation.service).parse::<PathAndQuery>() else {
            return;
        };
        let (calls, hearing) = mpsc::unbounded_channel();
        let mut bot = Grpc::new(self.own_server());
        let opened = match bot.ready().await {
            Ok(()) => {
                let calls = Request::new(UnboundedReceiverStream::new(hearing));
                bot.streaming(calls, path, OpaqueCodec).await
            }
            Err(error) => Err(Status::unavailable(error.to_string())),
        };
        let answers = match opened {
            Ok(opened) => opened.into_inner().left_stream(),
            Err(status) => stream::iter([Err(status)]).right_stream(),
        };
        let mut seat = Seat {
            key: invitation.key,
            heard: 0,
            last: Bytes::new(),
            calls,
            answers,
        };
        let mut away_since = None;
        let mut old = None;
        loop {
            let client = self.lobby.borrow_and_update().clone();
            if let Some(client) = client {
                let sat = seat.sit(client, &mut self.lobby, &mut old, &mut away_since);
                match sat.await {
                    Sat::Over => break,
                    Sat::Moved => continue,
                    Sat::Broken => {}
                }
            }
            old = None;
            let since = away_since.get_or_insert_with(Instant::now);
            if since.elapsed() > BACK_WITHIN {
                return;
            }
            let _ = timeout(FIRST_PAUSE, self.lobby.changed()).await;
        }
        let Seat { calls, answers, .. } = seat;
        drop(calls);
        let _ = timeout(LAST_MESSAGES, answers.for_each(|_| async {})).await;
    }

    /// A connection to the bot's own server.
    fn own_server(&self) -> Channel {
        let pipes = self.pipes.clone();
        let connector = service_fn(move |_| {
            let (ours, theirs) = duplex(PIPE);
            let sent = pipes.send(Ok(theirs)).map_err(io::Error::other);
            async move { sent.map(|()| TokioIo::new(ours)) }
        });
        Endpoint::from_static("http://bot").connect_with_connector_lazy(connector)
    }
}

impl<A: Stream<Item = Result<Bytes, Status>> + Unpin> Seat<A> {
    /// Plays by one stream. The `old` one is open until the arena has this one: to it that is no
    /// absence.
    async fn sit(
        &mut self,
        mut client: Client,
        lobby: &mut watch::Receiver<Option<Client>>,
        old: &mut Option<OpenStream>,
        away_since: &mut Option<Instant>,
    ) -> Sat {
        let (up, outgoing) = mpsc::unbounded_channel();
        let sender = up.clone();
        let send = |message| {
            let _ = sender.send(FromSeat { message });
        };
        send(Some(FromPlayer::Take(Take {
            key: self.key.clone(),
            calls: self.heard,
            answer: self.last.clone(),
        })));
        let opening = timeout(
            OPENS_WITHIN,
            client.play(UnboundedReceiverStream::new(outgoing)),
        );
        let mut down = tokio::select! {
            () = moved(lobby) => return Sat::Moved,
            opened = opening => match opened {
                Ok(Ok(opened)) => opened.into_inner(),
                Ok(Err(status)) => return Sat::by(&status),
                Err(_) => return Sat::Broken,
            }
        };
        *old = None;
        *away_since = None;
        loop {
            tokio::select! {
                () = moved(lobby) => {
                    *old = Some((up, down));
                    return Sat::Moved;
                }
                message = down.message() => match message {
                    Ok(Some(ToSeat { call: Some(call) })) => {
                        self.heard += 1;
                        let _ = self.calls.send(call);
                    }
                    Ok(Some(ToSeat { call: None })) => send(None),
                    Ok(None) => return Sat::Over,
                    Err(status) => return Sat::by(&status),
                },
                answer = self.answers.next() => {
                    match answer {
                        Some(Ok(answer)) => {
                            self.last = answer.clone();
                            send(Some(FromPlayer::Answer(answer)));
                            continue;
                        }
                        Some(Err(status)) => send(Some(FromPlayer::Failure(Failure {
                            code: i32::from(status.code()).unsigned_abs(),
                            message: status.message().to_owned(),
                        }))),
                        // It has hung up.
                        None => send(Some(FromPlayer::Failure(Failure::default()))),
                    }
                    break;
                }
            }
        }
        // The bot has ended its game.
        drop((up, sender));
        hear_out(&mut down).await;
        Sat::Over
    }
}

/// Waits for the end of a stream whose side that is ours has ended: who drops a stream may lose its
/// last message.
async fn hear_out<T>(down: &mut Streaming<T>) {
    let rest = async { while let Ok(Some(_)) = down.message().await {} };
    let _ = timeout(LAST_MESSAGES, rest).await;
}

/// Waits until the arena is reached by another connection.
async fn moved(lobby: &mut watch::Receiver<Option<Client>>) {
    while lobby.changed().await.is_ok() {
        if lobby.borrow_and_update().is_some() {
            return;
        }
    }
    std::future::pending::<()>().await;
}

/// True if a status of the arena ends a game, and is not that of a connection that broke.
fn is_last(status: &Status) -> bool {
    let is_said = std::error::Error::source(status).is_none();
    is_said
        && matches!(
            status.code(),
            Code::Cancelled
                | Code::InvalidArgument
                | Code::NotFound
                | Code::PermissionDenied
                | Code::Aborted
                | Code::Unauthenticated
        )
}

#[cfg(test)]
mod tests {
    use arena_proto::arena::v1::{
        Ping, ToBot,
        lobby_server::{Lobby, LobbyServer},
    };
    use futures_util::FutureExt as _;
    use tokio::{net::TcpListener, sync::oneshot};
    use tokio_stream::wrappers::TcpListenerStream;
    use tonic::{Response, service::Routes, transport::Server};

    use super::*;

    const SERVICE: &str = "games.othello.v1.OthelloBot";
    /// When the test gives up waiting.
    const AMPLE: Duration = Duration::from_secs(20);

    type Replies<T> = UnboundedReceiverStream<Result<T, Status>>;

    /// Both sides of a control stream.
    type Control = (
        Streaming<FromBot>,
        mpsc::UnboundedSender<Result<ToBot, Status>>,
    );

    /// A lobby that gives its control streams to the test.
    struct Given(mpsc::UnboundedSender<Control>);

    #[tonic::async_trait]
    impl Lobby for Given {
        type AttendStream = Replies<ToBot>;
        type PlayStream = Replies<ToSeat>;

        async fn attend(
            &self,
            request: Request<Streaming<FromBot>>,
        ) -> Result<Response<Self::AttendStream>, Status> {
            let (down, replies) = mpsc::unbounded_channel();
            self.0.send((request.into_inner(), down)).unwrap();
            Ok(Response::new(UnboundedReceiverStream::new(replies)))
        }

        async fn play(
            &self,
            _: Request<Streaming<FromSeat>>,
        ) -> Result<Response<Self::PlayStream>, Status> {
            Err(Status::not_found("nobody is invited"))
        }
    }

    /// The next message of a bot; none where it has ended its side.
    async fn next(up: &mut Streaming<FromBot>) -> Option<ToArena> {
        let message = timeout(AMPLE, up.message()).await.unwrap().unwrap();
        message.and_then(|message| message.message)
    }

    #[tokio::test]
    async fn a_bot_that_stops_waits_for_the_end_of_its_control_stream() {
        let (controls, mut opened) = mpsc::unbounded_channel();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let lobby = Server::builder().add_service(LobbyServer::new(Given(controls)));
        tokio::spawn(lobby.serve_with_incoming(TcpListenerStream::new(listener)));
        let target: Target = format!("http://{address}").parse().unwrap();
        let arena = ArenaToJoin {
            bearer: Bearer::new(&Token::generate().unwrap(), &target, false).unwrap(),
            target,
            tls: None,
        };
        let (stop, stopped) = oneshot::channel::<()>();
        let stopped = stopped.map(drop).shared();
        let router = crate::listen::router(Routes::default());
        let bot = tokio::spawn(async move { arena.join(router, &[SERVICE], stopped).await });
        let (mut up, down) = timeout(AMPLE, opened.recv()).await.unwrap().unwrap();
        assert!(matches!(next(&mut up).await, Some(ToArena::Hello(_))));
        let message = Some(FromArena::Ping(Ping::default()));
        down.send(Ok(ToBot { message })).unwrap();
        assert!(matches!(next(&mut up).await, Some(ToArena::Pong(_))));
        stop.send(()).unwrap();
        let drain = next(&mut up).await;
        assert!(matches!(drain, Some(ToArena::Drain(_))), "{drain:?}");
        assert_eq!(next(&mut up).await, None);
        assert!(!bot.is_finished());
        drop(down);
        timeout(AMPLE, bot).await.unwrap().unwrap().unwrap();
    }
}

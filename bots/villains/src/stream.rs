//! The service as it is on the wire, so that anything at all can be sent: the
//! response's body is written frame by frame.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
};

use arena_proto::{
    games::{
        big_two::v1::big_two_bot_server, mahjong::v1::mahjong_bot_server,
        othello::v1::othello_bot_server,
    },
    opaque::OpaqueCodec,
};
use bytes::{BufMut as _, Bytes, BytesMut};
use http::{HeaderMap, HeaderValue, Request, Response, Uri, header::CONTENT_TYPE};
use http_body::Frame;
use tokio::sync::mpsc;
use tonic::{
    Status, Streaming,
    body::Body,
    codec::Codec as _,
    codegen::{BoxFuture, Service},
    metadata::GRPC_CONTENT_TYPE,
    server::NamedService,
};

use crate::{Villain, foul, games::RunningGames, kind::Kind};

/// The service's full name.
pub(crate) const SERVICE: &str = "games.connect_four.v1.ConnectFourBot";
const PATH: &str = "/games.connect_four.v1.ConnectFourBot/Play";

/// The games that it does not play.
const OTHER_GAMES: [&str; 3] = [
    mahjong_bot_server::SERVICE_NAME,
    big_two_bot_server::SERVICE_NAME,
    othello_bot_server::SERVICE_NAME,
];

/// A thing that can be put on the wire. Without anything more the stream ends with OK.
pub(crate) enum Put {
    /// Bytes as they are.
    Raw(Bytes),
    /// The end, with this status.
    End(Status),
    /// The end, without one.
    Stop,
    /// A reset.
    Reset,
}

impl Put {
    /// These messages, framed, in one piece.
    pub(crate) fn messages(messages: &[&[u8]]) -> Self {
        let mut framed = BytesMut::new();
        for message in messages {
            framed.put_u8(0);
            framed.put_u32(u32::try_from(message.len()).unwrap_or(u32::MAX));
            framed.put_slice(message);
        }
        Self::Raw(framed.freeze())
    }
}

/// The bot's service.
#[derive(Clone)]
pub(crate) struct PlayService {
    villain: Arc<Villain>,
    games: Arc<RunningGames>,
}

impl PlayService {
    pub(crate) fn new(villain: Arc<Villain>) -> Self {
        let games = Arc::default();
        Self { villain, games }
    }
}

impl NamedService for PlayService {
    const NAME: &'static str = SERVICE;
}

impl Service<Request<Body>> for PlayService {
    type Response = Response<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        let Self { villain, games } = self.clone();
        Box::pin(async move {
            if request.uri().path() != PATH {
                return Ok(Status::unimplemented("").into_http());
            }
            let calls = OpaqueCodec.decoder();
            let calls = Streaming::new_request(calls, request.into_body(), None, None);
            // Room for one: a flood goes no faster than it is taken.
            let (answers, puts) = mpsc::channel(1);
            let mut response = response(puts);
            if villain.kind == Kind::Compressed {
                let gzip = HeaderValue::from_static("gzip");
                response.headers_mut().insert("grpc-encoding", gzip);
            }
            tokio::spawn(async move { foul::play(&villain, &games, calls, answers).await });
            Ok(response)
        })
    }
}

/// Answers a call of any unknown service by an empty message, and OK.
pub(crate) async fn any_service(uri: Uri) -> Response<Body> {
    let service = uri.path().split('/').nth(1);
    // That it does not play the other games it says as it should.
    if service.is_some_and(|service| OTHER_GAMES.contains(&service)) {
        return Status::unimplemented("").into_http();
    }
    let (answers, puts) = mpsc::channel(1);
    let _ = answers.send(Put::messages(&[b""])).await;
    response(puts)
}

fn response(puts: mpsc::Receiver<Put>) -> Response<Body> {
    let mut response = Response::new(Body::new(PutFrames(Some(puts))));
    response
        .headers_mut()
        .insert(CONTENT_TYPE, GRPC_CONTENT_TYPE);
    response
}

/// The response's body; nothing when it has ended.
struct PutFrames(Option<mpsc::Receiver<Put>>);

impl http_body::Body for PutFrames {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, io::Error>>> {
        let this = self.get_mut();
        let Some(puts) = &mut this.0 else {
            return Poll::Ready(None);
        };
        let put = match std::task::ready!(puts.poll_recv(cx)) {
            Some(Put::Raw(bytes)) => return Poll::Ready(Some(Ok(Frame::data(bytes)))),
            Some(put) => put,
            None => Put::End(Status::ok("")),
        };
        this.0 = None;
        Poll::Ready(match put {
            Put::End(status) => {
                let mut trailers = HeaderMap::new();
                let added = status.add_header(&mut trailers);
                Some(
                    added
                        .map(|()| Frame::trailers(trailers))
                        .map_err(io::Error::other),
                )
            }
            Put::Reset => Some(Err(io::Error::other("a villain"))),
            Put::Stop | Put::Raw(_) => None,
        })
    }
}

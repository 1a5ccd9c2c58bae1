//! The API server of the cluster, as a service in this process: reads requests, does what they
//! ask for, and fails as its faults say.

use std::{
    convert::Infallible,
    io,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use futures_util::{StreamExt as _, stream};
use http::{Method, Request, Response, StatusCode};
use http_body::Frame;
use http_body_util::{BodyExt as _, Full, StreamBody, combinators::UnsyncBoxBody};
use kube::{Client, client::Body};
use parking_lot::{Mutex, MutexGuard};
use tokio::sync::mpsc;
use tower::Service;

use crate::{
    chance::Chance,
    objects::{Moment, NAMESPACE},
    world::{Answer, Defect, Sent, World, kind_of, refusal, selector},
};

/// Rates of the API server's failures, in 1,000 requests each.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ApiRates {
    pub(crate) too_many: u64,
    pub(crate) server_error: u64,
    pub(crate) conflict: u64,
    /// It is done, and the answer does not come.
    pub(crate) answer_lost: u64,
    /// It does not come to be done.
    pub(crate) request_lost: u64,
    pub(crate) slow: u64,
}

/// The API server.
#[derive(Clone)]
pub(crate) struct Api {
    pub(crate) world: Arc<Mutex<World>>,
    pub(crate) faults: Arc<Mutex<ApiFaults>>,
}

/// The failures of the API server.
pub(crate) struct ApiFaults {
    pub(crate) rates: ApiRates,
    pub(crate) chance: Chance,
    /// Nothing is answered until then.
    pub(crate) down_until: Moment,
    /// Number of requests that have come.
    pub(crate) requests: u64,
}

type Answered = Response<UnsyncBoxBody<Bytes, io::Error>>;

/// The fault that a request meets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Status(u16, &'static str),
    AnswerLost,
    RequestLost,
}

impl Api {
    pub(crate) fn new(world: World, rates: ApiRates, chance: Chance) -> Self {
        Self {
            world: Arc::new(Mutex::new(world)),
            faults: Arc::new(Mutex::new(ApiFaults {
                rates,
                chance,
                down_until: 0,
                requests: 0,
            })),
        }
    }

    pub(crate) fn client(&self) -> Client {
        Client::new(self.clone(), NAMESPACE)
    }

    pub(crate) fn world(&self) -> MutexGuard<'_, World> {
        self.world.lock()
    }

    pub(crate) fn faults(&self) -> MutexGuard<'_, ApiFaults> {
        self.faults.lock()
    }

    /// The fault that a request meets, and the time that it takes before and after it is done, in
    /// milliseconds.
    fn fault(&self, method: &Method) -> (Fault, Moment, Moment) {
        let now = self.world().now;
        let mut faults = self.faults();
        faults.requests += 1;
        if now < faults.down_until {
            return (Fault::Status(503, "ServiceUnavailable"), 10, 0);
        }
        let rates = faults.rates;
        let chance = &mut faults.chance;
        let mut times = (chance.between(2, 20), 0);
        if chance.permille(rates.slow) {
            let slow = chance.between(100, 6000);
            match chance.below(2) {
                0 => times.0 = slow,
                _ => times.1 = slow,
            }
        }
        let conflict = if method == Method::PATCH {
            rates.conflict
        } else {
            0
        };
        let fault = if chance.permille(rates.too_many) {
            Fault::Status(429, "TooManyRequests")
        } else if chance.permille(rates.server_error) {
            *chance
                .pick(&[
                    Fault::Status(500, "InternalError"),
                    Fault::Status(503, "ServiceUnavailable"),
                    Fault::Status(504, "Timeout"),
                ])
                .unwrap_or(&Fault::None)
        } else if chance.permille(conflict) {
            Fault::Status(409, "Conflict")
        } else if chance.permille(rates.answer_lost) {
            Fault::AnswerLost
        } else if chance.permille(rates.request_lost) {
            Fault::RequestLost
        } else {
            Fault::None
        };
        (fault, times.0, times.1)
    }

    async fn answer(self, request: Request<Body>) -> Result<Answered, io::Error> {
        let (parts, body) = request.into_parts();
        let lost = || io::Error::from(io::ErrorKind::ConnectionReset);
        let (fault, before, after) = self.fault(&parts.method);
        tokio::time::sleep(Duration::from_millis(before)).await;
        if let Fault::Status(code, reason) = fault {
            self.world().count("requests refused");
            return Ok(full(refusal(code, reason, "injected")));
        }
        if fault == Fault::RequestLost {
            self.world().count("requests lost");
            return Err(lost());
        }
        let body = body.collect().await.map_err(io::Error::other)?.to_bytes();
        let answered = self.done(&parts, &body);
        tokio::time::sleep(Duration::from_millis(after)).await;
        let loses =
            self.world().shape.defect == Defect::LosesEveryAnswer && parts.method == Method::PATCH;
        if fault == Fault::AnswerLost || loses {
            self.world().count("answers lost");
            return Err(lost());
        }
        Ok(answered)
    }

    /// Does what is asked for.
    fn done(&self, parts: &http::request::Parts, body: &[u8]) -> Answered {
        let of_namespace = |kind: &str| format!("/api/v1/namespaces/{NAMESPACE}/{kind}");
        let Some((kind, name)) = kind_of(parts.uri.path()) else {
            let path = parts.uri.path();
            return full(match parts.method == Method::GET {
                true if path == of_namespace("resourcequotas") => self.world().quotas(),
                true if path == of_namespace("events") => self.world().events(),
                _ => refusal(404, "NotFound", "no such path here"),
            });
        };
        let query = parts.uri.query().unwrap_or_default();
        let value = |name: &str| {
            let mut pairs = query.split('&').filter_map(|pair| pair.split_once('='));
            let (_, value) = pairs.find(|(found, _)| *found == name)?;
            Some(unescaped(value))
        };
        let number = |name: &str| value(name).and_then(|value| value.parse::<u64>().ok());
        let selected = selector(&value("labelSelector").unwrap_or_default());
        let media = parts.headers.get("content-type");
        let media = media
            .and_then(|media| media.to_str().ok())
            .unwrap_or_default();
        let mut world = self.world();
        world.tell(format_args!("{} {kind:?} {name} {query}", parts.method));
        let answer = match (&parts.method, name) {
            (&Method::GET, "") if value("watch").as_deref() == Some("true") => {
                let from = number("resourceVersion").unwrap_or(0);
                let seconds = number("timeoutSeconds").unwrap_or(290);
                let bookmarks = value("allowWatchBookmarks").as_deref() == Some("true");
                match world.watch(kind, selected, from, seconds, bookmarks) {
                    Ok(events) => return streamed(events),
                    Err(answer) => answer,
                }
            }
            (&Method::GET, "") => {
                let limit = number("limit").map_or(usize::MAX, |limit| limit as usize);
                world.list(kind, &selected, limit, value("continue").as_deref())
            }
            (&Method::GET, name) => world.get(kind, name),
            (&Method::PATCH, name) if media.starts_with("application/apply-patch") => {
                match value("fieldManager") {
                    Some(_) => world.apply(kind, name, body),
                    None => refusal(
                        400,
                        "BadRequest",
                        "fieldManager is required for apply patch",
                    ),
                }
            }
            (&Method::PATCH, name) if media.starts_with("application/merge-patch") => {
                world.merge(kind, name, body)
            }
            (&Method::DELETE, name) => world.delete(kind, name, body),
            _ => refusal(405, "MethodNotAllowed", "nobody should ask for this"),
        };
        if [400, 405].contains(&answer.code) {
            world.breaks(format!("{} {}: {}", parts.method, parts.uri, answer.body));
        }
        full(answer)
    }
}

impl Service<Request<Body>> for Api {
    type Response = Answered;
    type Error = io::Error;
    type Future = Pin<Box<dyn Future<Output = Result<Answered, io::Error>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), io::Error>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: Request<Body>) -> Self::Future {
        Box::pin(self.clone().answer(request))
    }
}

fn full(answer: Answer) -> Answered {
    let body = Full::new(Bytes::from(answer.body));
    let body = body
        .map_err(|never: Infallible| match never {})
        .boxed_unsync();
    let mut response = Response::new(body);
    *response.status_mut() = StatusCode::from_u16(answer.code).unwrap_or_default();
    if answer.code == 429 {
        let headers = response.headers_mut();
        headers.insert("retry-after", http::HeaderValue::from_static("1"));
    }
    response
}

fn streamed(events: mpsc::UnboundedReceiver<Sent>) -> Answered {
    let events = stream::unfold(events, async |mut events| {
        let event = events.recv().await?;
        Some((event, events))
    });
    let frames = events.map(|event| event.map(Frame::data));
    Response::new(StreamBody::new(frames).boxed_unsync())
}

/// A value of a query.
fn unescaped(text: &str) -> String {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap_or(b'0'), rest.next().unwrap_or(b'0')];
                let digits = String::from_utf8_lossy(&digits).into_owned();
                u8::from_str_radix(&digits, 16).unwrap_or(b'?')
            }
            byte => byte,
        });
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

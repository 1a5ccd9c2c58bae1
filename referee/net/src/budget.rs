//! The memory that calls may hold: the bytes of all bodies that are under way on a server, over
//! all of its connections. A body is taken from the wire only as far as there is room for its
//! message, so nobody can fill the memory with messages that never end.

use std::{
    collections::HashMap,
    net::IpAddr,
    pin::Pin,
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, Ordering},
    },
    task::{Context, Poll, ready},
    time::Duration,
};

use bytes::{Buf as _, Bytes};
use futures_util::future::BoxFuture;
use http_body::{Body as HttpBody, Frame, SizeHint};
use parking_lot::Mutex;
use sha2::{Digest as _, Sha256};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Sleep,
};
use tonic::{Status, body::Body};
use tower::{Layer, Service};

use crate::{Bounds, Peer};

/// One caller may have this part of all bytes; and, where calls need no credentials, of all calls.
const SHARE: usize = 4;
/// Calls that need no credentials may have this part of all bytes, and take none of the others'.
const OPEN: usize = 16;
/// So many calls may be open for each connection that there may be, on average: a worker has its
/// stream, asks for work and reports.
const CALLS: usize = 4;
/// The most that one of them can be: a message's length has 32 bits.
const MOST: usize = u32::MAX as usize >> 3;
/// Length of the prefix of each message, in bytes: whether it is compressed, and its length.
const PREFIX: usize = 5;

/// The bytes that calls may have in memory, as a layer around all services of a server.
#[derive(Clone)]
pub struct Budget(Arc<BudgetPurses>);

struct BudgetPurses {
    messages: Vec<(&'static str, usize)>,
    largest: usize,
    within: Duration,
    listed: Purse,
    open: Purse,
}

/// The share of some of the calls.
struct Purse {
    all: Arc<Room>,
    /// The share of one caller, in bytes and calls.
    each: (usize, usize),
    callers: Mutex<HashMap<CallerId, Weak<Room>>>,
}

/// Room for bytes of messages, and for calls.
struct Room {
    bytes: Arc<Semaphore>,
    calls: Arc<Semaphore>,
}

/// The caller of a call, as far as that can be told before it is known who it is.
#[derive(Clone, PartialEq, Eq, Hash)]
enum CallerId {
    Token([u8; 32]),
    Certificate(String),
    Address(Option<IpAddr>),
}

/// So much of a caller's share and of all.
struct Reserved {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

/// One call.
struct CallMemory {
    own: Arc<Room>,
    all: Arc<Room>,
    /// The most bytes that one message can reserve.
    most: usize,
    /// True if its answer has begun. What was read until then is needed until then.
    has_answered: AtomicBool,
    kept: Mutex<Vec<Reserved>>,
    _itself: Reserved,
}

impl Budget {
    /// The bytes that these bounds allow.
    #[must_use]
    pub fn new(bounds: &Bounds) -> Self {
        Self(Arc::new(BudgetPurses {
            messages: bounds.messages.clone(),
            largest: bounds.message_bytes,
            within: bounds.body,
            // Several machines may call as one worker.
            listed: Purse::new(bounds.bytes_in_flight, CALLS * bounds.connections, 1),
            open: Purse::new(bounds.bytes_in_flight / OPEN, bounds.connections, SHARE),
        }))
    }

    /// Number of bytes that are free for calls of the methods that are listed.
    #[must_use]
    pub fn free(&self) -> usize {
        self.0.listed.all.bytes.available_permits()
    }

    /// The call with these headers, and its largest message.
    fn begin(&self, parts: &http::request::Parts) -> Result<(Arc<CallMemory>, usize), Status> {
        let path = parts.uri.path();
        let listed = self.0.messages.iter().find(|(method, _)| *method == path);
        let (purse, largest) = match listed {
            Some((_, largest)) => (&self.0.listed, *largest),
            None => (&self.0.open, self.0.largest),
        };
        let call = purse.call(CallerId::of(parts)).ok_or_else(|| {
            Status::resource_exhausted("as much is under way here as there may be; try again")
        })?;
        Ok((Arc::new(call), largest))
    }
}

impl Room {
    fn new((bytes, calls): (usize, usize)) -> Arc<Self> {
        let semaphore = |most: usize| Arc::new(Semaphore::new(most.clamp(1, MOST)));
        Arc::new(Self {
            bytes: semaphore(bytes),
            calls: semaphore(calls),
        })
    }
}

impl Purse {
    /// So many bytes and calls, of which one caller may have a part.
    fn new(bytes: usize, calls: usize, callers: usize) -> Self {
        Self {
            all: Room::new((bytes, calls)),
            each: (bytes.min(MOST) / SHARE, calls.div_ceil(callers)),
            callers: Mutex::default(),
        }
    }

    /// A call of a caller, where there is room for it.
    fn call(&self, caller: CallerId) -> Option<CallMemory> {
        let own = {
            let mut callers = self.callers.lock();
            match callers.get(&caller).and_then(Weak::upgrade) {
                Some(own) => own,
                None => {
                    callers.retain(|_, own| own.strong_count() > 0);
                    let own = Room::new(self.each);
                    callers.insert(caller, Arc::downgrade(&own));
                    own
                }
            }
        };
        let itself = Reserved {
            _own: own.calls.clone().try_acquire_owned().ok()?,
            _all: self.all.calls.clone().try_acquire_owned().ok()?,
        };
        Some(CallMemory {
            own,
            all: self.all.clone(),
            most: self.each.0,
            has_answered: AtomicBool::new(false),
            kept: Mutex::default(),
            _itself: itself,
        })
    }
}

impl CallerId {
    fn of(parts: &http::request::Parts) -> Self {
        if let Some(token) = parts.headers.get(http::header::AUTHORIZATION) {
            return Self::Token(Sha256::digest(token.as_bytes()).into());
        }
        let peer = parts.extensions.get::<Peer>();
        let certificate = peer.and_then(|peer| peer.certificate.as_ref());
        match certificate.and_then(|shown| shown.common_name.clone()) {
            Some(name) => Self::Certificate(name),
            None => Self::Address(peer.and_then(|peer| peer.address).map(|at| at.ip())),
        }
    }
}

impl CallMemory {
    /// Waits until there is room for a message. Whoever waits holds no other message, so nobody
    /// waits for each other.
    fn reserve(&self, bytes: usize) -> BoxFuture<'static, Option<Reserved>> {
        let (own, all) = (self.own.bytes.clone(), self.all.bytes.clone());
        let bytes = u32::try_from(bytes.min(self.most)).unwrap_or(u32::MAX);
        Box::pin(async move {
            Some(Reserved {
                _own: own.acquire_many_owned(bytes).await.ok()?,
                _all: all.acquire_many_owned(bytes).await.ok()?,
            })
        })
    }

    fn has_answered(&self) -> bool {
        self.has_answered.load(Ordering::Acquire)
    }

    fn answers(&self) {
        self.has_answered.store(true, Ordering::Release);
        self.kept.lock().clear();
    }
}

impl<S> Layer<S> for Budget {
    type Service = Budgeted<S>;

    fn layer(&self, inner: S) -> Budgeted<S> {
        Budgeted {
            inner,
            budget: self.clone(),
        }
    }
}

/// A service whose calls have their bytes from a [`Budget`].
#[derive(Clone)]
pub struct Budgeted<S> {
    inner: S,
    budget: Budget,
}

impl<S, R> Service<http::Request<Body>> for Budgeted<S>
where
    S: Service<http::Request<Body>, Response = http::Response<R>>,
    S::Future: Send + 'static,
    R: HttpBody<Data = Bytes> + Send + 'static,
    R::Error: Into<Box<dyn std::error::Error + Send + Sync>>,
{
    type Response = http::Response<Body>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, request: http::Request<Body>) -> Self::Future {
        let (parts, body) = request.into_parts();
        let (call, largest) = match self.budget.begin(&parts) {
            Ok(begun) => begun,
            Err(refused) => return Box::pin(async { Ok(refused.into_http()) }),
        };
        let body = RequestBody {
            inner: body,
            call: call.clone(),
            largest,
            within: self.budget.0.within,
            prefix: Vec::with_capacity(PREFIX),
            left: 0,
            is_complete: false,
            reserving: None,
            reserved: None,
            unread: Bytes::new(),
            late: None,
        };
        let request = http::Request::from_parts(parts, Body::new(body));
        let answering = self.inner.call(request);
        Box::pin(async move {
            let answer = answering.await?;
            call.answers();
            Ok(answer.map(|inner| {
                Body::new(AnswerBody {
                    inner: Body::new(inner),
                    _call: call,
                })
            }))
        })
    }
}

/// The body of an answer, whose call has an end with it.
struct AnswerBody {
    inner: Body,
    _call: Arc<CallMemory>,
}

impl HttpBody for AnswerBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        Pin::new(&mut self.inner).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.inner.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.inner.size_hint()
    }
}

/// The body of a request: nothing of a message is read before there is room for all of it.
struct RequestBody {
    inner: Body,
    call: Arc<CallMemory>,
    /// The largest message.
    largest: usize,
    /// Longest time for a message, and before an answer the whole body.
    within: Duration,
    /// The part that has been read of what stands before the next message.
    prefix: Vec<u8>,
    /// Number of bytes of the message that are still to be read.
    left: usize,
    /// True if a message was read to its end since the body was asked last.
    is_complete: bool,
    reserving: Option<BoxFuture<'static, Option<Reserved>>>,
    reserved: Option<Reserved>,
    /// Bytes that have come and wait for room.
    unread: Bytes,
    late: Option<Pin<Box<Sleep>>>,
}

impl RequestBody {
    /// The next part of what has come that may be handed on; nothing where a message needs room
    /// first.
    fn next_part(&mut self) -> Result<Bytes, Status> {
        let mut at = 0;
        while at < self.unread.len() {
            if self.left > 0 {
                let some = self.left.min(self.unread.len() - at);
                self.left -= some;
                at += some;
                if self.left == 0 {
                    self.is_complete = true;
                    self.late = None;
                    break;
                }
                continue;
            }
            let some = (PREFIX - self.prefix.len()).min(self.unread.len() - at);
            self.prefix.extend_from_slice(&self.unread[at..at + some]);
            at += some;
            let Ok([_, length @ ..]) = <[u8; PREFIX]>::try_from(&*self.prefix) else {
                continue;
            };
            self.prefix.clear();
            let length = u32::from_be_bytes(length) as usize;
            if length > self.largest {
                return Err(Status::out_of_range(format!(
                    "expected a message of at most {} bytes, found one of {length}",
                    self.largest
                )));
            }
            self.left = length;
            if length > 0 {
                self.reserving = Some(self.call.reserve(length));
                break;
            }
        }
        let part = self.unread.slice(..at);
        self.unread.advance(at);
        Ok(part)
    }

    /// Gives back the room of the message that was read, or keeps it as long as the call is not
    /// answered.
    fn release(&mut self) {
        self.is_complete = false;
        if let Some(reserved) = self.reserved.take()
            && !self.call.has_answered()
        {
            self.call.kept.lock().push(reserved);
        }
    }

    /// Waits, but not for ever for what has to come.
    fn wait(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let is_within = self.left > 0 || !self.prefix.is_empty() || self.reserving.is_some();
        if self.call.has_answered() && !is_within {
            self.late = None;
            return Poll::Pending;
        }
        let within = self.within;
        let late = self
            .late
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(within)));
        ready!(late.as_mut().poll(cx));
        Poll::Ready(Some(Err(Status::deadline_exceeded(format!(
            "expected the whole message within {within:?}"
        )))))
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = Status;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Status>>> {
        let this = &mut *self;
        if this.is_complete {
            this.release();
        }
        loop {
            if let Some(reserving) = &mut this.reserving {
                match reserving.as_mut().poll(cx) {
                    Poll::Pending => return this.wait(cx),
                    Poll::Ready(reserved) => {
                        this.reserving = None;
                        this.reserved = reserved;
                    }
                }
            }
            if !this.unread.is_empty() {
                match this.next_part() {
                    Ok(part) if part.is_empty() => continue,
                    part => return Poll::Ready(Some(part.map(Frame::data))),
                }
            }
            match Pin::new(&mut this.inner).poll_frame(cx) {
                Poll::Pending => return this.wait(cx),
                Poll::Ready(Some(Ok(frame))) => match frame.into_data() {
                    Ok(data) => this.unread = data,
                    Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
                },
                ended => return ended,
            }
        }
    }

    fn is_end_stream(&self) -> bool {
        self.unread.is_empty() && self.inner.is_end_stream()
    }
}

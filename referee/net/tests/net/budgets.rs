//! Tests of the memory that the messages of all calls take, whoever sends them and
//! whether they ever end.

use std::{
    convert::Infallible,
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use bytes::Bytes;
use http::{Request, Response};
use http_body::Frame;
use http_body_util::{BodyExt as _, StreamBody};
use referee_net::{Bounds, Budget};
use tokio::{sync::mpsc, task::JoinHandle};
use tokio_stream::wrappers::UnboundedReceiverStream;
use tonic::{Code, Status, body::Body};
use tower::{Layer as _, Service as _, service_fn};

const MIB: usize = 1024 * 1024;
/// A method that needs credentials, and one that needs none.
const LISTED: &str = "/test.Test/Listed";
const OPEN: &str = "/test.Test/Open";

fn bounds() -> Bounds {
    Bounds {
        message_bytes: 1000,
        messages: vec![(LISTED, 200 * 1024)],
        bytes_in_flight: MIB,
        ..Bounds::default()
    }
}

/// A call whose body is sent by the test, and what becomes of it.
struct Call {
    body: mpsc::UnboundedSender<Result<Frame<Bytes>, Status>>,
    answer: JoinHandle<Code>,
}

impl Call {
    /// Calls a service that reads all of a body, and counts its bytes.
    fn new(budget: &Budget, path: &str, token: &str, read: &Arc<AtomicUsize>) -> Self {
        let (body, frames) = mpsc::unbounded_channel();
        let read = read.clone();
        let mut service = budget.layer(service_fn(move |request: Request<Body>| {
            let (read, mut body) = (read.clone(), request.into_body());
            async move {
                while let Some(frame) = body.frame().await {
                    match frame {
                        Ok(frame) => {
                            let bytes = frame.data_ref().map_or(0, Bytes::len);
                            read.fetch_add(bytes, Ordering::Relaxed);
                        }
                        Err(status) => return Ok::<_, Infallible>(status.into_http::<Body>()),
                    }
                }
                Ok(Response::new(Body::empty()))
            }
        }));
        let request = Request::builder()
            .uri(path)
            .header("authorization", token)
            .body(Body::new(StreamBody::new(UnboundedReceiverStream::new(
                frames,
            ))))
            .unwrap();
        let answer = tokio::spawn(async move {
            let answer = service.call(request).await.unwrap();
            Status::from_header_map(answer.headers()).map_or(Code::Ok, |status| status.code())
        });
        Self { body, answer }
    }

    /// Sends the beginning of a message of so many bytes: all but one.
    fn says(&self, bytes: usize) {
        let mut message = vec![0];
        message.extend((bytes as u32).to_be_bytes());
        message.extend(vec![7; bytes - 1]);
        for part in message.chunks(16 * 1024) {
            let _ = self
                .body
                .send(Ok(Frame::data(Bytes::copy_from_slice(part))));
        }
    }

    /// Sends the last byte and ends the body.
    async fn ends(self) -> Code {
        let _ = self.body.send(Ok(Frame::data(Bytes::from_static(&[7]))));
        drop(self.body);
        self.answer.await.unwrap()
    }
}

/// Lets everybody do what can be done now.
async fn settle() {
    for _ in 0..200 {
        tokio::task::yield_now().await;
    }
}

#[tokio::test(start_paused = true)]
async fn messages_that_do_not_end_take_no_more_than_there_is_for_all_calls() {
    let budget = Budget::new(&bounds());
    let all = budget.free();
    for (callers, most) in [(1, MIB / 4), (30, MIB)] {
        let read = Arc::default();
        let calls: Vec<Call> = (0..30)
            .map(|call| {
                let token = format!("Bearer {}", call % callers);
                let call = Call::new(&budget, LISTED, &token, &read);
                call.says(100 * 1024);
                call
            })
            .collect();
        settle().await;
        let taken = read.load(Ordering::Relaxed);
        assert!(taken <= most, "{callers} callers: {taken}");
        assert!(taken >= most / 2, "{callers} callers: {taken}");
        // When one ends, another one is read.
        for call in calls {
            assert_eq!(call.ends().await, Code::Ok);
        }
        settle().await;
        assert_eq!(budget.free(), all);
    }
}

#[tokio::test(start_paused = true)]
async fn whoever_needs_no_credentials_takes_nothing_from_those_who_have_some() {
    let budget = Budget::new(&bounds());
    let read = Arc::default();
    let open: Vec<Call> = (0..2000)
        .map(|call| {
            let call = Call::new(&budget, OPEN, &call.to_string(), &read);
            call.says(900);
            call
        })
        .collect();
    settle().await;
    assert_eq!(budget.free(), MIB);
    // What stands before each message is read.
    assert!(read.load(Ordering::Relaxed) <= MIB / 16 + 2000 * 5);
    let call = Call::new(&budget, LISTED, "Bearer one", &read);
    call.says(200 * 1024);
    assert_eq!(call.ends().await, Code::Ok);
    let codes = futures_util::future::join_all(open.into_iter().map(Call::ends)).await;
    assert!(codes.contains(&Code::Ok) && codes.contains(&Code::ResourceExhausted));
}

#[tokio::test(start_paused = true)]
async fn a_message_that_does_not_come_to_its_end_ends_its_call() {
    let bounds = bounds();
    let budget = Budget::new(&bounds);
    let read = Arc::default();
    let silent = Call::new(&budget, LISTED, "one", &read);
    let within = Call::new(&budget, LISTED, "two", &read);
    within.says(1000);
    let waiting: Vec<Call> = (0..3)
        .map(|_| Call::new(&budget, LISTED, "three", &read))
        .collect();
    for call in &waiting {
        call.says(200 * 1024);
    }
    tokio::time::sleep(bounds.body - Duration::from_millis(10)).await;
    assert!(!silent.answer.is_finished() && !within.answer.is_finished());
    tokio::time::sleep(Duration::from_millis(20)).await;
    for call in [silent, within].into_iter().chain(waiting) {
        assert_eq!(call.answer.await.unwrap(), Code::DeadlineExceeded);
    }
    assert_eq!(budget.free(), MIB);
}

#[tokio::test(start_paused = true)]
async fn a_message_that_is_too_large_is_refused_at_its_length() {
    let budget = Budget::new(&bounds());
    for (path, bytes) in [(LISTED, 200 * 1024), (OPEN, 1000)] {
        let read = Arc::default();
        let fits = Call::new(&budget, path, "one", &read);
        fits.says(bytes);
        assert_eq!(fits.ends().await, Code::Ok);
        let read = Arc::default();
        let large = Call::new(&budget, path, "one", &read);
        large.says(bytes + 1);
        assert_eq!(large.answer.await.unwrap(), Code::OutOfRange);
        assert_eq!(read.load(Ordering::Relaxed), 0);
    }
}

#[tokio::test(start_paused = true)]
async fn a_stream_may_be_silent_between_its_messages_and_not_within_one() {
    let bounds = bounds();
    let budget = Budget::new(&bounds);
    let (body, frames) = mpsc::unbounded_channel::<Result<Frame<Bytes>, Status>>();
    let (heard, mut hears) = mpsc::unbounded_channel();
    let mut service = budget.layer(service_fn(move |request: Request<Body>| {
        let (heard, mut body) = (heard.clone(), request.into_body());
        tokio::spawn(async move {
            while let Some(frame) = body.frame().await {
                let _ = heard.send(frame.map(drop).map_err(|status| status.code()));
            }
        });
        async { Ok::<_, Infallible>(Response::new(Body::empty())) }
    }));
    let request = Request::builder()
        .uri(LISTED)
        .body(Body::new(StreamBody::new(UnboundedReceiverStream::new(
            frames,
        ))))
        .unwrap();
    let answer = service.call(request).await.unwrap();
    let message = Bytes::from_static(&[0, 0, 0, 0, 2, 7, 7]);
    for _ in 0..3 {
        tokio::time::sleep(100 * bounds.body).await;
        body.send(Ok(Frame::data(message.clone()))).unwrap();
        // What stands before it, and itself.
        for _ in 0..2 {
            assert_eq!(hears.recv().await, Some(Ok(())));
        }
    }
    body.send(Ok(Frame::data(message.slice(..6)))).unwrap();
    let last = loop {
        match hears.recv().await.unwrap() {
            Ok(()) => {}
            Err(code) => break code,
        }
    };
    assert_eq!(last, Code::DeadlineExceeded);
    drop(answer);
}

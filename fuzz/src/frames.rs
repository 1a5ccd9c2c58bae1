//! Bots that are a list of frames of HTTP/2 (RFC 9113): the referee plays a game with one in
//! each seat. Everything happens on one thread, over pipes in memory, and the clock is moved
//! on when nobody has anything to do: so an input takes as long as its work does.

use std::{cell::RefCell, sync::Arc, time::Duration};

use referee::{Address, Bot, BotDial, Pool, SeatedGame};
use referee_core::{Event, Limits, PerSeat, Record, Seat, Seed};
use referee_games::{Fixture, game, replay};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    runtime::{Builder, Runtime},
    sync::mpsc,
    task::AbortHandle,
};

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The stream of the first call.
const CALL: u32 = 1;
/// Longest wait of a bot for the referee to send something.
const WAIT: Duration = Duration::from_millis(5);
/// Time limit of a bot to connect, to start and to move.
const LIMIT: Duration = Duration::from_millis(100);

/// The meaning of the bytes of a script.
const RESPONSE: u8 = 0xf0;
const MESSAGE: u8 = 0xf1;
const TRAILERS: u8 = 0xf2;
const WAITS: u8 = 0xf3;
/// From here on frames whose length is told wrongly.
const LIES: u8 = 32;
/// Frames of a type that there is not.
const UNKNOWN: u8 = 10;

/// Headers that begin a response: `:status: 200` and `content-type: application/grpc`
/// (RFC 7541, appendix A and section 6.2.2).
const RESPONSE_HEADERS: &[u8] = b"\x88\x0f\x10\x10application/grpc";
/// `grpc-status: 0`.
const OK_TRAILERS: &[u8] = b"\x00\x0bgrpc-status\x010";

/// Plays a game with two lists of frames; the two first bytes say how long the first one is.
pub(crate) fn frames(data: &[u8]) {
    thread_local! {
        static STAGE: RefCell<Option<Stage>> = const { RefCell::new(None) };
    }
    STAGE.with_borrow_mut(|stage| stage.get_or_insert_with(Stage::new).play(data));
}

/// The parts that all games share.
struct Stage {
    runtime: Runtime,
    pool: Pool,
}

impl Stage {
    fn new() -> Self {
        let runtime = Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a runtime");
        let pool = Pool::on_runtime(runtime.handle().clone());
        Self { runtime, pool }
    }

    fn play(&self, data: &[u8]) {
        let (length, scripts) = data.split_at(data.len().min(2));
        let length = length
            .iter()
            .fold(0, |sum, byte| sum << 8 | usize::from(*byte));
        let (first, second) = scripts.split_at(length.min(scripts.len()));
        let record = self.runtime.block_on(async {
            let (bots, serving): (Vec<_>, Vec<_>) = [first, second].map(serve).into_iter().unzip();
            let played = connect_four(bots).play(&self.pool).await;
            serving.iter().for_each(AbortHandle::abort);
            // Nothing of this game is left in the next one.
            self.pool.drain().await;
            played.expect("what a bot sends is no failure of the referee's")
        });
        let read = Record::parse(&record.to_json_lines()).expect("a record reads back");
        assert!(read == record, "a record reads back as it was");
        replay(&record, |_| {}).expect("a record plays again");
    }
}

fn connect_four(bots: Vec<Arc<Bot>>) -> SeatedGame {
    let kind = game("connect_four").expect("there is such a game");
    SeatedGame {
        fixture: Fixture {
            kind,
            game_id: "fuzz".to_owned(),
            // As in the corpus of answers, which the lists are made of.
            setup: serde_json::from_str(kind.trials()[0].setup).expect("a trial is JSON"),
            seed: Seed::new([0; 32]),
            players: vec!["first".to_owned(), "second".to_owned()].into(),
            limits: Limits {
                start: LIMIT,
                per_move: LIMIT,
                ..Limits::default()
            },
            spent: PerSeat::default(),
        },
        bots,
        watch: None,
    }
}

/// A bot that sends the same on each connection, and the task that does.
fn serve(script: &[u8]) -> (Arc<Bot>, AbortHandle) {
    let script: Arc<[u8]> = script.into();
    let (pipes, mut connections) = mpsc::unbounded_channel();
    let serving = tokio::spawn(async move {
        let mut sending = tokio::task::JoinSet::new();
        while let Some(connection) = connections.recv().await {
            sending.spawn(send(connection, script.clone()));
        }
    });
    let bot = Bot::at(Address::Unix("in memory".into()), LIMIT).with_dial(BotDial {
        pipes: Some(pipes),
        ..BotDial::default()
    });
    (Arc::new(bot), serving.abort_handle())
}

/// Sends a list of frames, and hangs up.
async fn send(mut stream: DuplexStream, script: Arc<[u8]>) {
    let mut script = Script(&script);
    while let Some(op) = script.byte() {
        if op == WAITS {
            let mut heard = [0; 16 * 1024];
            let waited = tokio::time::timeout(WAIT, stream.read(&mut heard)).await;
            if matches!(waited, Ok(Ok(0) | Err(_))) {
                return;
            }
        } else if stream.write_all(&script.frame(op)).await.is_err() {
            return;
        }
    }
    let _ = stream.shutdown().await;
    // What is still sent is taken, so that nothing of ours is lost.
    let mut rest = [0; 4096];
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}

struct Script<'a>(&'a [u8]);

impl Script<'_> {
    fn byte(&mut self) -> Option<u8> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(*first)
    }

    /// A length in one byte, and as many bytes.
    fn bytes(&mut self) -> Vec<u8> {
        let length = usize::from(self.byte().unwrap_or(0)).min(self.0.len());
        let (these, rest) = self.0.split_at(length);
        self.0 = rest;
        these.to_vec()
    }

    fn frame(&mut self, op: u8) -> Vec<u8> {
        match op {
            RESPONSE => frame(HEADERS, END_HEADERS, CALL, RESPONSE_HEADERS, None),
            TRAILERS => frame(HEADERS, END_HEADERS | END_STREAM, CALL, OK_TRAILERS, None),
            MESSAGE => {
                let message = self.bytes();
                // Not compressed, its length, and itself.
                let length = (message.len() as u32).to_be_bytes();
                frame(0, 0, CALL, &[&[0], &length[..], &message].concat(), None)
            }
            _ => {
                let kind = match op % LIES {
                    kind @ 0..UNKNOWN => kind,
                    _ => 0xfa,
                };
                let flags = self.byte().unwrap_or(0);
                let stream = match self.byte().unwrap_or(0) {
                    small @ 0..200 => small.into(),
                    large => 0x7fff_ff00 | u32::from(large),
                };
                let length = (op >= LIES).then(|| {
                    let high = self.byte().unwrap_or(0);
                    u32::from(high) << 8 | u32::from(self.byte().unwrap_or(0))
                });
                frame(kind, flags, stream, &self.bytes(), length)
            }
        }
    }
}

/// A frame, with a length that may be another than its payload's.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8], length: Option<u32>) -> Vec<u8> {
    let length = length.unwrap_or(payload.len() as u32);
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The input in which both seats answer as in this record, with other frames in between.
#[must_use]
pub fn frames_of(record: &Record, between: &[u8]) -> Vec<u8> {
    let scripts = Seat::all(2).map(|seat| {
        let mut script = vec![SETTINGS, 0, 0, 0, WAITS, WAITS, RESPONSE];
        for event in &record.events {
            if let Event::Answered {
                seat: by, answer, ..
            } = event
                && *by == seat
                && let Ok(length) = u8::try_from(answer.len())
            {
                script.extend([MESSAGE, length]);
                script.extend(answer);
                script.extend(between);
                script.push(WAITS);
            }
        }
        script.push(TRAILERS);
        script
    });
    let [first, second] = scripts.collect::<Vec<_>>().try_into().unwrap_or_default();
    let length = (first.len() as u16).to_be_bytes();
    [&length[..], &first, &second].concat()
}

//! Bots whose headers or trailers are too large are named by that, whatever else happens.
#![expect(clippy::unwrap_used, reason = "this is how a test fails")]

use std::{sync::Arc, time::Duration};

use referee::{Address, Bot, BotDial, Pool, SeatedGame};
use referee_core::{Foul, FoulKind, Limits, PerSeat, Seat, Seed};
use referee_games::{Fixture, ready};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _, DuplexStream},
    sync::mpsc,
};

const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const CONTINUATION: u8 = 9;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The largest payload that every peer takes.
const LARGEST: usize = 16 * 1024;
const LIMIT: Duration = Duration::from_secs(10);
/// The referee has sent what it had to send by then.
const A_MOMENT: Duration = Duration::from_millis(20);

fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap().to_be_bytes();
    let head = [length[1], length[2], length[3], kind, flags];
    [&head[..], &stream.to_be_bytes(), payload].concat()
}

/// A block of headers in as many frames as it needs.
fn block(first: u8, flags: u8, before: &[u8], block: &[u8]) -> Vec<u8> {
    let (head, rest) = block.split_at(block.len().min(LARGEST - before.len()));
    let rest: Vec<_> = rest.chunks(LARGEST).collect();
    let ends = |is_last| if is_last { END_HEADERS } else { 0 };
    let head = [before, head].concat();
    let mut frames = frame(first, flags | ends(rest.is_empty()), 1, &head);
    for (number, part) in rest.iter().enumerate() {
        let is_last = number + 1 == rest.len();
        frames.extend(frame(CONTINUATION, ends(is_last), 1, part));
    }
    frames
}

/// A literal field without an index (RFC 7541, sections 5.1 and 6.2.2).
fn field(name: &str, value: &[u8]) -> Vec<u8> {
    let length = |length: usize| {
        let mut bytes = Vec::new();
        let Some(mut rest) = length.checked_sub(0x7f) else {
            return vec![length as u8];
        };
        bytes.push(0x7f);
        while rest >= 0x80 {
            bytes.push(rest as u8 | 0x80);
            rest >>= 7;
        }
        bytes.push(rest as u8);
        bytes
    };
    let parts = [
        vec![0],
        length(name.len()),
        name.as_bytes().to_vec(),
        length(value.len()),
        value.to_vec(),
    ];
    parts.concat()
}

/// So many bytes of fields of 1 KiB.
fn fields(bytes: usize) -> Vec<u8> {
    let all = (0..bytes / 1024).map(|n| field(&format!("x-{n}"), &[b'x'; 1012]));
    all.collect::<Vec<_>>().concat()
}

/// The first field of a response, and its content type.
fn response() -> Vec<u8> {
    b"\x88\x0f\x10\x10application/grpc".to_vec()
}

fn ok() -> Vec<u8> {
    field("grpc-status", b"0")
}

/// A field that is remembered, and again and again by its index.
fn bomb(times: usize) -> Vec<u8> {
    let mut field = field("x-bomb", &[b'x'; 3000]);
    field[0] = 0x40;
    [field, vec![0xbe; times]].concat()
}

/// Sends its headers and Ready if there are headers for that, then the last frames, and keeps
/// the connection open. They are sent in pieces of so many bytes.
async fn send(mut stream: DuplexStream, first: bool, last: Vec<u8>, piece: usize) {
    let hear = async |stream: &mut DuplexStream| {
        let mut heard = [0; 4096];
        while let Ok(Ok(1..)) = tokio::time::timeout(A_MOMENT, stream.read(&mut heard)).await {}
    };
    stream.write_all(&frame(SETTINGS, 0, 0, b"")).await.unwrap();
    stream.write_all(&frame(SETTINGS, 1, 0, b"")).await.unwrap();
    hear(&mut stream).await;
    if first {
        let ready = ready();
        let length = u32::try_from(ready.len()).unwrap().to_be_bytes();
        let message = [&[0], &length[..], &ready].concat();
        let head = block(HEADERS, 0, b"", &response());
        let answer = [head, frame(0, 0, 1, &message)].concat();
        stream.write_all(&answer).await.unwrap();
        hear(&mut stream).await;
    }
    for piece in last.chunks(piece) {
        if stream.write_all(piece).await.is_err() {
            return;
        }
        tokio::task::yield_now().await;
    }
    let mut rest = [0; 4096];
    while matches!(stream.read(&mut rest).await, Ok(1..)) {}
}

/// The foul of a bot that sends these frames when it is asked for its first move, or for Ready.
async fn foul(first: bool, last: Vec<u8>, piece: usize) -> Foul {
    let pool = Pool::on_runtime(tokio::runtime::Handle::current());
    let (pipes, mut connections) = mpsc::unbounded_channel();
    let serving = tokio::spawn(async move {
        while let Some(connection) = connections.recv().await {
            tokio::spawn(send(connection, first, last.clone(), piece));
        }
    });
    let dial = BotDial {
        pipes: Some(pipes),
        ..BotDial::default()
    };
    let bots = [(); 2].map(|()| {
        let bot = Bot::at(Address::Unix("in memory".into()), LIMIT);
        Arc::new(bot.with_dial(dial.clone()))
    });
    let game = SeatedGame {
        fixture: Fixture {
            kind: referee_games::game("connect_four").unwrap(),
            game_id: "headers".to_owned(),
            setup: serde_json::Value::Null,
            seed: Seed::new([0; 32]),
            players: vec!["first".to_owned(), "second".to_owned()].into(),
            limits: Limits {
                start: LIMIT,
                per_move: LIMIT,
                ..Limits::default()
            },
            spent: PerSeat::default(),
        },
        bots: bots.into(),
        watch: None,
    };
    let record = game.play(&pool).await.unwrap();
    serving.abort();
    record.result.verdict.foul(Seat::new(0)).unwrap().clone()
}

#[tokio::test(start_paused = true)]
async fn too_many_headers_are_named_whatever_they_are_and_whenever_they_come() {
    use FoulKind::{ErrorStatus, Flooded, HungUp, Malformed, NoStart};
    let trailers = |parts: &[&[u8]]| (true, block(HEADERS, END_STREAM, b"", &parts.concat()));
    let headers = |part: &[u8]| {
        let all = [&response(), part].concat();
        (false, block(HEADERS, 0, b"", &all))
    };
    let promised = &2_u32.to_be_bytes();
    let (large, some) = (fields(256 << 10), fields(20 << 10));
    let long = field("x", &[b'x'; 256 << 10]);
    let cases = [
        (trailers(&[&large]), Flooded),
        (trailers(&[&ok(), &large]), Flooded),
        (trailers(&[&long]), Flooded),
        (trailers(&[&ok(), &long]), Flooded),
        ((true, block(PUSH_PROMISE, 0, promised, &large)), Flooded),
        // Small until they are unpacked.
        (trailers(&[&bomb(100)]), Flooded),
        (headers(&bomb(100)), NoStart),
        // Longer than is read: the rest is lost, and the end of the stream is what counts.
        (trailers(&[&some]), ErrorStatus),
        (trailers(&[&ok(), &some]), HungUp),
        (trailers(&[&bomb(10)]), ErrorStatus),
        // Who has not begun to play has not started.
        (headers(&large), NoStart),
        (headers(&some), NoStart),
        (headers(&bomb(10)), NoStart),
        (trailers(&[&[0xff; 100]]), Malformed),
    ];
    for piece in [700, 1 << 20] {
        for ((first, last), expected) in &cases {
            let foul = foul(*first, last.clone(), piece).await;
            assert_eq!(foul.kind(), *expected, "in pieces of {piece}: {foul}");
        }
    }
}

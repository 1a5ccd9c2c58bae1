//! Frames of HTTP/2 written by hand (RFC 9113), and a villain between a bot and the referee
//! that adds some of its own.

use std::{collections::HashMap, env, io, process::Stdio};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{UnixListener, UnixStream},
    process::{Child, Command},
    signal::unix::{SignalKind, signal},
};

use crate::{FAILED, Villain, kind::Kind};

/// The length of a frame's header.
const HEADER: usize = 9;
const DATA: u8 = 0;
const HEADERS: u8 = 1;
const PRIORITY: u8 = 2;
const RST_STREAM: u8 = 3;
const SETTINGS: u8 = 4;
const PING: u8 = 6;
const WINDOW_UPDATE: u8 = 8;
const CONTINUATION: u8 = 9;
/// A type that no version of the protocol has.
const UNKNOWN: u8 = 0xfa;
/// Of PING and SETTINGS.
const ACK: u8 = 1;
const END_STREAM: u8 = 1;
const END_HEADERS: u8 = 4;
/// The largest payload that every peer takes.
const LARGEST: usize = 16 * 1024;
/// Number of frames of a flood that go out at a time.
const PIECE: usize = 512;

/// A whole frame.
fn frame(kind: u8, flags: u8, stream: u32, payload: &[u8]) -> Vec<u8> {
    let length = u32::try_from(payload.len()).unwrap_or(u32::MAX);
    let mut frame = length.to_be_bytes()[1..].to_vec();
    frame.extend([kind, flags]);
    frame.extend(stream.to_be_bytes());
    frame.extend(payload);
    frame
}

/// The frames that a kind sends again and again while it answers on this stream, and what
/// precedes them.
fn flood(kind: Kind, stream: u32) -> (Vec<u8>, Vec<u8>) {
    let again = match kind {
        Kind::FloodsPings => frame(PING, 0, 0, b"a villai"),
        Kind::FloodsPingAcks => frame(PING, ACK, 0, b"a villai"),
        Kind::FloodsSettings => frame(SETTINGS, 0, 0, b""),
        Kind::FloodsUnknownFrames => frame(UNKNOWN, 0, 0, b""),
        Kind::FloodsEmptyData => frame(DATA, 0, stream, b""),
        Kind::FloodsWindowUpdates => frame(WINDOW_UPDATE, 0, 0, &1_u32.to_be_bytes()),
        Kind::FloodsPriorities => frame(PRIORITY, 0, stream, &[0; 5]),
        Kind::FloodsContinuations => frame(CONTINUATION, 0, stream, b""),
        // Of a stream that there is not: one of the game would end the game.
        Kind::FloodsResets => frame(RST_STREAM, 0, 2, &8_u32.to_be_bytes()),
        Kind::FloodsTrailers => frame(CONTINUATION, 0, stream, &[b'x'; LARGEST]),
        _ => Vec::new(),
    };
    let first = match kind {
        // Headers that do not end.
        Kind::FloodsContinuations => frame(HEADERS, END_STREAM, stream, b""),
        // A trailer whose value does not end: a literal without an index, its name, and a
        // length of 256 MiB (RFC 7541, sections 5.1 and 6.2.2).
        Kind::FloodsTrailers => {
            let length = [0x7f, 0xff, 0xff, 0xff, 0x7f];
            let field = [b"\x00\x0cgrpc-message", &length[..]].concat();
            frame(HEADERS, END_STREAM, stream, &field)
        }
        _ => Vec::new(),
    };
    (first, again.repeat(PIECE))
}

/// True if this kind adds frames to those of an honest bot.
pub(crate) const fn adds_frames(kind: Kind) -> bool {
    matches!(
        kind,
        Kind::FloodsPings
            | Kind::FloodsPingAcks
            | Kind::FloodsSettings
            | Kind::FloodsUnknownFrames
            | Kind::FloodsEmptyData
            | Kind::FloodsWindowUpdates
            | Kind::FloodsPriorities
            | Kind::FloodsContinuations
            | Kind::FloodsResets
            | Kind::FloodsTrailers
            | Kind::LargeTrailers
    )
}

/// All of a block of 256 KiB of trailers: fields with a value of 1,000 bytes each, and a status.
fn large_trailers(stream: u32) -> Vec<u8> {
    // A literal without an index, the lengths of its name and its value, and these (RFC 7541,
    // sections 5.1 and 6.2.2).
    let field = [b"\x00\x06x-word\x7f\xe9\x06".to_vec(), vec![b'x'; 1000]].concat();
    let status = b"\x00\x0bgrpc-status\x010".to_vec();
    let block = [status, field.repeat((256 << 10) / 1000)].concat();
    let parts: Vec<&[u8]> = block.chunks(LARGEST).collect();
    let frames = parts.iter().enumerate().map(|(number, part)| {
        let is_last = number + 1 == parts.len();
        let flags = if is_last { END_HEADERS } else { 0 };
        match number {
            0 => frame(HEADERS, flags | END_STREAM, stream, part),
            _ => frame(CONTINUATION, flags, stream, part),
        }
    });
    frames.collect::<Vec<_>>().concat()
}

/// Starts an honest bot and passes on what it and the referee send, until it is asked to
/// stop; from a certain answer on with frames of its own. Gives the program's exit code.
pub(crate) fn main(villain: &Villain) -> u8 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let served = runtime.and_then(|runtime| runtime.block_on(serve(villain)));
    served.err().map_or(0, |error| {
        eprintln!("could not misbehave as it should: {error}");
        FAILED
    })
}

async fn serve(villain: &Villain) -> io::Result<()> {
    let mut stop = signal(SignalKind::terminate())?;
    let listen = env::var("BOT_LISTEN").unwrap_or_default();
    let path = listen.strip_prefix("unix:").unwrap_or(&listen);
    let inner = format!("{path}.honest");
    let mut honest = Command::new(env::current_exe()?)
        .args(villain.verb)
        .args(["honest", "--name", &villain.name])
        .args(["--max-games", &villain.max_games().to_string()])
        .env("BOT_LISTEN", format!("unix:{inner}"))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()?;
    listens(&mut honest).await?;
    let listener = UnixListener::bind(path)?;
    println!("listening on unix:{path}");
    // One answer before the points: Ready.
    let after = villain.after + 1;
    let kind = villain.kind;
    loop {
        let referee = tokio::select! {
            accepted = listener.accept() => accepted?.0,
            _ = stop.recv() => break,
        };
        let bot = UnixStream::connect(&inner).await?;
        tokio::spawn(async move {
            let (from_referee, to_referee) = referee.into_split();
            let (from_bot, to_bot) = bot.into_split();
            tokio::select! {
                _ = answers(kind, after, from_bot, to_referee) => {}
                _ = calls(from_referee, to_bot) => {}
            }
        });
    }
    honest.kill().await
}

/// Waits until it says that it listens.
async fn listens(bot: &mut Child) -> io::Result<()> {
    let Some(output) = &mut bot.stdout else {
        return Err(io::Error::other("no output"));
    };
    let mut byte = [0];
    while byte != *b"\n" {
        output.read_exact(&mut byte).await?;
    }
    Ok(())
}

/// Passes on what the referee sends, as long as the bot reads it.
async fn calls(
    mut referee: impl tokio::io::AsyncRead + Unpin,
    mut bot: impl tokio::io::AsyncWrite + Unpin,
) -> io::Result<()> {
    // The honest bot does not understand the answers to frames that it has not sent.
    let _ = tokio::io::copy(&mut referee, &mut bot).await;
    tokio::io::copy(&mut referee, &mut tokio::io::sink()).await?;
    Ok(())
}

/// Passes on whole frames, and floods after so many answers of one stream.
async fn answers(
    kind: Kind,
    after: u32,
    mut bot: impl tokio::io::AsyncRead + Unpin,
    mut referee: impl tokio::io::AsyncWrite + Unpin,
) -> io::Result<()> {
    let mut answers = HashMap::<u32, u32>::new();
    loop {
        let mut header = [0; HEADER];
        bot.read_exact(&mut header).await?;
        let [high, middle, low, of, _, stream @ ..] = header;
        let length = u32::from_be_bytes([0, high, middle, low]);
        let mut payload = vec![0; length as usize];
        bot.read_exact(&mut payload).await?;
        let stream = u32::from_be_bytes(stream);
        let answered = answers.entry(stream).or_default();
        if of == DATA && *answered == after {
            if kind == Kind::LargeTrailers {
                referee.write_all(&large_trailers(stream)).await?;
                return std::future::pending().await;
            }
            let (first, again) = flood(kind, stream);
            referee.write_all(&first).await?;
            loop {
                referee.write_all(&again).await?;
            }
        }
        *answered += u32::from(of == DATA);
        referee.write_all(&header).await?;
        referee.write_all(&payload).await?;
    }
}

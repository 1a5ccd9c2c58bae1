//! The traffic that a bot sends on one connection, against a budget that no honest bot reaches:
//! frames of HTTP/2 and bytes. Whoever exceeds it is cut off before anything of the excess is
//! read.

use std::{
    io,
    pin::Pin,
    sync::{
        Arc, OnceLock,
        atomic::{AtomicU32, Ordering},
    },
    task::{Context, Poll},
};

use parking_lot::Mutex;
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::Instant,
};

/// Most that may be sent at once, and the most that can be saved up.
const BURST: Amount = Amount {
    frames: 10_000.0,
    data: 16.0 * 1024.0 * 1024.0,
    control: 1024.0 * 1024.0,
};
/// Addition for each second to what may be sent.
const A_SECOND: Amount = Amount {
    frames: 1_000.0,
    data: 1024.0 * 1024.0,
    control: 64.0 * 1024.0,
};
/// Addition for each call to what may be sent: the frames of an answer, and those with which a
/// server acknowledges the call. The data of an answer come on top.
const A_CALL: Amount = Amount {
    frames: 16.0,
    data: 1024.0,
    control: 1024.0,
};

/// Most bytes of headers or trailers that are read, as a list. Those of gRPC are small.
pub(crate) const HEADERS_LIMIT: u32 = 16 * 1024;
/// Largest block of them, a HEADERS frame with its CONTINUATION: a larger one is cut off. Of
/// smaller ones the end is lost, which hardly matters: the status comes first.
const BLOCK: usize = 64 * 1024;

/// The length of a frame's header (RFC 9113, section 4.1).
const HEADER: usize = 9;
/// The names of the types of frames, from 0 (RFC 9113, section 6).
const TYPES: [&str; 10] = [
    "DATA",
    "HEADERS",
    "PRIORITY",
    "RST_STREAM",
    "SETTINGS",
    "PUSH_PROMISE",
    "PING",
    "GOAWAY",
    "WINDOW_UPDATE",
    "CONTINUATION",
];
const HEADERS: u8 = 1;
const SETTINGS: u8 = 4;
const PUSH_PROMISE: u8 = 5;
const CONTINUATION: u8 = 9;
/// The setting of how many streams may be open at once, and the size of a setting in bytes
/// (RFC 9113, sections 6.5.1 and 6.5.2).
const MAX_CONCURRENT_STREAMS: u16 = 3;
const SETTING: usize = 6;
/// The place of all other types after these.
const UNKNOWN: usize = TYPES.len();

#[derive(Clone, Copy, Debug)]
struct Amount {
    frames: f64,
    /// Bytes of DATA frames.
    data: f64,
    /// Bytes of all other frames.
    control: f64,
}

impl Amount {
    fn plus(self, more: Self, times: f64) -> Self {
        let add = |left: f64, more: f64, most: f64| (left + more * times).min(most);
        Self {
            frames: add(self.frames, more.frames, BURST.frames),
            data: add(self.data, more.data, BURST.data),
            control: add(self.control, more.control, BURST.control),
        }
    }

    fn is_overdrawn(self) -> bool {
        self.frames < 0.0 || self.data < 0.0 || self.control < 0.0
    }
}

/// The allowance that is left to one connection, and the traffic that it has sent.
#[derive(Debug)]
pub(crate) struct Traffic {
    state: Mutex<TrafficCounts>,
    flood: OnceLock<String>,
    /// Number of streams that the bot's server allows at once.
    streams: AtomicU32,
}

#[derive(Debug)]
struct TrafficCounts {
    began: Instant,
    /// The allowance that was left at that moment.
    left: Amount,
    at: Instant,
    calls: u64,
    bytes: u64,
    /// Number of frames of each type that have begun.
    frames: [u64; TYPES.len() + 1],
    /// Size of the last block of headers, in bytes.
    block: usize,
}

impl Traffic {
    /// Nothing has been sent so far.
    pub(crate) fn new() -> Self {
        let now = Instant::now();
        Self {
            state: Mutex::new(TrafficCounts {
                began: now,
                left: BURST,
                at: now,
                calls: 0,
                bytes: 0,
                frames: [0; TYPES.len() + 1],
                block: 0,
            }),
            flood: OnceLock::new(),
            // Without a setting there is no limit.
            streams: AtomicU32::new(u32::MAX),
        }
    }

    /// Number of streams that may be open at once, as the bot's server has said last.
    pub(crate) fn streams(&self) -> u32 {
        self.streams.load(Ordering::Relaxed)
    }

    /// The bot is sent a call, whose answer may have so many bytes.
    pub(crate) fn called(&self, answer: usize) {
        let more = Amount {
            data: A_CALL.data + answer as f64,
            ..A_CALL
        };
        let mut state = self.state.lock();
        state.calls += 1;
        state.left = state.left.plus(more, 1.0);
    }

    /// The excess over its budget that it has sent, in words.
    pub(crate) fn flood(&self) -> Option<&str> {
        self.flood.get().map(String::as_str)
    }

    /// The excess where the transport has refused what the bot has sent last: a block of
    /// headers that is longer than is read. How it is cut into frames decides what else the
    /// transport says of it.
    pub(crate) fn headers(&self) -> Option<String> {
        let block = self.state.lock().block;
        (block > HEADERS_LIMIT as usize).then(|| too_large(block))
    }

    /// The bot has sent this.
    fn received(&self, counter: &mut FrameCounter, bytes: &[u8]) -> io::Result<()> {
        let now = Instant::now();
        let mut state = self.state.lock();
        let sent = counter.count(bytes, &mut state.frames);
        state.bytes += bytes.len() as u64;
        let time = now.duration_since(state.at);
        state.at = now;
        state.left = state
            .left
            .plus(A_SECOND, time.as_secs_f64())
            .plus(sent, -1.0);
        state.block = counter.block;
        if let Some(streams) = counter.streams.take() {
            self.streams.store(streams, Ordering::Relaxed);
        }
        if !state.left.is_overdrawn() && state.block <= BLOCK {
            return Ok(());
        }
        let words = self.flood.get_or_init(|| match state.block {
            ..=BLOCK => state.in_words(),
            larger => too_large(larger),
        });
        Err(io::Error::other(words.clone()))
    }
}

fn too_large(block: usize) -> String {
    format!("{block} bytes of headers at once, expected {HEADERS_LIMIT} at most")
}

impl TrafficCounts {
    fn in_words(&self) -> String {
        let frames: u64 = self.frames.iter().sum();
        let counted = self.frames.iter().enumerate();
        let (most, count) = counted.max_by_key(|(_, count)| **count).unwrap_or((0, &0));
        let name = TYPES.get(most).copied().unwrap_or("of an unknown type");
        format!(
            "{frames} frames of HTTP/2, {count} of them {name}, and {} bytes in {:.1} s for {} \
             calls",
            self.bytes,
            self.began.elapsed().as_secs_f64(),
            self.calls
        )
    }
}

/// Finds the frames in what is read.
#[derive(Debug, Default)]
struct FrameCounter {
    header: [u8; HEADER],
    /// Number of bytes of a header that have been read.
    known: usize,
    /// Number of bytes of the last frame's payload that are still to come.
    payload: usize,
    /// The type of the last frame.
    kind: u8,
    /// The setting that is being read, where the last frame is SETTINGS, and the number of its
    /// bytes that have been read.
    setting: [u8; SETTING],
    set: usize,
    /// The last limit of streams that was read and not taken.
    streams: Option<u32>,
    /// Size of the last block of headers so far, in bytes.
    block: usize,
}

impl FrameCounter {
    /// Counts these bytes, and the frames whose headers end in them.
    fn count(&mut self, mut bytes: &[u8], of_type: &mut [u64; TYPES.len() + 1]) -> Amount {
        let (mut frames, mut data, mut control) = (0_u32, 0, 0);
        while !bytes.is_empty() {
            let skipped = self.payload.min(bytes.len());
            *(if self.kind == 0 {
                &mut data
            } else {
                &mut control
            }) += skipped;
            if self.kind == SETTINGS {
                self.read_settings(&bytes[..skipped]);
            }
            self.payload -= skipped;
            bytes = &bytes[skipped..];
            let wanted = (HEADER - self.known).min(bytes.len());
            self.header[self.known..self.known + wanted].copy_from_slice(&bytes[..wanted]);
            self.known += wanted;
            bytes = &bytes[wanted..];
            if self.known == HEADER {
                let [high, middle, low, kind, ..] = self.header;
                self.payload = u32::from_be_bytes([0, high, middle, low]) as usize;
                self.known = 0;
                self.kind = kind;
                self.set = 0;
                match kind {
                    HEADERS | PUSH_PROMISE => self.block = self.payload,
                    CONTINUATION => self.block += self.payload,
                    _ => {}
                }
                of_type[usize::from(kind).min(UNKNOWN)] += 1;
                frames += 1;
            }
        }
        Amount {
            frames: f64::from(frames),
            data: data as f64,
            control: control as f64,
        }
    }

    /// Reads a part of the payload of a SETTINGS frame.
    fn read_settings(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.setting[self.set] = *byte;
            self.set += 1;
            if self.set == SETTING {
                self.set = 0;
                let [high, low, value @ ..] = self.setting;
                if u16::from_be_bytes([high, low]) == MAX_CONCURRENT_STREAMS {
                    self.streams = Some(u32::from_be_bytes(value));
                }
            }
        }
    }
}

/// A connection whose traffic is counted.
pub(crate) struct Metered<S> {
    stream: S,
    counter: FrameCounter,
    traffic: Arc<Traffic>,
}

impl<S> Metered<S> {
    pub(crate) fn new(stream: S, traffic: Arc<Traffic>) -> Self {
        Self {
            stream,
            counter: FrameCounter::default(),
            traffic,
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Metered<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let Self {
            stream,
            counter,
            traffic,
        } = &mut *self;
        std::task::ready!(Pin::new(stream).poll_read(cx, buffer))?;
        let received = traffic.received(counter, &buffer.filled()[before..]);
        if received.is_err() {
            // What is in excess is not read.
            buffer.set_filled(before);
        }
        Poll::Ready(received)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Metered<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, slices)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(kind: u8, payload: usize) -> Vec<u8> {
        let length = u32::try_from(payload).unwrap().to_be_bytes();
        let mut frame = vec![length[1], length[2], length[3], kind, 0, 0, 0, 0, 0];
        frame.resize(HEADER + payload, 0xff);
        frame
    }

    #[test]
    fn frames_are_found_however_they_are_cut() {
        let sent = [frame(0, 300), frame(6, 8), frame(4, 0), frame(0xfa, 1)].concat();
        for piece in [1, 2, 7, 9, 10, 64, 1000] {
            let mut counter = FrameCounter::default();
            let mut of_type = [0; TYPES.len() + 1];
            let mut counted = [0.0; 3];
            for bytes in sent.chunks(piece) {
                let Amount {
                    frames,
                    data,
                    control,
                } = counter.count(bytes, &mut of_type);
                counted = [counted[0] + frames, counted[1] + data, counted[2] + control];
            }
            assert_eq!(counted, [4.0, 300.0, 9.0], "in pieces of {piece}");
            assert_eq!(of_type, [1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 1]);
        }
    }

    #[test]
    fn what_is_asked_for_may_be_answered() {
        let traffic = Traffic::new();
        let mut counter = FrameCounter::default();
        // Four frames of 16 KiB and some for each of many calls.
        let answer = [
            frame(0, 16 * 1024).repeat(4),
            frame(8, 4).repeat(8),
            frame(6, 8),
        ]
        .concat();
        for _ in 0..20_000 {
            traffic.called(64 * 1024);
            traffic.received(&mut counter, &answer).unwrap();
        }
        assert_eq!(traffic.flood(), None);
    }

    #[test]
    fn whoever_floods_is_cut_off() {
        for (kind, name) in [(6, "PING"), (0, "DATA"), (0xfa, "of an unknown type")] {
            let traffic = Traffic::new();
            let mut counter = FrameCounter::default();
            traffic.called(64 * 1024);
            let frames = frame(kind, 0).repeat(1000);
            let sent = (0..1000).take_while(|_| traffic.received(&mut counter, &frames).is_ok());
            let sent = sent.count();
            assert!((5..100).contains(&sent), "{sent}");
            let flood = traffic.flood().unwrap();
            assert!(flood.contains(name) && flood.contains("1 calls"), "{flood}");
        }
    }

    #[test]
    fn a_block_of_headers_is_bounded_however_many_frames_it_has() {
        for (first, part, fits) in [(1, 16 * 1024, 3), (5, 100, 600)] {
            let traffic = Traffic::new();
            let mut counter = FrameCounter::default();
            for _ in 0..3 {
                let block = [frame(first, part), frame(9, part).repeat(fits)].concat();
                traffic.received(&mut counter, &block).unwrap();
            }
            let more = frame(9, part).repeat(100);
            traffic.received(&mut counter, &more).unwrap_err();
            assert!(traffic.flood().unwrap().contains("bytes of headers"));
        }
    }

    #[test]
    fn what_is_saved_up_is_bounded() {
        let traffic = Traffic::new();
        for _ in 0..1_000_000 {
            traffic.called(64 * 1024);
        }
        let mut counter = FrameCounter::default();
        let frames = frame(6, 0).repeat(1000);
        let sent = (0..1000).take_while(|_| traffic.received(&mut counter, &frames).is_ok());
        assert!(sent.count() < 100);
    }

    #[test]
    fn a_limit_of_streams_is_found_however_it_is_cut() {
        let setting = |id: u16, value: u32| [&id.to_be_bytes()[..], &value.to_be_bytes()].concat();
        let mut sent = frame(4, 12);
        let settings = sent.len() - 12;
        sent[settings..].copy_from_slice(&[setting(4, 65_535), setting(3, 2)].concat());
        // The same bytes in another frame are no setting.
        let mut ping = frame(6, 6);
        ping.truncate(HEADER);
        ping.extend(setting(3, 9));
        sent.extend(ping);
        for piece in 1..=sent.len() {
            let traffic = Traffic::new();
            assert_eq!(traffic.streams(), u32::MAX);
            let mut counter = FrameCounter::default();
            for bytes in sent.chunks(piece) {
                traffic.received(&mut counter, bytes).unwrap();
            }
            assert_eq!(traffic.streams(), 2, "in pieces of {piece}");
        }
    }
}

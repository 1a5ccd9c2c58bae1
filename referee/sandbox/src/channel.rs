//! Messages between the arena, the monitor and the init: one line of JSON each, over a
//! socket that is the standard input of the one that was started. The end of the stream
//! says that the other side has died.

use std::{
    io::{self, ErrorKind, Read as _, Write as _},
    os::unix::net::UnixStream,
    time::{Duration, Instant},
};

use serde::{Serialize, de::DeserializeOwned};

/// Reads and writes lines.
#[derive(Debug)]
pub(crate) struct Channel {
    pub(crate) stream: UnixStream,
    buffer: Vec<u8>,
}

/// The result of [`Channel::receive`].
pub(crate) enum Received<T> {
    Message(T),
    /// There is no whole line yet.
    Nothing,
    End,
}

impl Channel {
    pub(crate) fn new(stream: UnixStream) -> Self {
        Self {
            stream,
            buffer: Vec::new(),
        }
    }

    pub(crate) fn send(&self, message: &impl Serialize) -> io::Result<()> {
        let mut line = serde_json::to_vec(message)?;
        line.push(b'\n');
        (&self.stream).write_all(&line)
    }

    /// The next message, or nothing after the other side is gone.
    pub(crate) fn wait<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        loop {
            match self.receive()? {
                Received::Message(message) => return Ok(Some(message)),
                Received::End => return Ok(None),
                Received::Nothing => {}
            }
        }
    }

    /// The next message, or nothing after the other side is gone or the time is over. Part of a line,
    /// or a signal that ends a read early, is waited out: a program that has children hears of
    /// their ends by signals.
    pub(crate) fn wait_for<T: DeserializeOwned>(
        &mut self,
        limit: Duration,
    ) -> io::Result<Option<T>> {
        let end = Instant::now() + limit;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Ok(None);
            }
            self.stream.set_read_timeout(Some(left))?;
            match self.receive()? {
                Received::Message(message) => return Ok(Some(message)),
                Received::End => return Ok(None),
                Received::Nothing => {}
            }
        }
    }

    /// The next message that has arrived. Reads at most once from the stream, and only if
    /// no whole line is left from earlier.
    pub(crate) fn receive<T: DeserializeOwned>(&mut self) -> io::Result<Received<T>> {
        if let Some(message) = self.buffered()? {
            return Ok(Received::Message(message));
        }
        let mut chunk = [0; 16 * 1024];
        match (&self.stream).read(&mut chunk) {
            Ok(0) => return Ok(Received::End),
            Ok(length) => self.buffer.extend_from_slice(&chunk[..length]),
            Err(error) if error.kind() == ErrorKind::ConnectionReset => return Ok(Received::End),
            Err(error)
                if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => {}
            Err(error) => return Err(error),
        }
        Ok(match self.buffered()? {
            Some(message) => Received::Message(message),
            None => Received::Nothing,
        })
    }

    /// A message of which the whole line has been read.
    pub(crate) fn buffered<T: DeserializeOwned>(&mut self) -> io::Result<Option<T>> {
        let Some(end) = self.buffer.iter().position(|byte| *byte == b'\n') else {
            return Ok(None);
        };
        let line: Vec<u8> = self.buffer.drain(..=end).collect();
        Ok(Some(serde_json::from_slice(&line)?))
    }
}

#[cfg(test)]
mod tests {
    use std::{os::fd::AsRawFd as _, thread};

    use nix::sys::socket::{MsgFlags, recv};

    use super::*;

    #[test]
    fn a_message_that_comes_in_parts_is_waited_for() {
        let (near, mut far) = UnixStream::pair().unwrap();
        let seen = near.try_clone().unwrap();
        let mut channel = Channel::new(near);
        far.write_all(b"\"what is ").unwrap();
        let writing = thread::spawn(move || {
            // Until the first part has been read.
            let look = MsgFlags::MSG_PEEK | MsgFlags::MSG_DONTWAIT;
            while recv(seen.as_raw_fd(), &mut [0; 1], look).is_ok() {
                thread::yield_now();
            }
            far.write_all(b"whole\"\n").unwrap();
        });
        let message = channel.wait_for(Duration::from_secs(60)).unwrap();
        assert_eq!(message, Some("what is whole".to_owned()));
        writing.join().unwrap();
        let message = channel.wait_for::<String>(Duration::from_secs(60)).unwrap();
        assert_eq!(message, None, "the other side is gone");
    }

    #[test]
    fn who_says_nothing_is_waited_for_until_the_time_is_over() {
        let (near, _far) = UnixStream::pair().unwrap();
        let mut channel = Channel::new(near);
        let message = channel.wait_for::<String>(Duration::from_millis(20));
        assert_eq!(message.unwrap(), None);
    }
}

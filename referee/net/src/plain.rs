//! A connection without TLS that notices where the server speaks TLS, so that whoever wrote
//! `http://` is told so. Without this the words are those of a broken protocol.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};

/// The beginning of an alert of TLS: its type and the version that all alerts have (RFC 8446,
/// section 5.1). HTTP/2 begins with a frame of settings, whose length is far below this.
const ALERT: [u8; 2] = [0x15, 0x03];

/// A connection without TLS.
pub(crate) struct Plain<S> {
    stream: S,
    /// True if the server has said something.
    heard: bool,
}

impl<S> Plain<S> {
    pub(crate) const fn new(stream: S) -> Self {
        let heard = false;
        Self { stream, heard }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Plain<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        ready!(Pin::new(&mut self.stream).poll_read(context, buffer))?;
        let read = &buffer.filled()[before..];
        if !self.heard && read.starts_with(&ALERT) {
            return Poll::Ready(Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "the server speaks TLS: write https:// instead of http://",
            )));
        }
        self.heard |= !read.is_empty();
        Poll::Ready(Ok(()))
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Plain<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, buffer)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

//! A gRPC codec and a service that pass messages through as bytes. The referee routes by
//! path and never knows a game's messages; the games encode and decode them.

use std::{
    convert::Infallible,
    task::{Context, Poll},
};

use bytes::{Buf, BufMut, Bytes};
use tonic::{
    Request, Response, Status, Streaming,
    body::Body as AnyBody,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder, EncodeBuf, Encoder},
    codegen::{Body, BoxFuture, Service, StdError, http, tokio_stream::Stream},
    server::{Grpc, StreamingService},
};

use crate::codec::small_buffers;

/// Encodes and decodes [`Bytes`] as they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct OpaqueCodec;

impl Codec for OpaqueCodec {
    type Encode = Bytes;
    type Decode = Bytes;
    type Encoder = Self;
    type Decoder = Self;

    fn encoder(&mut self) -> Self {
        *self
    }

    fn decoder(&mut self) -> Self {
        *self
    }
}

impl Encoder for OpaqueCodec {
    type Item = Bytes;
    type Error = Status;

    fn encode(&mut self, item: Bytes, buffer: &mut EncodeBuf<'_>) -> Result<(), Status> {
        buffer.put(item);
        Ok(())
    }

    fn buffer_settings(&self) -> BufferSettings {
        small_buffers()
    }
}

impl Decoder for OpaqueCodec {
    type Item = Bytes;
    type Error = Status;

    fn decode(&mut self, buffer: &mut DecodeBuf<'_>) -> Result<Option<Bytes>, Status> {
        Ok(Some(buffer.copy_to_bytes(buffer.remaining())))
    }

    fn buffer_settings(&self) -> BufferSettings {
        small_buffers()
    }
}

/// A bot's service for one game: makes the stream of answers for each stream of calls, all of them
/// as bytes. A status in place of a stream is told before anything else is.
#[derive(Clone, Debug)]
pub struct OpaqueService<F>(pub F);

impl<F, P, S, B> Service<http::Request<B>> for OpaqueService<F>
where
    F: Fn(Streaming<Bytes>) -> P + Clone + Send + 'static,
    P: Future<Output = Result<S, Status>> + Send + 'static,
    S: Stream<Item = Result<Bytes, Status>> + Send + 'static,
    B: Body + Send + 'static,
    B::Error: Into<StdError> + Send + 'static,
{
    type Response = http::Response<AnyBody>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: http::Request<B>) -> Self::Future {
        let play = PlayCall(self.0.clone());
        Box::pin(async move { Ok(Grpc::new(OpaqueCodec).streaming(play, request).await) })
    }
}

/// The call `Play`.
struct PlayCall<F>(F);

impl<F, P, S> StreamingService<Bytes> for PlayCall<F>
where
    F: Fn(Streaming<Bytes>) -> P,
    P: Future<Output = Result<S, Status>> + Send + 'static,
    S: Stream<Item = Result<Bytes, Status>> + Send + 'static,
{
    type Response = Bytes;
    type ResponseStream = S;
    type Future = BoxFuture<Response<S>, Status>;

    fn call(&mut self, calls: Request<Streaming<Bytes>>) -> Self::Future {
        let answers = (self.0)(calls.into_inner());
        Box::pin(async move { Ok(Response::new(answers.await?)) })
    }
}

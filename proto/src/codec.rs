//! The codec of the service stubs: protobuf with small buffers. A stream's
//! messages are a few hundred bytes, and a bot may have hundreds of streams.

use std::marker::PhantomData;

use prost::Message;
use tonic::codec::{BufferSettings, Codec};
use tonic_prost::{ProstDecoder, ProstEncoder};

/// The library's own default is 8 KiB for each direction.
const BUFFER: usize = 512;
/// How much may wait in the encoder before it is handed on.
const YIELD: usize = 32 * 1024;

/// What both codecs of this crate start a stream's buffers with.
pub(crate) fn small_buffers() -> BufferSettings {
    BufferSettings::new(BUFFER, YIELD)
}

/// Encodes `T`, decodes `U`.
#[derive(Clone, Copy, Debug)]
pub struct SmallCodec<T, U>(PhantomData<(T, U)>);

impl<T, U> Default for SmallCodec<T, U> {
    fn default() -> Self {
        Self(PhantomData)
    }
}

impl<T, U> Codec for SmallCodec<T, U>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    type Encode = T;
    type Decode = U;
    type Encoder = ProstEncoder<T>;
    type Decoder = ProstDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(small_buffers())
    }

    fn decoder(&mut self) -> Self::Decoder {
        ProstDecoder::new(small_buffers())
    }
}

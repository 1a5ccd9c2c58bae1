//! The codec of the service stubs: protobuf with small buffers. A stream's
//! messages are a few hundred bytes, and a bot may have hundreds of streams.

use std::marker::PhantomData;

use bytes::Buf as _;
use prost::{
    Message,
    encoding::{DecodeContext, decode_key, skip_field},
};
use tonic::{
    Status,
    codec::{BufferSettings, Codec, DecodeBuf, Decoder},
};
use tonic_prost::{ProstDecoder, ProstEncoder};

/// The library's own default is 8 KiB for each direction.
const BUFFER: usize = 512;
/// The most fields of a message, with each value of a list: a lease has 100,000 games. A value
/// takes two bytes on the wire and may take a hundred in memory.
const MOST_FIELDS: usize = 150_000;
/// Number of bytes that may wait in the encoder before they are handed on.
const YIELD: usize = 32 * 1024;

/// The buffer sizes with which both codecs of this crate start a stream.
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
    type Decoder = BoundedDecoder<U>;

    fn encoder(&mut self) -> Self::Encoder {
        ProstEncoder::new(small_buffers())
    }

    fn decoder(&mut self) -> Self::Decoder {
        BoundedDecoder(ProstDecoder::new(small_buffers()))
    }
}

/// Reads messages of at most so many fields.
#[derive(Debug)]
pub struct BoundedDecoder<U>(ProstDecoder<U>);

impl<U> Decoder for BoundedDecoder<U>
where
    U: Message + Default + Send + 'static,
{
    type Item = U;
    type Error = Status;

    fn decode(&mut self, bytes: &mut DecodeBuf<'_>) -> Result<Option<U>, Status> {
        // A field has two bytes at least.
        if bytes.remaining() > 2 * MOST_FIELDS && has_more_fields(bytes.chunk(), MOST_FIELDS) {
            return Err(Status::invalid_argument(format!(
                "expected a message of at most {MOST_FIELDS} fields"
            )));
        }
        self.0.decode(bytes)
    }

    fn buffer_settings(&self) -> BufferSettings {
        self.0.buffer_settings()
    }
}

/// True if a message has more fields than this. An invalid message is found by whoever reads it.
fn has_more_fields(mut message: &[u8], most: usize) -> bool {
    for _ in 0..most {
        let Ok((number, wire_type)) = decode_key(&mut message) else {
            return false;
        };
        let skipped = skip_field(wire_type, number, &mut message, DecodeContext::default());
        if skipped.is_err() || message.is_empty() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_without_reading_them() {
        // Field 2, empty.
        let message = [18, 0].repeat(10);
        assert!(!has_more_fields(&message, 10));
        assert!(has_more_fields(&message, 9));
        // One field with as many bytes is one.
        let long = [&[18, 20][..], &message].concat();
        assert!(!has_more_fields(&long, 1));
        for broken in [&[][..], &[255; 3], &[18, 200]] {
            assert!(!has_more_fields(broken, 1));
        }
    }
}

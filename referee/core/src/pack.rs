//! Records at rest: zstd frames.

use std::{cell::RefCell, io::Read as _};

use zstd::{
    bulk::Compressor,
    zstd_safe::{CParameter, DCtx, DParameter, ResetDirective},
};

/// Beside it, level 3 takes 16 % more time and less than 1 % less space, level -1
/// 10 to 25 % less time and 13 to 23 % more space (`cargo xtask bench records`).
const LEVEL: i32 = 1;
/// The compressor's hash table: 2^12 entries, 16 KiB, find as much in a record as the
/// 64 KiB that zstd takes by itself, in half the time where each record finds the
/// processor's caches full of other data.
const TABLE: CParameter = CParameter::HashLog(12);
/// No text of a record has more bytes than this. The longest game with the largest answers
/// has less than a third of it.
pub const LARGEST: u64 = 64 * 1024 * 1024;
/// A record beyond this is rare, in bytes.
const USUAL: usize = 1024 * 1024;
/// Longest distance that unpacking may look back, as a power of two: all of the largest record.
const WINDOW: u32 = LARGEST.ilog2();

thread_local! {
    /// Making one costs more than packing a record.
    static COMPRESSOR: RefCell<Compressor<'static>> = RefCell::new(compressor());
    /// The same of unpacking.
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(decompressor());
}

/// The reason why bytes are no packed record.
#[derive(Debug, thiserror::Error)]
#[error("this is no packed record: {0}")]
pub struct RecordUnpackError(#[from] std::io::Error);

/// A record's text as it is kept.
#[must_use]
pub fn pack(text: &str) -> Vec<u8> {
    let packed = COMPRESSOR.with_borrow_mut(|compressor| compressor.compress(text.as_bytes()));
    let mut packed = packed.expect("zstd packs whatever it is given");
    // It was given room for a text that can't be packed, and waits to be stored.
    packed.shrink_to_fit();
    packed
}

/// The text of a record that was packed.
///
/// # Errors
///
/// The bytes are not a whole zstd frame, or not text, or of more than [`LARGEST`] bytes.
pub fn unpack(packed: &[u8]) -> Result<String, RecordUnpackError> {
    let mut text = String::new();
    let read = DECOMPRESSOR.with_borrow_mut(|context| {
        // What it was told before stays; what a broken record has left goes.
        context
            .reset(ResetDirective::SessionOnly)
            .expect("a session can be ended");
        let unpacking = zstd::Decoder::with_context(packed, context);
        let read = unpacking.take(LARGEST + 1).read_to_string(&mut text);
        if text.len() > USUAL {
            // It keeps as much memory as it has ever needed.
            *context = decompressor();
        }
        read
    })?;
    if read as u64 > LARGEST {
        return Err(RecordUnpackError(std::io::Error::other(format!(
            "it unpacks to more than {} MiB",
            LARGEST >> 20
        ))));
    }
    Ok(text)
}

fn decompressor() -> DCtx<'static> {
    let mut context = DCtx::create();
    let set = context.set_parameter(DParameter::WindowLogMax(WINDOW));
    set.expect("zstd has windows of this size");
    context
}

fn compressor() -> Compressor<'static> {
    let mut compressor = Compressor::new(LEVEL).expect("memory for a compressor");
    let set = compressor.set_parameter(TABLE);
    set.expect("zstd has tables of this size");
    compressor
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_packed_comes_out_again_and_what_is_cut_does_not() {
        let text = "a line with ♣\n".repeat(500);
        let packed = pack(&text);
        assert!(packed.len() < text.len() / 10);
        assert_eq!(unpack(&packed).unwrap(), text);
        for end in [0, 1, packed.len() / 2, packed.len() - 1] {
            let cut = unpack(&packed[..end]);
            assert!(cut.is_err() || cut.unwrap() != text, "{end}");
        }
        assert!(unpack(b"no frame").is_err());
    }

    #[test]
    fn what_unpacks_to_more_than_a_record_can_have_is_refused() {
        let largest = "0".repeat(LARGEST as usize);
        let packed = pack(&largest);
        assert!(packed.len() < 100_000);
        assert_eq!(unpack(&packed).unwrap().len(), largest.len());
        for more in ["0", &largest] {
            // Several frames, one after another, are one text.
            let bomb = [packed.clone(), pack(more)].concat();
            let why = unpack(&bomb).unwrap_err().to_string();
            assert!(why.contains("more than 64 MiB"), "{why}");
        }
    }
}

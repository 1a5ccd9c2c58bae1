//! Records at rest: zstd frames.

use std::{cell::RefCell, io::Read as _};

use zstd::bulk::Compressor;

/// The records of the benchmark, of 6 KB, become 0.9 KB in 11 µs; at zstd's own
/// default of 3 they take a quarter longer and become no smaller.
const LEVEL: i32 = 1;
/// No record is larger than this, in bytes; what claims to be was not written
/// by us.
const LARGEST: u64 = 256 * 1024 * 1024;

thread_local! {
    /// Making one costs more than packing a record.
    static COMPRESSOR: RefCell<Option<Compressor<'static>>> = const { RefCell::new(None) };
}

/// Why bytes are no packed record.
#[derive(Debug, thiserror::Error)]
#[error("this is no packed record: {0}")]
pub struct UnpackError(#[from] std::io::Error);

/// A record's text as it is kept.
#[must_use]
pub fn pack(text: &str) -> Vec<u8> {
    COMPRESSOR.with_borrow_mut(|slot| {
        let compressor = match slot {
            Some(compressor) => compressor,
            None => slot.insert(Compressor::new(LEVEL).expect("memory for a compressor")),
        };
        compressor
            .compress(text.as_bytes())
            .expect("zstd packs whatever it is given")
    })
}

/// The text of a record that was packed.
///
/// # Errors
///
/// The bytes are not a whole zstd frame, or not text, or of more than 256 MiB.
pub fn unpack(packed: &[u8]) -> Result<String, UnpackError> {
    let mut text = String::new();
    let read = zstd::Decoder::new(packed)?
        .take(LARGEST + 1)
        .read_to_string(&mut text)?;
    if read as u64 > LARGEST {
        return Err(UnpackError(std::io::Error::other("it is too large")));
    }
    Ok(text)
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
}

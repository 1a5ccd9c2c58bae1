//! Records at rest: zstd frames. In files they are plain, so that every program that knows zstd
//! reads them. In stores and reports, where there are millions, they are packed with a dictionary
//! that this program has.

use std::{cell::RefCell, io::Read as _, num::NonZeroU32};

use zstd::{
    bulk::Compressor,
    zstd_safe::{self, CParameter, DCtx, DParameter, ResetDirective},
};

/// What records of all games have in common, as zstd has learned it from the texts of 474 records:
/// of games between `random` bots (150 of Connect Four, 150 of Othello, 60 of Mahjong, 24 of Big
/// Two), 30 of Connect Four between `uct?playouts=200` and `random`, and 60 of Mahjong between
/// `shanten` and `simple`. For each game, then once for all:
///
/// ```sh
/// arena match connect-four --bot a=house:random --bot b=house:random --deals 75 --records one
/// zstd -d one/*.zst
/// zstd --train one/*.jsonl two/*.jsonl --maxdict=32768 --dictID=40001 -o records.dict
/// ```
///
/// What was packed with a dictionary can be read with that one alone, so another one needs another
/// number, and this one stays.
const DICTIONARY: &[u8] = include_bytes!("records.dict");
/// The number that frames name the dictionary by.
const DICTIONARY_ID: NonZeroU32 = NonZeroU32::new(40001).unwrap();

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
    static COMPRESSOR: RefCell<Compressor<'static>> = RefCell::new(compressor(&[]));
    static WITH_DICTIONARY: RefCell<Compressor<'static>> = RefCell::new(compressor(DICTIONARY));
    /// The same of unpacking.
    static DECOMPRESSOR: RefCell<DCtx<'static>> = RefCell::new(decompressor(&[]));
    static UNPACK_WITH_DICTIONARY: RefCell<DCtx<'static>> = RefCell::new(decompressor(DICTIONARY));
}

/// The reason why bytes are no packed record.
#[derive(Debug, thiserror::Error)]
#[error("this is no packed record: {0}")]
pub struct RecordUnpackError(#[from] std::io::Error);

/// A text as a file has it: any program that knows zstd unpacks it.
#[must_use]
pub fn pack(text: &str) -> Vec<u8> {
    COMPRESSOR.with_borrow_mut(|compressor| packed_by(compressor, text))
}

/// A record's text as a store and a report have it, with fewer bytes than [`pack`] has: two thirds
/// in Connect Four, nine tenths in Big Two. [`unpack`] reads both.
#[must_use]
pub fn pack_for_store(text: &str) -> Vec<u8> {
    WITH_DICTIONARY.with_borrow_mut(|compressor| packed_by(compressor, text))
}

fn packed_by(compressor: &mut Compressor<'_>, text: &str) -> Vec<u8> {
    let packed = compressor.compress(text.as_bytes());
    let mut packed = packed.expect("zstd packs whatever it is given");
    // It was given room for a text that can't be packed, and waits to be stored.
    packed.shrink_to_fit();
    packed
}

/// The same text as [`pack`] packs it.
///
/// # Errors
///
/// As [`unpack`].
pub fn packed_for_file(packed: Vec<u8>) -> Result<Vec<u8>, RecordUnpackError> {
    match zstd_safe::get_dict_id_from_frame(&packed) {
        None => Ok(packed),
        Some(_) => Ok(pack(&unpack(&packed)?)),
    }
}

/// The text of a record that was packed.
///
/// # Errors
///
/// The bytes are not a whole zstd frame, not packed with the dictionary of this program, not
/// text, or of more than [`LARGEST`] bytes.
pub fn unpack(packed: &[u8]) -> Result<String, RecordUnpackError> {
    match zstd_safe::get_dict_id_from_frame(packed) {
        None => DECOMPRESSOR.with_borrow_mut(|context| unpacked_by(context, packed, &[])),
        Some(DICTIONARY_ID) => UNPACK_WITH_DICTIONARY
            .with_borrow_mut(|context| unpacked_by(context, packed, DICTIONARY)),
        Some(other) => Err(RecordUnpackError(std::io::Error::other(format!(
            "it needs dictionary {other}, and this program has {DICTIONARY_ID}: \
             a newer version may read it"
        )))),
    }
}

fn unpacked_by(
    context: &mut DCtx<'static>,
    packed: &[u8],
    dictionary: &[u8],
) -> Result<String, RecordUnpackError> {
    // What it was told before stays; what a broken record has left goes.
    context
        .reset(ResetDirective::SessionOnly)
        .expect("a session can be ended");
    let mut text = String::new();
    let unpacking = zstd::Decoder::with_context(packed, context);
    let read = unpacking.take(LARGEST + 1).read_to_string(&mut text);
    if text.len() > USUAL {
        // It keeps as much memory as it has ever needed.
        *context = decompressor(dictionary);
    }
    if read? as u64 > LARGEST {
        return Err(RecordUnpackError(std::io::Error::other(format!(
            "it unpacks to more than {} MiB",
            LARGEST >> 20
        ))));
    }
    Ok(text)
}

fn decompressor(dictionary: &[u8]) -> DCtx<'static> {
    let mut context = DCtx::create();
    let set = context.set_parameter(DParameter::WindowLogMax(WINDOW));
    set.expect("zstd has windows of this size");
    let loaded = context.load_dictionary(dictionary);
    loaded.expect("zstd reads the dictionary that it has made");
    context
}

fn compressor(dictionary: &'static [u8]) -> Compressor<'static> {
    let compressor = Compressor::with_dictionary(LEVEL, dictionary);
    let mut compressor = compressor.expect("memory for a compressor");
    let set = compressor.set_parameter(TABLE);
    set.expect("zstd has tables of this size");
    compressor
}

#[cfg(test)]
mod tests {
    use super::*;

    const LINE: &str = r#"{"type":"answered","seat":0,"number":1,"answer":"CAFSBAgLEAY=","move":"(11, 6)","thought_us":844}"#;

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
    fn what_is_packed_for_a_store_is_smaller_and_comes_out_again() {
        let text = format!("{LINE}\n");
        let (plain, stored) = (pack(&text), pack_for_store(&text));
        assert!(
            2 * stored.len() < plain.len(),
            "{} {}",
            stored.len(),
            plain.len()
        );
        assert_eq!(unpack(&stored).unwrap(), text);
        assert_eq!(packed_for_file(stored.clone()).unwrap(), plain);
        assert_eq!(packed_for_file(plain.clone()).unwrap(), plain);
        for end in 0..stored.len() {
            assert!(unpack(&stored[..end]).is_err(), "{end}");
        }
        // The number of the dictionary follows the magic number and one byte.
        let mut other = stored;
        other[5] ^= 1;
        let why = unpack(&other).unwrap_err().to_string();
        assert!(why.contains("it needs dictionary 40000"), "{why}");
    }

    #[test]
    fn what_was_packed_by_earlier_versions_is_read() {
        // Made by the program `zstd`, which had the dictionary for the second one.
        for (packed, text) in [
            ("28b52ffd044849000061207265636f72640ae26abf18", "a record\n"),
            (
                "28b52ffd0648419c0d010050304c2831313834347d0a08fc7cce78de52e789b897671d2f1571959859bfc1492dd088b5",
                "{}\n",
            ),
        ] {
            let packed = hex::decode(packed).unwrap();
            assert_eq!(unpack(&packed).unwrap(), text.replace("{}", LINE));
        }
    }

    #[test]
    fn what_unpacks_to_more_than_a_record_can_have_is_refused() {
        let largest = "0".repeat(LARGEST as usize);
        let packed = pack(&largest);
        assert!(packed.len() < 100_000);
        assert_eq!(unpack(&packed).unwrap().len(), largest.len());
        for more in ["0", &largest] {
            // Several frames, one after another, are one text.
            for pack in [pack, pack_for_store] {
                let bomb = [pack(&largest), pack(more)].concat();
                let why = unpack(&bomb).unwrap_err().to_string();
                assert!(why.contains("more than 64 MiB"), "{why}");
            }
        }
    }
}

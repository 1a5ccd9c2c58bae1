//! Writes the corpus that can be computed, into `fuzz/corpus`: `cargo run -p fuzz-targets
//! --example corpus`. What was found by fuzzing lies beside it and stays.
#![expect(clippy::unwrap_used, reason = "it is run by hand")]

use std::{fs, path::Path};

use fuzz_targets::{Mutator, frames_of, played};
use referee_core::{Record, pack};
use referee_games::GAMES;

fn main() {
    let mut random = Mutator::new(2026);
    for (number, game) in (0_u8..).zip(GAMES) {
        let name = game.info().name;
        for part in 0..3_u8 {
            // A game that is played for a while and then ends with a foul of each kind.
            let mut script = vec![number, part, part];
            let moves = 12 + 12 * usize::from(part);
            script.extend((0..2 * moves).map(|_| random.below(240) as u8));
            script.extend([253, 0, 254, 0, 240, 2, 8, 1, 255, 0, 1]);
            write("answers", &format!("{name}-{part}"), &script);
            let record = played(&script);
            if name == "connect_four" && part == 0 {
                frames(&record);
            }
            let record = record.to_json_lines();
            if part == 0 {
                write("records", name, record.as_bytes());
            }
            write(
                "packed_records",
                &format!("{name}-{part}"),
                &pack::pack(&record),
            );
        }
        for trial in game.trials() {
            let file = format!(
                "{name}-{}",
                trial.name.replace(|c: char| !c.is_alphanumeric(), "-")
            );
            let input = [&[number], trial.setup.as_bytes()].concat();
            write("setups", &file, &input);
        }
    }
}

/// A game in which bots send other frames besides their answers.
fn frames(record: &Record) {
    // A type, flags, a stream, a length and a payload; above 32 with another length before it.
    let others: [(&str, &[u8]); 12] = [
        ("nothing", b""),
        ("ping", b"\x06\x00\x00\x08a villai"),
        ("ping-ack", b"\x06\x01\x00\x08a villai"),
        ("settings", b"\x04\x00\x00\x06\x00\x04\x00\x00\x00\x01"),
        ("window", b"\x08\x00\x00\x04\x7f\xff\xff\xff"),
        ("priority", b"\x02\x00\x01\x05\x00\x00\x00\x01\x00"),
        ("unknown", b"\x0a\xff\xc8\x02xy"),
        ("headers", b"\x01\x00\x01\x01\x88\x09\x00\x01\x01\x88"),
        ("reset", b"\x03\x00\x01\x04\x00\x00\x00\x08"),
        ("push", b"\x05\x04\x01\x05\x00\x00\x00\x02\x82"),
        ("away", b"\x07\x00\x00\x08\x00\x00\x00\x01\x00\x00\x00\x0b"),
        ("lies", b"\x20\x00\x01\xff\xff\x03\x00\x00\x00"),
    ];
    for (name, between) in others {
        write("frames", name, &frames_of(record, between));
    }
}

fn write(target: &str, name: &str, content: &[u8]) {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target);
    fs::create_dir_all(&folder).unwrap();
    fs::write(folder.join(name), content).unwrap();
}

//! CPU time of one thread for the record of a game: its text with both hashes, packing, unpacking
//! and parsing. Random games of every registered game.

#![allow(clippy::print_stdout, reason = "a program")]

use std::{
    hint::black_box,
    time::{Duration, Instant},
};

use arena_proto::arena::v1::{AnswerEnvelope, Ready};
use arena_store::{pack_for_store, unpack};
use prost::Message as _;
use referee_core::{GameKind, Limits, PerSeat, Record, Root};
use referee_games::{Fixture, GAMES, Next, Question, SeatReply, Sitting};
use sha2::{Digest as _, Sha256};

/// The allocator of the program that stores records.
#[global_allocator]
static MEMORY: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Records of one game in one round of measuring.
const RECORDS: u64 = 64;
/// The fastest round counts: other programs on the machine only make it slower.
const ROUNDS: u32 = 200;

fn main() {
    println!("\nMicroseconds a record\n");
    println!(
        "| game | events | bytes | packed | text and hashes | of these play hash | file hash | pack | both | unpack | parse |"
    );
    println!("| --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |");
    for kind in &GAMES {
        let records: Vec<_> = (0..RECORDS).map(|number| random(*kind, number)).collect();
        let texts: Vec<_> = records.iter().map(Record::to_json_lines).collect();
        let packed: Vec<_> = texts.iter().map(|text| pack_for_store(text)).collect();
        let mean = |total: usize| total / records.len();
        let [seal, play, file, packing, unpacking, parsing] = [
            fastest(&records, |record| drop(black_box(record.sealed()))),
            fastest(&records, |record| drop(black_box(record.play_hash()))),
            fastest(&texts, |text| _ = black_box(Sha256::digest(text))),
            fastest(&texts, |text| drop(black_box(pack_for_store(text)))),
            fastest(&packed, |packed| drop(black_box(unpack(packed)))),
            fastest(&texts, |text| drop(black_box(Record::parse(text)))),
        ];
        println!(
            "| {} | {} | {} | {} | {seal:.1} | {play:.1} | {file:.1} | {packing:.1} | {:.1} | {unpacking:.1} | {parsing:.1} |",
            kind.info().name,
            mean(records.iter().map(|record| record.events.len()).sum()),
            mean(texts.iter().map(String::len).sum()),
            mean(packed.iter().map(Vec::len).sum()),
            seal + packing,
        );
    }
}

/// Microseconds for each of them in the fastest round.
fn fastest<T>(all: &[T], mut work: impl FnMut(&T)) -> f64 {
    let rounds = (0..ROUNDS).map(|_| {
        let begin = Instant::now();
        all.iter().for_each(&mut work);
        begin.elapsed()
    });
    rounds.min().unwrap_or_default().as_secs_f64() * 1e6 / all.len() as f64
}

/// The record of a game between bots that answer at random.
fn random(kind: &'static dyn GameKind, number: u64) -> Record {
    let fixture = Fixture {
        kind,
        game_id: format!("m1-{number:06}-0"),
        setup: serde_json::Value::Null,
        seed: Root::new([1; 32]).seed(kind.info().name, number),
        players: PerSeat::new(kind.info().seats, |seat| format!("random-{seat}")),
        limits: Limits::default(),
        spent: PerSeat::default(),
    };
    let mut sitting = Sitting::new(fixture).expect("the standard set-up");
    let mut chance = number;
    loop {
        match sitting.advance() {
            Next::Tell(_) => {}
            Next::Ask(questions) => {
                for question in questions {
                    chance = mix(chance);
                    let answer = answer(&sitting, &question, chance);
                    let thought = Duration::from_micros(20 + chance % 200);
                    sitting.hear(question.seat, SeatReply::Answer(answer.into()), thought);
                }
            }
            Next::Over(finished) => return finished.record,
        }
    }
}

fn answer(sitting: &Sitting, question: &Question, chance: u64) -> Vec<u8> {
    let ready = (question.number == 0).then(Ready::default);
    let number = Some(question.number);
    let mut message = AnswerEnvelope { number, ready }.encode_to_vec();
    if question.number > 0 {
        let mut legal = sitting.legal(question.seat);
        let at = chance % legal.len() as u64;
        message.extend(legal.swap_remove(at as usize).1);
    }
    message
}

/// Sebastiano Vigna's splitmix64.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9E37_79B9_7F4A_7C15);
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

//! Writes the corpus that can be computed, into `fuzz/corpus`: `cargo run -p fuzz-targets
//! --example corpus`. What was found by fuzzing lies beside it and stays.
#![expect(clippy::unwrap_used, reason = "it is run by hand")]

use std::{
    fs,
    io::{Cursor, Write as _},
    os::unix::fs::symlink,
    path::Path,
    time::Duration,
};

use arena_proto::arena::v1 as proto;
use flate2::{Compression, write::GzEncoder};
use fuzz_targets::{Mutator, frames_of, played};
use prost::Message as _;
use referee::Live;
use referee_bots::{BotOptions, Entry, Schemes, archive::pack_folder};
use referee_core::{Limits, Record, Seed, pack};
use referee_games::GAMES;
use referee_worker::{
    Machine,
    lease::{
        Assignment, ChunkId, GameKey, GiveBack, Lease, LeaseId, LeasedBot, LiveUpdate, RunId,
        SessionId,
    },
    remote::wire,
};
use zip::{ZipWriter, write::SimpleFileOptions};

fn main() {
    workers();
    uploads();
    let mut random = Mutator::new(2026);
    for (number, game) in (0_u8..).zip(&GAMES) {
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

/// The same sources in each kind of archive.
fn uploads() {
    let files = [
        ("bot/bot.py", "print(1)\n"),
        ("bot/lib/rules.py", "ROWS = 9\n"),
    ];
    let mut tar = tar::Builder::new(Vec::new());
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (path, text) in files {
        let mut header = tar::Header::new_ustar();
        header.set_size(text.len() as u64);
        header.set_mode(0o644);
        tar.append_data(&mut header, path, text.as_bytes()).unwrap();
        zip.start_file(path, SimpleFileOptions::DEFAULT).unwrap();
        zip.write_all(text.as_bytes()).unwrap();
    }
    let tar = tar.into_inner().unwrap();
    let mut gzip = GzEncoder::new(Vec::new(), Compression::default());
    gzip.write_all(&tar).unwrap();
    write("uploads", "tar", &tar);
    write("uploads", "tar-gz", &gzip.finish().unwrap());
    write("uploads", "zip", &zip.finish().unwrap().into_inner());
    write("uploads", "source", files[0].1.as_bytes());
}

/// A message of each kind, and a bot's archive.
fn workers() {
    let id = LeaseId {
        run: RunId(3),
        chunk: ChunkId {
            matchup: 1,
            first_group: 4,
            groups: 2,
            seating: Some(1),
        },
        attempt: 2,
    };
    let key = GameKey {
        group: 4,
        seating: 1,
    };
    let bot = |name: &str| LeasedBot {
        name: name.to_owned(),
        entry: Entry::read(&format!("{name}=exec:./bot --x"), &Schemes::with(vec![])).unwrap(),
        options: BotOptions {
            start_limit: Limits::default().start,
            memory_limit: Some(1 << 30),
            directory: None,
            measure_memory: false,
        },
        budget: true,
    };
    let lease = Lease {
        id,
        valid_for: Duration::from_secs(60),
        game: "connect_four".to_owned(),
        limits: Limits::default(),
        bots: vec![bot("a"), bot("b")],
        fresh_processes: false,
        series: false,
        records: true,
        logs: false,
        live: false,
        games: vec![Assignment {
            key,
            game_id: "match-0001-deal-0002-game-1".to_owned(),
            setup: serde_json::json!({"columns": 9}),
            seed: Seed::new([7; 32]),
            order: vec![1, 0],
        }],
    };
    let session = SessionId([9; 16]);
    let give_back = GiveBack {
        lease: id,
        unplayed: vec![key],
        memory: vec![Some(1 << 20), None],
    };
    let live = LiveUpdate {
        lease: id,
        key,
        game_id: String::new(),
        players: Vec::new(),
        live: Live::Started,
    };
    let renew = proto::Renew {
        leases: vec![wire::from_lease_id(id)],
        running: 2,
        delay: Some(wire::from_duration(Duration::from_millis(3))),
    };
    let machine = Machine {
        host: "lab".to_owned(),
        provides: ["python3".to_owned()].into(),
        ..Machine::default()
    };
    let join = proto::Join {
        session: session.0.to_vec().into(),
        name: "lab".to_owned(),
        version: Some(wire::own_version()),
        machine: Some(wire::from_machine(&machine)),
    };
    let messages: [(&str, Vec<u8>); 5] = [
        ("lease", wire::from_lease(&lease).encode_to_vec()),
        (
            "give-back",
            wire::from_give_back(session, &give_back).encode_to_vec(),
        ),
        ("live", wire::from_live(live).encode_to_vec()),
        ("renew", renew.encode_to_vec()),
        ("join", join.encode_to_vec()),
    ];
    for (number, (name, message)) in (0_u8..).zip(messages) {
        write("messages", name, &[&[number][..], &message].concat());
    }
    let folder = tempfile::tempdir().unwrap();
    let bot = folder.path().join("bot");
    fs::create_dir_all(bot.join("data")).unwrap();
    fs::write(bot.join("my_bot.py"), "print('ready')\n").unwrap();
    fs::write(bot.join("data").join("x".repeat(120)), "long").unwrap();
    symlink("../my_bot.py", bot.join("data/again.py")).unwrap();
    let packed = pack_folder(&bot).unwrap();
    let tar = zstd::decode_all(&packed.bytes[..]).unwrap();
    write("archives", "folder", &tar);
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

//! The readers of files and of what is typed.

use std::{
    cell::RefCell,
    path::Path,
    sync::atomic::{AtomicU64, Ordering},
};

use arena_build::{BuildLimits, Sources};
use arena_store::{Store, Tournament};
use arena_tournament::{Context, Planned, Setups, check_imported};
use futures_util::FutureExt as _;
use referee::Address;
use referee_bots::{Entry, Schemes};
use referee_core::{GameKind, Record, RecordError, Seed, pack};
use referee_games::{GAMES, replay, retrace, verify};
use tokio::runtime::Runtime;

/// The game that it is about, by the first byte, and the text that follows.
fn of_a_game(data: &[u8]) -> Option<(&'static dyn GameKind, &str)> {
    let (first, rest) = data.split_first()?;
    let kind = GAMES[usize::from(*first) % GAMES.len()];
    Some((kind, std::str::from_utf8(rest).ok()?))
}

/// A record as text. Whoever changes a record can seal it again, and so does this.
pub(crate) fn records(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        record(text);
    }
}

/// A packed record.
pub(crate) fn packed_records(data: &[u8]) {
    if let Ok(text) = pack::unpack(data) {
        record(&text);
    }
}

fn record(text: &str) {
    let mut text = text.to_owned();
    // Each of the two hashes may be wrong.
    for _ in 0..3 {
        match Record::parse(&text) {
            Ok(record) => {
                // What it says may be impossible; then it is an error.
                let replayed = replay(&record, |_| {}).err();
                assert_eq!(replayed, verify(&record).err(), "with scenes and without");
                let _ = retrace(&record, |_| {});
                let again = Record::parse(&record.to_json_lines());
                let again = again.expect("a record that we wrote reads back");
                assert!(again == record, "it reads back as it was");
                return;
            }
            Err(RecordError::Seal {
                expected, found, ..
            }) if !found.is_empty() => text = text.replace(&found, &expected),
            Err(_) => return,
        }
    }
}

thread_local! {
    static STORE: RefCell<Option<(&'static Runtime, Store, tempfile::TempDir)>> =
        const { RefCell::new(None) };
}
static IMPORTS: AtomicU64 = AtomicU64::new(0);

/// An export, read into a store.
pub(crate) fn exports(data: &[u8]) {
    STORE.with_borrow_mut(|opened| {
        let (runtime, store, _) = opened.get_or_insert_with(open);
        let name = format!("import-{}", IMPORTS.fetch_add(1, Ordering::Relaxed));
        runtime.block_on(async {
            let check =
                |imported: &Tournament| check_imported(imported).map_err(|error| error.to_string());
            if let Ok(imported) = store.import(&mut &*data, Some(&name), check).await {
                let exported = store.export(imported.id, &mut Vec::new()).await;
                exported.expect("what was read in can be written");
                let removed = store.remove(imported.id).await;
                removed.expect("what was read in can be removed");
            }
        });
    });
}

fn open() -> (&'static Runtime, Store, tempfile::TempDir) {
    let folder = tempfile::tempdir().expect("a folder for the store");
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime for the store");
    // It is never dropped: when this thread ends it may have a transaction to roll back, whose
    // connection wants a runtime to return to its pool.
    let runtime: &Runtime = Box::leak(Box::new(runtime));
    let url = folder.path().join("store").display().to_string();
    let store = runtime.block_on(Store::open(&url)).expect("a new store");
    (runtime, store, folder)
}

/// A tournament as TOML.
pub(crate) fn definitions(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let schemes = Schemes::with(Vec::new());
    let context = Context {
        schemes: &schemes,
        directory: Path::new("/nowhere"),
        store: None,
        on: None,
    };
    let planned = Planned::parse(text, "fuzz".to_owned(), context).now_or_never();
    let planned = planned.expect("without a store it waits for nothing");
    if let Ok(planned) = planned {
        let schedule = planned.definition.schedule(planned.entrants.len(), [7; 32]);
        if let Ok(mut schedule) = schedule {
            schedule.next();
        }
    }
}

/// What somebody hands in to a contest: an archive, or one file of sources.
pub(crate) fn uploads(data: &[u8]) {
    if let Ok(sources) = Sources::read("bot.py", data, &BuildLimits::default()) {
        for path in sources.paths() {
            let mut parts = path.split('/');
            assert!(
                parts.all(|part| !matches!(part, "" | "." | "..")),
                "{path:?} stays in its folder"
            );
        }
    }
}

/// A set-up as JSON, of the game that the first byte says.
pub(crate) fn setups(data: &[u8]) {
    let Some((kind, text)) = of_a_game(data) else {
        return;
    };
    if let Ok(setup) = serde_json::from_str::<serde_json::Value>(text) {
        begin(kind, &setup);
    }
}

/// A list of openings, of the game that the first byte says.
pub(crate) fn openings(data: &[u8]) {
    let Some((kind, text)) = of_a_game(data) else {
        return;
    };
    for line in text.lines().take(100) {
        if let Ok(setup) = kind.opening(line) {
            begin(kind, &setup);
        }
    }
}

fn begin(kind: &'static dyn GameKind, setup: &serde_json::Value) {
    let Ok(full) = kind.setup(setup) else {
        return;
    };
    let again = kind.setup(&full).expect("the full form is a set-up");
    assert_eq!(again, full, "the full form stays as it is");
    let seed = Seed::new([7; 32]);
    let line = kind.transcript((&full, &seed), &[]);
    let line = line.expect("a set-up has a line");
    if kind.info().can_begin_with_moves() {
        kind.opening(&line)
            .expect("a line that we wrote reads back");
    }
    let table = kind.deal(&full, &seed);
    let mut table = table.expect("a set-up can be dealt");
    table.step();
    Setups::new(kind, vec![full]).expect("a set-up is one in a list");
}

/// `NAME=SPEC`.
pub(crate) fn specs(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data) {
        let schemes = Schemes::with(Vec::new());
        let _ = Entry::read(text, &schemes);
        let _ = Entry::is_spec(text, &schemes);
    }
}

/// An address, as a bot prints it and as it is typed.
pub(crate) fn addresses(data: &[u8]) {
    if let Ok(text) = std::str::from_utf8(data)
        && let Ok(address) = text.parse::<Address>()
    {
        let _ = address.endpoint();
        let again = address.to_string().parse::<Address>();
        again.expect("an address that we wrote reads back");
    }
}

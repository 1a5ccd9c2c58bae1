//! The vocabulary of the tests: an arena, bots by their command line, games, and what must be true
//! of a game that a foul ended.

use std::{fs, path::Path, process::Stdio, sync::Arc, time::Duration};

use arena_proto::arena::v1::{CallEnvelope, Ending, GameOver, call_envelope::Call};
use prost::Message as _;
use referee::{Bot, Launch, Live, Pool, SeatedGame};
use referee_core::{Event, Foul, FoulKind, Limits, PerSeat, Record, Seat, Seed};
use referee_games::{Fixture, foul_kind};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    process::{Child, ChildStdout, Command},
    runtime::Handle,
    sync::{RwLock, RwLockReadGuard, RwLockWriteGuard, mpsc},
};
use villains::Kind;

/// A limit that nobody reaches, however busy the machine is.
pub(crate) const AMPLE: Duration = Duration::from_secs(60);
/// A limit that runs out; an honest bot keeps it on a busy machine as well.
pub(crate) const KEPT: Duration = Duration::from_secs(3);
/// The time after which a test gives up waiting.
const HANGS: Duration = Duration::from_secs(30);

pub(crate) const FIRST: Seat = Seat::new(0);
pub(crate) const SECOND: Seat = Seat::new(1);

/// A pool of threads, and bots that are villains.
pub(crate) struct Arena {
    pub(crate) pool: Pool,
    _turn: Turn,
}

/// The lock for measurements of the whole process: the test that makes them runs alone.
static TURNS: RwLock<()> = RwLock::const_new(());

enum Turn {
    Shared(#[expect(dead_code, reason = "held")] RwLockReadGuard<'static, ()>),
    Alone(#[expect(dead_code, reason = "held")] RwLockWriteGuard<'static, ()>),
}

impl Arena {
    /// While other tests run too.
    pub(crate) async fn new() -> Self {
        Self {
            _turn: Turn::Shared(TURNS.read().await),
            pool: Pool::new(2).unwrap(),
        }
    }

    /// While no other test runs.
    pub(crate) async fn alone(threads: usize) -> Self {
        Self {
            _turn: Turn::Alone(TURNS.write().await),
            pool: Pool::new(threads).unwrap(),
        }
    }

    /// Plays it to its end.
    pub(crate) async fn play(&self, game: SeatedGame) -> Record {
        game.play(&self.pool).await.unwrap()
    }
}

/// For a test that has no arena: while others run too, but for one that is alone.
pub(crate) async fn turn() -> RwLockReadGuard<'static, ()> {
    TURNS.read().await
}

/// The launch of `villain LINE`.
pub(crate) fn launch(line: &str) -> Launch {
    Launch {
        program: env!("CARGO_BIN_EXE_villain").into(),
        arguments: line.split_whitespace().map(Into::into).collect(),
        start_limit: AMPLE,
        ..Launch::default()
    }
}

/// A bot that is started as `villain LINE`.
pub(crate) fn bot(line: &str) -> Arc<Bot> {
    started_as(launch(line))
}

pub(crate) fn started_as(launch: Launch) -> Arc<Bot> {
    Arc::new(Bot::launched(launch, Handle::current()))
}

pub(crate) fn ample() -> Limits {
    Limits {
        start: AMPLE,
        per_move: AMPLE,
        ..Limits::default()
    }
}

/// A game of the standard set-up with ample time.
pub(crate) fn game(seed: u8, first: &Arc<Bot>, second: &Arc<Bot>) -> SeatedGame {
    SeatedGame {
        fixture: Fixture {
            kind: referee_games::game("connect_four").unwrap(),
            game_id: format!("game {seed}"),
            setup: serde_json::Value::Null,
            seed: Seed::new([seed; 32]),
            players: vec!["first".to_owned(), "second".to_owned()].into(),
            limits: ample(),
            spent: PerSeat::default(),
        },
        bots: vec![first.clone(), second.clone()],
        watch: None,
    }
}

/// The same with the villain in this seat and an honest bot in the other.
pub(crate) fn against_honest(seed: u8, villain: &Arc<Bot>, seat: Seat) -> SeatedGame {
    let honest = bot("honest");
    if seat == FIRST {
        game(seed, villain, &honest)
    } else {
        game(seed, &honest, villain)
    }
}

/// The channel of all that can be seen of a game from outside while it goes on.
pub(crate) fn watched(game: &mut SeatedGame) -> mpsc::UnboundedReceiver<Live> {
    let (watch, seen) = mpsc::unbounded_channel();
    game.watch = Some(watch);
    seen
}

/// A villain that loses by one foul, whichever seat it has.
pub(crate) struct Trial {
    launch: Launch,
    /// By which.
    foul: Option<FoulKind>,
    limits: Limits,
    setup: serde_json::Value,
}

impl Trial {
    pub(crate) fn of(line: &str) -> Self {
        Self {
            launch: launch(line),
            foul: kind(line).and_then(Kind::foul),
            limits: ample(),
            setup: serde_json::Value::Null,
        }
    }

    pub(crate) fn per_move(mut self, limit: Duration) -> Self {
        self.limits.per_move = limit;
        self
    }

    pub(crate) fn in_all(mut self, budget: Duration) -> Self {
        self.limits.budget = Some(budget);
        self
    }

    pub(crate) fn ready_within(mut self, limit: Duration) -> Self {
        self.limits.start = limit;
        self
    }

    pub(crate) fn listens_within(mut self, limit: Duration) -> Self {
        self.launch.start_limit = limit;
        self
    }

    pub(crate) fn memory(mut self, limit: u64) -> Self {
        self.launch.memory.limit = Some(limit);
        self
    }

    pub(crate) fn setup(mut self, setup: serde_json::Value) -> Self {
        self.setup = setup;
        self
    }

    pub(crate) fn program(mut self, program: &str) -> Self {
        self.launch.program = program.into();
        self
    }

    /// Started in another way.
    pub(crate) fn launched(mut self, change: impl FnOnce(Launch) -> Launch) -> Self {
        self.launch = change(self.launch);
        self
    }

    /// Not by the foul that the catalogue says, but by this one.
    pub(crate) fn by(mut self, foul: FoulKind) -> Self {
        self.foul = Some(foul);
        self
    }

    /// Plays it in both seats at once; gives the fouls.
    pub(crate) async fn loses(self, evidence: &[&str]) -> [Foul; 2] {
        let foul = self.foul.expect("the catalogue says that it commits one");
        let arena = Arena::new().await;
        let games = [FIRST, SECOND].map(|seat| {
            let villain = started_as(self.launch.clone());
            let mut game = against_honest(7, &villain, seat);
            game.fixture.limits = self.limits;
            game.fixture.setup = self.setup.clone();
            arena.play(game)
        });
        let [first, second] = games;
        let (first, second) = tokio::join!(first, second);
        [(first, FIRST), (second, SECOND)]
            .map(|(played, seat)| lost_by(&played, seat, foul, evidence))
    }
}

/// `villain LINE` loses by the foul that the catalogue says, with this in its
/// evidence.
pub(crate) async fn loses(line: &str, evidence: &[&str]) {
    Trial::of(line).loses(evidence).await;
}

/// The kind that a line begins with.
fn kind(line: &str) -> Option<Kind> {
    let name = line.split_whitespace().next()?;
    Kind::all().iter().copied().find(|kind| kind.name() == name)
}

/// A villain that runs somewhere.
pub(crate) struct Running {
    pub(crate) address: String,
    pub(crate) child: Child,
    /// The output after it has said where it listens.
    pub(crate) output: BufReader<ChildStdout>,
}

pub(crate) async fn running(line: &str, listen: &str) -> Running {
    let mut child = Command::new(env!("CARGO_BIN_EXE_villain"))
        .args(line.split_whitespace())
        .env("BOT_LISTEN", listen)
        .stdout(Stdio::piped())
        .kill_on_drop(true)
        .spawn()
        .unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap());
    let mut said = String::new();
    output.read_line(&mut said).await.unwrap();
    let address = said.trim().strip_prefix("listening on ").unwrap();
    Running {
        address: address.to_owned(),
        child,
        output,
    }
}

/// Checks everything that must be true of a game that this seat has lost by this foul.
pub(crate) fn lost_by(record: &Record, seat: Seat, kind: FoulKind, evidence: &[&str]) -> Foul {
    verified(record);
    let verdict = &record.result.verdict;
    let foul = verdict
        .foul(seat)
        .unwrap_or_else(|| panic!("seat {seat} should lose by {kind:?}: {verdict:?}"));
    assert_eq!(foul.kind(), kind, "{foul}");
    assert_eq!(verdict.foul(seat.other()), None);
    let shown = foul.to_string();
    for words in evidence {
        assert!(shown.contains(words), "\"{words}\" is not in: {shown}");
    }
    let places = &verdict.outcome().unwrap().places;
    assert_eq!((places[seat], places[seat.other()]), (2, 1));

    let at = record
        .events
        .iter()
        .position(|event| matches!(event, Event::Fouled { seat: by, foul: what, .. } if *by == seat && what == foul))
        .expect("the foul is in the record");
    assert!(
        record.events[at + 1..].iter().all(|e| seat_of(e) != seat),
        "the seat that fouled was spoken to"
    );
    let over = goodbye(record, seat.other());
    assert_eq!(over.ending(), Ending::Foul);
    assert_eq!(
        over.results[seat.index()].foul,
        Some(foul_kind(kind).into())
    );
    foul.clone()
}

/// Checks everything that must be true of a game that no foul ended.
pub(crate) fn played_out(record: &Record) {
    verified(record);
    for seat in [FIRST, SECOND] {
        assert_eq!(record.result.verdict.foul(seat), None);
        assert_eq!(goodbye(record, seat).ending(), Ending::Played);
    }
}

/// Checks everything that must be true of every record: it reads back and plays again.
pub(crate) fn verified(record: &Record) {
    let read = Record::parse(&record.to_json_lines()).unwrap();
    assert_eq!(&read, record);
    if let Err(mismatch) = referee_games::replay(&read, |_| {}) {
        panic!("{mismatch}\n{}", record.to_json_lines());
    }
}

fn goodbye(record: &Record, seat: Seat) -> GameOver {
    let last = record.events.iter().rfind(|e| seat_of(e) == seat);
    let Some(Event::Told { call, .. }) = last else {
        panic!("seat {seat} heard last: {last:?}");
    };
    match CallEnvelope::decode(&call[..]).unwrap().call {
        Some(Call::Over(over)) => over,
        call => panic!("seat {seat} was told last: {call:?}"),
    }
}

fn seat_of(event: &Event) -> Seat {
    match event {
        Event::Told { seat, .. }
        | Event::Asked { seat, .. }
        | Event::Answered { seat, .. }
        | Event::Fouled { seat, .. } => *seat,
    }
}

/// Number of points that a seat gave by the rules.
pub(crate) fn points(record: &Record, by: Seat) -> usize {
    let moves = record
        .events
        .iter()
        .filter(|e| matches!(e, Event::Answered { seat, notation: Some(_), .. } if *seat == by));
    moves.count()
}

/// Waits until it holds; fails only where it hangs.
pub(crate) async fn until(what: &str, holds: impl Fn() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    };
    let held = tokio::time::timeout(HANGS, waiting).await;
    assert!(held.is_ok(), "still not: {what}");
}

/// The processes that were started with `--name NAME`.
pub(crate) fn named(name: &str) -> Vec<i32> {
    let wanted = ["--name", name];
    all_processes()
        .into_iter()
        .filter(|id| {
            let line = fs::read_to_string(format!("/proc/{id}/cmdline")).unwrap_or_default();
            let words: Vec<&str> = line.split('\0').collect();
            words.windows(2).any(|pair| pair == wanted)
        })
        .collect()
}

/// The processes that this one has started and not yet reaped.
pub(crate) fn children() -> usize {
    let us = std::process::id().to_string();
    let ours = all_processes().into_iter().filter(|id| {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).unwrap_or_default();
        // The name, in parentheses, may hold anything.
        let after = stat.rsplit_once(')').map_or("", |(_, after)| after);
        after.split_whitespace().nth(1) == Some(&us)
    });
    ours.count()
}

fn all_processes() -> Vec<i32> {
    let entries = fs::read_dir("/proc").unwrap().flatten();
    entries
        .filter_map(|entry| entry.file_name().to_str()?.parse().ok())
        .collect()
}

/// Number of entries in a folder.
pub(crate) fn entries(folder: impl AsRef<Path>) -> usize {
    fs::read_dir(folder).unwrap().count()
}

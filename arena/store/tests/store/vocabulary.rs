//! Helpers of the tests: databases that are thrown away, tournaments and games.

use std::sync::atomic::{AtomicU32, Ordering};

use arena_ladder::{Entrant, MatchId};
use arena_store::{
    ChunkKey, Counter, FinishedGame, GameEnding, GameRow, NewEntrant, NewTournament, Store,
    Tournament, pack_for_store,
};
use referee_core::{Foul, Root, Seat, SeatFoul};
use serde_json::json;
use sqlx::{Connection as _, Executor as _};
use tempfile::TempDir;

/// A test that is a function of a [`Home`], run on SQLite and on PostgreSQL.
macro_rules! on_both {
    ($($name:ident),* $(,)?) => {
        mod on_sqlite {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    super::$name(&crate::vocabulary::Home::sqlite()).await;
                }
            )*
        }

        mod on_postgres {
            $(
                #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
                async fn $name() {
                    let home = crate::vocabulary::Home::postgres().await;
                    super::$name(&home).await;
                    home.clean().await;
                }
            )*
        }
    };
}
pub(crate) use on_both;

/// A database of a test's own.
pub(crate) enum Home {
    File(TempDir),
    Schema { url: String, name: String },
}

impl Home {
    pub(crate) fn sqlite() -> Self {
        Self::File(tempfile::tempdir().expect("a folder"))
    }

    /// A schema of the server that `cargo xtask test` starts.
    pub(crate) async fn postgres() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let url = server();
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("test_{}_{number}", std::process::id());
        run(&url, format!("CREATE SCHEMA {name}")).await;
        Self::Schema { url, name }
    }

    pub(crate) async fn clean(self) {
        if let Self::Schema { url, name } = self {
            run(&url, format!("DROP SCHEMA {name} CASCADE")).await;
        }
    }

    pub(crate) fn url(&self) -> String {
        match self {
            Self::File(folder) => folder.path().join("arena.db").display().to_string(),
            Self::Schema { url, name } => {
                let and = if url.contains('?') { '&' } else { '?' };
                format!("{url}{and}options=-c%20search_path%3D{name}")
            }
        }
    }

    pub(crate) async fn open(&self) -> Store {
        Store::open(&self.url()).await.expect("it opens")
    }

    /// Runs a statement past the store.
    pub(crate) async fn run(&self, statement: &str) {
        let url = match self {
            Self::File(_) => format!("sqlite://{}?mode=rwc", self.url()),
            Self::Schema { .. } => self.url(),
        };
        run(&url, statement.to_owned()).await;
    }
}

/// URL of PostgreSQL. A test that can't find it fails: otherwise nobody would see that half of the
/// tests were not run.
fn server() -> String {
    std::env::var("ARENA_TEST_POSTGRES").expect(
        "these tests need PostgreSQL: `cargo xtask test` starts one for them \
         (Debian: apt-get install postgresql), or set ARENA_TEST_POSTGRES to the URL of a \
         database that they may use; `cargo test -p arena-store -- --skip on_postgres` \
         leaves them out",
    )
}

async fn run(url: &str, statement: String) {
    sqlx::any::install_default_drivers();
    let mut session = sqlx::AnyConnection::connect(url).await.expect("a session");
    session
        .execute(sqlx::raw_sql(sqlx::AssertSqlSafe(statement)))
        .await
        .expect("a statement that the database takes");
    session.close().await.expect("an end in order");
}

pub(crate) fn entrant(name: &str) -> NewEntrant {
    NewEntrant::new(name, format!("house:{name}"))
}

pub(crate) fn new_tournament(name: &str, entrants: u32) -> NewTournament {
    NewTournament {
        name: name.to_owned(),
        game: "bids".to_owned(),
        rules_version: 1,
        definition: json!({"deals": 10}),
        root: Root::new([7; 32]),
        reproduction: false,
        entrants: (0..entrants)
            .map(|number| entrant(&format!("bot{number}")))
            .collect(),
        created_unix_ms: 1_700_000_000_000,
    }
}

pub(crate) async fn tournament(store: &Store, entrants: u32) -> Tournament {
    let new = new_tournament("a tournament", entrants);
    store.create(&new).await.expect("a tournament")
}

pub(crate) fn chunk(first_group: u64, groups: u64) -> ChunkKey {
    ChunkKey {
        matchup: MatchId(0),
        first_group,
        groups,
        seating: None,
    }
}

/// A game of a group of two between entrants 0 and 1. Who wins, by how much, how
/// it went and how long it took differ from game to game.
pub(crate) fn game(group: u64, seating: u32) -> FinishedGame {
    let chance = (group * 2 + u64::from(seating)).wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 40;
    let margin = (chance % 7) as i32 - 3;
    let order = if seating == 0 { vec![0, 1] } else { vec![1, 0] };
    FinishedGame {
        row: GameRow {
            group,
            seating,
            games_in_group: 2,
            matchup: MatchId(0),
            lineup: vec![Some(Entrant::new(0)), Some(Entrant::new(1))],
            order,
            places: match margin.signum() {
                1 => vec![1, 2],
                0 => vec![1, 1],
                _ => vec![2, 1],
            },
            scores: vec![margin, -margin],
            reason: "all bids are made".to_owned(),
            fouls: Vec::new(),
            plies: 10 + (chance % 5) as u32,
            thought_us: vec![chance, 2 * chance],
            course: chance % 97,
            play_hash: format!("{chance:064x}"),
            finished_unix_ms: 1_700_000_000_000 + group.cast_signed(),
            worker: None,
            counters: vec![
                (None, Counter::Ended(GameEnding::Rules), 1),
                (Some(Entrant::new(0)), Counter::Thinking(12), 5),
                // Of another version of the arena.
                (Some(Entrant::new(1)), Counter::Other("moves".to_owned()), 5),
            ],
        },
        chunk: chunk(group, 1),
        attempt: 0,
        record: pack_for_store(&format!("the record of {group}.{seating}\n")),
        withhold: false,
        logs: Vec::new(),
    }
}

/// Both games of some groups.
pub(crate) fn games(groups: impl IntoIterator<Item = u64>) -> Vec<FinishedGame> {
    groups
        .into_iter()
        .flat_map(|group| [game(group, 0), game(group, 1)])
        .collect()
}

pub(crate) fn late(seat: u8) -> SeatFoul {
    SeatFoul {
        seat: Seat::new(seat),
        foul: Foul::Late {
            limit: std::time::Duration::from_secs(3),
        },
    }
}

pub(crate) fn no_start(seat: u8) -> SeatFoul {
    SeatFoul {
        seat: Seat::new(seat),
        foul: Foul::NoStart {
            detail: "it said \"hello\"; it's \0 odd".to_owned(),
        },
    }
}

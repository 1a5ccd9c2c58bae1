//! Many games at once on a machine that has no core to spare.

use std::{
    env,
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use futures_util::future::join_all;

use crate::vocabulary::*;

/// Number of games that are played at once.
const GAMES: u64 = 256;
/// Number of moves that are made at least, if the environment does not say more.
const MOVES: u64 = 100_000;
const LIMIT: Duration = Duration::from_millis(400);

/// Threads that take every core, until this is dropped.
struct Busy(Arc<AtomicBool>);

impl Busy {
    fn on_all_cores() -> Self {
        let over = Arc::new(AtomicBool::new(false));
        for _ in 0..std::thread::available_parallelism().unwrap().get() {
            let over = over.clone();
            std::thread::spawn(move || {
                while !over.load(Ordering::Relaxed) {
                    std::hint::spin_loop();
                }
            });
        }
        Self(over)
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// The bots take a quarter of their time for each answer; the rest is for what a machine
/// does to them and to us.
#[tokio::test]
async fn no_bot_that_is_in_time_loses_on_time() {
    let wanted = env::var("ARENA_TEST_MOVES").map_or(MOVES, |moves| moves.parse().unwrap());
    let arena = Arena::alone(1).await;
    let bots: Vec<_> = (0..4).map(|_| bot("slow --delay 100ms")).collect();
    let _busy = Busy::on_all_cores();
    let (moves, next) = (AtomicU64::new(0), AtomicU64::new(0));
    let players = (0..GAMES).map(|_| async {
        while moves.load(Ordering::Relaxed) < wanted {
            let number = next.fetch_add(1, Ordering::Relaxed) as usize;
            let (first, second) = (&bots[number % 2], &bots[2 + number / 2 % 2]);
            let mut game = game((number % 251) as u8, first, second);
            game.fixture.limits.per_move = LIMIT;
            let record = arena.play(game).await;
            played_out(&record);
            let played = points(&record, FIRST) + points(&record, SECOND);
            moves.fetch_add(played as u64, Ordering::Relaxed);
        }
    });
    join_all(players).await;
    println!(
        "{} moves in {} games",
        moves.load(Ordering::Relaxed),
        next.load(Ordering::Relaxed)
    );
}

/// All of its games on one thread share a connection, and every answer is some frames.
#[tokio::test]
async fn a_fast_bot_with_many_games_is_no_flood() {
    const AT_ONCE: u64 = 128;
    let arena = Arena::alone(1).await;
    let bots = [bot("honest"), bot("honest")];
    let next = AtomicU64::new(0);
    let players = (0..AT_ONCE).map(|_| async {
        while next.fetch_add(1, Ordering::Relaxed) < 10 * AT_ONCE {
            let game = game(7, &bots[0], &bots[1]);
            played_out(&arena.play(game).await);
        }
    });
    join_all(players).await;
}

//! A worker: leases a chunk, plays it, reports.

use std::{
    cell::RefCell,
    collections::BTreeMap,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use arena_ladder::{Entrant, HalfPoints};
use arena_store::{ChunkKey, Counter, Ending, FinishedGame, GameRow, Reported, pack};
use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use indicatif::ProgressBar;
use referee::{Game, PlayError, Played, Pool};
use referee_core::{PerSeat, Record, Root, Seat, SeatFoul, Verdict};
use referee_games::Fixture;
use tokio::sync::Semaphore;

use super::{
    Definition,
    buckets::bucket,
    crew::{Crew, Hands},
    dispatch::{Assigned, Chunk, Dispatch, LEASE, Leased, Work},
    metrics,
};
use crate::{
    setups::Setups,
    stop::Stop,
    tally::{course, moves},
};

/// A chunk should take about so long: long enough that starting processes for it
/// does not matter, short enough that no worker is left with one at the end.
const CHUNK: Duration = Duration::from_secs(3);
/// Results that wait to be stored while others are played, at most.
const UNSTORED: usize = 256;

/// What every worker of this process needs.
pub(crate) struct Workshop<'a> {
    pub(crate) dispatch: &'a Dispatch,
    pub(crate) definition: &'a Definition,
    pub(crate) setups: &'a Setups,
    pub(crate) root: &'a Root,
    pub(crate) crew: &'a Crew,
    pub(crate) pool: &'a Pool,
    pub(crate) stop: &'a Stop,
    /// Told of each game that is stored, without its record.
    pub(crate) tell: Option<&'a dyn Fn(&GameRow)>,
    /// Counts them.
    pub(crate) progress: &'a ProgressBar,
    /// Room to make records of games in: a few threads do that, each of which has
    /// memory of its own.
    pub(crate) packing: Semaphore,
    /// Counters that belong to no game and go with the next one.
    pub(crate) counters: &'a Counters,
}

/// Counters that wait for a game to be stored with.
#[derive(Default)]
pub(crate) struct Counters(std::sync::Mutex<BTreeMap<Counter, i64>>);

impl Counters {
    /// Adds one to a counter.
    pub(crate) fn count(&self, counter: Counter) {
        *self.lock().entry(counter).or_default() += 1;
    }

    fn take(&self) -> BTreeMap<Counter, i64> {
        std::mem::take(&mut *self.lock())
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, BTreeMap<Counter, i64>> {
        self.0
            .lock()
            .unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Workshop<'_> {
    /// Works until nothing is left or it is asked to stop, with so many games at
    /// once.
    ///
    /// # Errors
    ///
    /// Only for our own failures.
    pub(crate) async fn work(&self, name: &str, at_once: usize) -> anyhow::Result<()> {
        // What a game takes, as far as has been seen.
        let mut a_game = CHUNK;
        loop {
            if self.stop.is_asked() {
                return Ok(());
            }
            let changed = self.dispatch.changed();
            let mut changed = std::pin::pin!(changed);
            // So that what changes from here on is not missed.
            changed.as_mut().enable();
            let at_once_u64 = at_once as u64;
            let fit = (CHUNK.as_secs_f64() / a_game.as_secs_f64().max(1e-6)) as u64;
            let games = fit.clamp(1, 4096).saturating_mul(at_once_u64);
            match self.dispatch.lease(name, games).await? {
                Work::Over => return Ok(()),
                Work::Wait => {
                    tokio::select! {
                        () = changed => {}
                        () = self.stop.asked() => return Ok(()),
                        // Somebody else's lease may have run out.
                        () = tokio::time::sleep(LEASE / 4) => {}
                    }
                }
                Work::Chunk(leased) => {
                    metrics::waited(leased.waited);
                    let waited = bucket(leased.waited.as_micros() as u64);
                    self.counters.count(Counter::QueueWait(waited));
                    let began = Instant::now();
                    let played = self.play(&leased, at_once).await?;
                    if played > 0 {
                        let parallel = at_once.min(leased.chunk.games.len()) as f64;
                        let took = began.elapsed().mul_f64(parallel / f64::from(played));
                        a_game = (a_game + took) / 2;
                    }
                }
            }
        }
    }

    /// Plays a chunk and says how many of its games were played.
    async fn play(&self, leased: &Leased, at_once: usize) -> anyhow::Result<u32> {
        let chunk = &leased.chunk;
        let hands = self.crew.hire(&chunk.lineup)?;
        let unplayed = RefCell::new(Vec::new());
        let played = {
            let games = stream::iter(&chunk.games)
                .map(|game| self.play_one(game, chunk, &hands, &unplayed))
                .buffer_unordered(at_once.max(1))
                // Storing goes on beside playing.
                .map(|played| self.store(played, leased))
                .buffer_unordered(UNSTORED);
            let counting = games.try_fold(0, async |count, stored| Ok(count + u32::from(stored)));
            // Beside the games, which nothing must keep waiting.
            tokio::select! {
                played = counting => played,
                never = self.keep(leased) => never,
            }
        };
        self.crew.let_go(hands).await;
        self.dispatch.give_back(leased, unplayed.into_inner()).await;
        played
    }

    /// Renews a lease for as long as it is waited for.
    async fn keep<T>(&self, leased: &Leased) -> T {
        loop {
            tokio::time::sleep(LEASE / 4).await;
            let chunk = &leased.chunk.key;
            match self.dispatch.renew(leased).await {
                Ok(true) => {}
                Ok(false) => tracing::warn!(?chunk, "another worker has this chunk now"),
                // It may work the next time.
                Err(error) => tracing::warn!(?chunk, %error, "a lease could not be renewed"),
            }
        }
    }

    /// Plays one game, if it is still wanted.
    async fn play_one<'g>(
        &self,
        game: &'g Assigned,
        chunk: &Chunk,
        hands: &Hands,
        unplayed: &RefCell<Vec<Assigned>>,
    ) -> anyhow::Result<Option<(&'g Assigned, Played)>> {
        if self.stop.is_asked() {
            unplayed.borrow_mut().push(game.clone());
            return Ok(None);
        }
        let group = &game.group;
        if self.dispatch.in_vain(group.number, &chunk.lineup) {
            return Ok(None);
        }
        let _running = metrics::running();
        let playing = self.game(game, hands).play(self.pool);
        let played = tokio::select! {
            played = playing => played,
            // Dropping it cuts it off. What has ended is still stored and told.
            () = self.stop.cut_off() => return Ok(None),
        };
        match played {
            Ok(played) => Ok(Some((game, played))),
            Err(error @ (PlayError::Setup(_) | PlayError::CutOff(_))) => {
                Err(error).context(game.id())
            }
        }
    }

    /// Stores a game, and says whether there was one.
    async fn store(
        &self,
        played: anyhow::Result<Option<(&Assigned, Played)>>,
        leased: &Leased,
    ) -> anyhow::Result<bool> {
        let Some((game, played)) = played? else {
            return Ok(false);
        };
        let packing = self.packing.acquire().await?;
        let (of, key, attempt) = (game.clone(), leased.chunk.key, leased.attempt);
        let packed = tokio::task::spawn_blocking(move || finished(of, key, attempt, &played));
        let mut finished = packed.await?;
        drop(packing);
        for (counter, count) in self.counters.take() {
            finished.row.counters.push((None, counter, count));
        }
        let told = self.tell.map(|tell| (tell, finished.row.clone()));
        let reported = self.dispatch.report(finished).await?;
        tracing::debug!(game = game.id(), ?reported, "a game is stored");
        if reported == Reported::Accepted {
            self.progress.inc(1);
            if let Some((tell, game)) = told {
                tell(&game);
            }
        }
        Ok(true)
    }

    fn game(&self, game: &Assigned, hands: &Hands) -> Game {
        let Ok(kind) = self.definition.kind() else {
            unreachable!("a definition is looked at before it is played")
        };
        let players: Vec<String> = game
            .order
            .iter()
            .map(|&place| hands.names[place].clone())
            .collect();
        Game {
            fixture: Fixture {
                kind,
                game_id: game.id(),
                setup: self.setups.of(game.group.at).clone(),
                seed: self.root.seed(kind.info().name, game.group.number),
                players: PerSeat::from(players),
                limits: self.definition.limits,
                spent: PerSeat::default(),
            },
            bots: game
                .order
                .iter()
                .map(|&place| hands.bots[place].clone())
                .collect(),
            watch: None,
        }
    }
}

impl Assigned {
    /// Names the game within its tournament, and says nothing of the deal.
    pub(crate) fn id(&self) -> String {
        game_id(self.group.matchup.0, self.group.at, self.seating)
    }
}

/// The name of a game within its tournament.
pub(crate) fn game_id(matchup: u32, at: u64, seating: u32) -> String {
    format!("match-{matchup:04}-deal-{at:04}-game-{seating}")
}

/// What is counted of a game beside its result: answers by the time they took,
/// fouls, seats, and how it ended. `who` says who sat in a seat.
pub(super) fn counted(
    record: &Record,
    who: impl Fn(usize) -> Option<Entrant>,
) -> BTreeMap<(Option<Entrant>, Counter), i64> {
    let mut counted = BTreeMap::new();
    for (seat, _, thought) in moves(record) {
        if let Some(entrant) = who(seat.index()) {
            let bucket = bucket(thought.as_micros() as u64);
            *counted
                .entry((Some(entrant), Counter::Thinking(bucket)))
                .or_default() += 1;
        }
    }
    let (places, fouls): (&[u8], &[SeatFoul]) = match &record.result.verdict {
        Verdict::Finished { outcome, fouls } => (outcome.places.as_slice(), fouls),
        Verdict::Void { .. } => (&[], &[]),
    };
    for foul in fouls {
        let counter = Counter::Foul(foul.foul.kind());
        *counted
            .entry((who(foul.seat.index()), counter))
            .or_default() += 1;
    }
    for (seat, points) in (0..).map(Seat::new).zip(HalfPoints::of_places(places)) {
        counted.insert((None, Counter::HalfPoints(seat)), points.0.into());
        if let Some(entrant) = who(seat.index()) {
            counted.insert((Some(entrant), Counter::Seat(seat)), 1);
        }
    }
    let draw = places.iter().filter(|&&place| place == 1).count() > 1;
    let ended = match fouls.first() {
        Some(foul) => Ending::Foul(foul.foul.kind()),
        None if draw => Ending::Draw,
        None => Ending::Rules,
    };
    counted.insert((None, Counter::Ended(ended)), 1);
    counted
}

/// What the store is told of a game.
fn finished(game: Assigned, chunk: ChunkKey, attempt: u32, played: &Played) -> FinishedGame {
    let record = &played.record;
    let who = |seat: usize| -> Option<Entrant> { game.group.lineup[game.order[seat]] };
    let players = record.header.players.as_slice();
    let asks: Vec<_> = players.iter().map(|name| metrics::asks(name)).collect();
    let mut plies = 0;
    for (seat, _, thought) in moves(record) {
        plies += 1;
        if who(seat.index()).is_some() {
            asks[seat.index()].record(thought);
        }
    }
    let (places, scores, reason, fouls) = match &record.result.verdict {
        Verdict::Finished { outcome, fouls } => (
            outcome.places.as_slice().to_vec(),
            outcome.scores.as_slice().to_vec(),
            outcome.reason.clone(),
            fouls.clone(),
        ),
        // A referee that plays void games again never declares one.
        Verdict::Void { reason } => (Vec::new(), Vec::new(), reason.clone(), Vec::new()),
    };
    let mut counted = counted(record, who);
    for (_, counter) in counted.keys() {
        if let Counter::Ended(ending) = counter {
            metrics::ended(&record.header.game, &ending.to_string());
        }
    }
    if played.voided > 0 {
        metrics::voided(played.voided);
        counted.insert((None, Counter::Voided), played.voided.into());
    }
    let (text, play_hash) = record.sealed();
    FinishedGame {
        attempt,
        chunk,
        record: pack(&text),
        row: GameRow {
            group: game.group.number,
            seating: game.seating,
            games_in_group: game.of,
            matchup: game.group.matchup,
            places,
            scores,
            reason,
            fouls,
            plies,
            thought_us: record.result.thought_us.as_slice().to_vec(),
            course: course(record),
            play_hash,
            voided: played.voided,
            finished_unix_ms: super::unix_ms(),
            counters: counted
                .into_iter()
                .map(|((who, counter), count)| (who, counter, count))
                .collect(),
            lineup: game.group.lineup,
            order: game.order,
        },
    }
}

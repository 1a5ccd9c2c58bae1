//! The state of the tournaments that are played in this process, as it is heard: how far they are,
//! and the moves of some of their games, where nothing is secret.

use std::{
    collections::BTreeMap,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arena_ladder::Group;
use arena_tournament::{Observer, Plan, RunEvent};
use parking_lot::Mutex;
use referee::Live;
use referee_core::{GameKind, Limits, PerSeat, Scene, Seat, SeatFoul, Words};
use referee_games::{Fixture, Judgement, Next, SeatReply, Sitting, answer, ready};
use referee_worker::lease::{GameKey, LiveUpdate};
use tokio::sync::watch;

/// Of so many games of a tournament the moves are kept while they are played.
const MOST_GAMES: usize = 64;
/// The time for which a game that is over can still be seen as it ended.
const LINGER: Duration = Duration::from_secs(20);
/// A game without a word for so long is played no more: its worker is lost.
const SILENT: Duration = Duration::from_secs(15 * 60);

/// The state of tournaments as it is heard. It is shared between their observers and the page.
#[derive(Default)]
pub struct Hub {
    tournaments: Mutex<BTreeMap<String, LiveTournament>>,
    changed: watch::Sender<u64>,
    is_watched: Arc<AtomicBool>,
}

struct LiveTournament {
    kind: &'static dyn GameKind,
    limits: Limits,
    /// Groups that are complete, and all of them where there is an end.
    done: u64,
    planned: Option<u64>,
    games_in_group: u64,
    /// Games since it began here.
    games: u64,
    since: Instant,
    live: BTreeMap<GameKey, MirroredGame>,
}

#[derive(Clone)]
struct MirroredGame {
    /// The game's beginning. It is kept here and never told.
    fixture: Arc<Fixture>,
    moves: Vec<LiveMove>,
    began: Instant,
    heard: Instant,
    /// Of a game that is over its reason, as a record has it, and its fouls.
    ended: Option<(String, Vec<SeatFoul>)>,
}

/// A move of a game that is being played.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct LiveMove {
    pub(crate) seat: Seat,
    pub(crate) notation: String,
    pub(crate) thought: Duration,
}

/// A game whose moves are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct HeardGame {
    pub(crate) tournament: String,
    pub(crate) key: GameKey,
    pub(crate) is_over: bool,
}

/// The progress of a tournament.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TournamentProgress {
    pub(crate) tournament: String,
    pub(crate) game: &'static str,
    pub(crate) done: u64,
    pub(crate) planned: Option<u64>,
    pub(crate) games_in_group: u64,
    pub(crate) games_a_minute: u64,
}

/// Hears of one tournament.
pub struct HubObserver {
    hub: Arc<Hub>,
    name: String,
    plan: Arc<Plan>,
}

impl Hub {
    /// A flag that is true if somebody follows what is played. It changes with who looks.
    #[must_use]
    pub fn is_watched(&self) -> Arc<AtomicBool> {
        self.is_watched.clone()
    }

    pub(crate) fn set_watched(&self, is_watched: bool) {
        self.is_watched.store(is_watched, Ordering::Relaxed);
    }

    /// The observer that hears of a tournament that begins, or goes on.
    #[must_use]
    pub fn observer(self: &Arc<Self>, name: &str, plan: &Arc<Plan>) -> HubObserver {
        HubObserver {
            hub: self.clone(),
            name: name.to_owned(),
            plan: plan.clone(),
        }
    }

    /// A number that grows with all that is heard.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changed.subscribe()
    }

    fn bump(&self) {
        self.changed.send_modify(|number| *number += 1);
    }

    /// The tournaments that are played here.
    pub(crate) fn progress(&self) -> Vec<TournamentProgress> {
        let running = self.tournaments.lock();
        let running = running.iter().map(|(name, live)| TournamentProgress {
            tournament: name.clone(),
            game: live.kind.info().name,
            done: live.done,
            planned: live.planned,
            games_in_group: live.games_in_group,
            games_a_minute: {
                let seconds = live.since.elapsed().as_secs_f64().max(1.0);
                (live.games as f64 * 60.0 / seconds) as u64
            },
        });
        running.collect()
    }

    /// The games whose moves are known, those that have been played longest first, and after them those
    /// that are over: at most so many.
    pub(crate) fn live_games(&self, tournament: Option<&str>, most: usize) -> Vec<HeardGame> {
        let running = self.tournaments.lock();
        let mut games: Vec<_> = (running.iter())
            .filter(|(name, _)| tournament.is_none_or(|wanted| *name == wanted))
            .flat_map(|(name, live)| {
                let games = live.live.iter();
                let games = games.filter(|(_, game)| game.heard.elapsed() < SILENT);
                games.map(move |(key, game)| (game.ended.is_some(), game.began, name, *key))
            })
            .collect();
        games.sort();
        games.truncate(most);
        games
            .into_iter()
            .map(|(is_over, _, tournament, key)| HeardGame {
                tournament: tournament.clone(),
                key,
                is_over,
            })
            .collect()
    }

    /// A game as it stands; none where its moves are not known. It is dealt and played again without
    /// the lock, for which games wait.
    pub(crate) fn mirror(&self, tournament: &str, key: GameKey) -> Option<Mirror> {
        let (fixture, began) = {
            let running = self.tournaments.lock();
            let game = running.get(tournament)?.live.get(&key)?;
            (game.fixture.clone(), game.began)
        };
        let mut mirror = Mirror {
            players: fixture.players.as_slice().to_vec(),
            sitting: Sitting::new((*fixture).clone()).ok()?,
            fixture,
            began,
            moves: Vec::new(),
            ended: None,
        };
        mirror.catch_up(self, tournament, key).then_some(mirror)
    }
}

impl LiveTournament {
    fn hear(&mut self, plan: &Plan, group: &Group, update: &LiveUpdate) {
        let now = Instant::now();
        match &update.live {
            Live::Started => {
                self.make_room();
                if self.live.len() >= MOST_GAMES && !self.live.contains_key(&update.key) {
                    return;
                }
                let (setup, seed) = plan.deal(group);
                let fixture = Fixture {
                    kind: self.kind,
                    game_id: update.game_id.clone(),
                    setup,
                    seed,
                    players: update.players.clone().into(),
                    limits: self.limits,
                    spent: PerSeat::default(),
                };
                let game = MirroredGame {
                    fixture: Arc::new(fixture),
                    moves: Vec::new(),
                    began: now,
                    heard: now,
                    ended: None,
                };
                self.live.insert(update.key, game);
            }
            Live::Played {
                seat,
                notation,
                thought,
                ..
            } => {
                if let Some(game) = self.live.get_mut(&update.key) {
                    game.heard = now;
                    game.moves.push(LiveMove {
                        seat: *seat,
                        notation: notation.clone(),
                        thought: *thought,
                    });
                }
            }
        }
    }

    /// Forgets games that are over, the first ones first, where there are too many.
    fn make_room(&mut self) {
        self.live.retain(|_, game| {
            let lingers = game.ended.is_none() || game.heard.elapsed() < LINGER;
            lingers && game.heard.elapsed() < SILENT
        });
        if self.live.len() >= MOST_GAMES {
            let over = self.live.iter().filter(|(_, game)| game.ended.is_some());
            let first = over.min_by_key(|(_, game)| game.heard).map(|(key, _)| *key);
            first.map(|key| self.live.remove(&key));
        }
    }
}

impl Observer for HubObserver {
    fn event(&self, event: RunEvent<'_>) {
        let mut running = self.hub.tournaments.lock();
        match event {
            RunEvent::Begun {
                done,
                planned,
                games_in_group,
            } => {
                let live = LiveTournament {
                    kind: self.plan.kind,
                    limits: self.plan.definition.limits,
                    done,
                    planned,
                    games_in_group,
                    games: 0,
                    since: Instant::now(),
                    live: BTreeMap::new(),
                };
                running.insert(self.name.clone(), live);
            }
            RunEvent::Counted => {
                let Some(live) = running.get_mut(&self.name) else {
                    return;
                };
                live.games += 1;
                if live.games.is_multiple_of(live.games_in_group.max(1)) {
                    live.done += 1;
                }
            }
            RunEvent::Game(ended) => {
                let Some(live) = running.get_mut(&self.name) else {
                    return;
                };
                let key = GameKey {
                    group: ended.row.group,
                    seating: ended.row.seating,
                };
                if let Some(game) = live.live.get_mut(&key) {
                    game.heard = Instant::now();
                    game.ended = Some((ended.row.reason.clone(), ended.row.fouls.clone()));
                }
            }
            RunEvent::Live { group, update } => {
                let Some(live) = running.get_mut(&self.name) else {
                    return;
                };
                live.hear(&self.plan, group, update);
            }
            _ => return,
        }
        drop(running);
        self.hub.bump();
    }
}

impl Drop for HubObserver {
    /// It is played here no more.
    fn drop(&mut self) {
        self.hub.tournaments.lock().remove(&self.name);
        self.hub.bump();
    }
}

/// A game that is being played elsewhere, played again from what is heard of it.
pub(crate) struct Mirror {
    fixture: Arc<Fixture>,
    pub(crate) players: Vec<String>,
    sitting: Sitting,
    began: Instant,
    pub(crate) moves: Vec<LiveMove>,
    /// The reason why it ended.
    pub(crate) ended: Option<Words>,
}

impl Mirror {
    pub(crate) fn kind(&self) -> &'static dyn GameKind {
        self.fixture.kind
    }

    /// Takes what has come since. False where the game is known no more, or began anew.
    pub(crate) fn catch_up(&mut self, hub: &Hub, tournament: &str, key: GameKey) -> bool {
        let (heard, ended) = {
            let running = hub.tournaments.lock();
            let game = running.get(tournament).and_then(|live| live.live.get(&key));
            let Some(game) = game.filter(|game| game.began == self.began) else {
                return false;
            };
            let heard = &game.moves[self.moves.len().min(game.moves.len())..];
            (heard.to_vec(), game.ended.clone())
        };
        for one in heard {
            if !self.play(&one) {
                return false;
            }
            self.moves.push(one);
        }
        if let (None, Some((reason, fouls))) = (&self.ended, ended) {
            let ending = self.ending(&fouls);
            let unknown = || Words::new(referee_core::printable(&reason), "对局结束");
            self.ended = Some(ending.unwrap_or_else(unknown));
        }
        true
    }

    /// The reason why it ends after the moves that were heard and these fouls, which are no moves.
    /// None where a move was not heard.
    fn ending(&self, fouls: &[SeatFoul]) -> Option<Words> {
        let mut sitting = self.sitting.fork();
        loop {
            let questions = match sitting.advance() {
                Next::Tell(_) => continue,
                Next::Over(_) => return sitting.ending().cloned(),
                Next::Ask(questions) => questions,
            };
            for question in questions {
                let foul = fouls.iter().find(|foul| foul.seat == question.seat);
                let reply = match foul {
                    Some(foul) => SeatReply::Foul(foul.foul.clone()),
                    None if question.number == 0 => SeatReply::Answer(ready()),
                    None => return None,
                };
                sitting.hear(question.seat, reply, Duration::ZERO);
            }
        }
    }

    /// The table, as everybody sees it: these games have no secrets.
    pub(crate) fn scene(&self) -> Scene {
        self.sitting.scene()
    }

    fn play(&mut self, one: &LiveMove) -> bool {
        loop {
            match self.sitting.advance() {
                Next::Tell(_) => {}
                Next::Over(_) => return false,
                Next::Ask(questions) => {
                    let mut is_played = false;
                    for question in questions {
                        let seat = question.seat;
                        if question.number == 0 {
                            let heard = SeatReply::Answer(ready());
                            self.sitting.hear(seat, heard, Duration::ZERO);
                            continue;
                        }
                        let legal = self.sitting.legal(seat);
                        let meant = legal.iter().find(|(notation, _)| *notation == one.notation);
                        let (Some((_, own)), true) = (meant, seat == one.seat) else {
                            return false;
                        };
                        let heard = SeatReply::Answer(answer(question.number, own));
                        let judged = self.sitting.hear(seat, heard, Duration::ZERO);
                        is_played = matches!(judged, Judgement::Accepted { .. });
                    }
                    if is_played {
                        return true;
                    }
                }
            }
        }
    }
}

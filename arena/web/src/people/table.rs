//! One game of people: a task that owns it, hears what people do, and shows it.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant},
};

use arena_play::{HintError, NotTakenBack, PeopleGame, PlayedMove, Slip, Turn};
use referee_core::{GameKind, Record, Scene, Seat};
use tokio::sync::{mpsc, oneshot, watch};
use tokio_util::sync::CancellationToken;

use super::{
    People,
    kept::{self, Chair, KeptGame},
    seating,
};
use crate::{caller::Browser, evaluation::Expected};

/// So many things people do may wait while bots think.
const WAITING: usize = 16;
/// How long a game that is over is still shown as a table.
const LINGER: Duration = Duration::from_secs(10 * 60);

/// What a person does.
pub(super) enum Act {
    /// A move as they write it.
    Move(String),
    Back,
    Resign,
    Hint,
    Evaluate,
}

/// Why nothing came of it.
#[derive(Debug)]
pub(super) enum Refused {
    Slip(Slip),
    NotTakenBack(NotTakenBack),
    NoHint(HintError),
    /// No deal was found that agrees with what they know.
    NoEvaluation,
    /// It is not their turn, or the game is over.
    NotAsked,
    /// The game has gone on since they looked.
    GoneOn,
}

/// What a person is told.
#[derive(Debug)]
pub(super) enum Done {
    /// It is done; the table shows it.
    Shown,
    /// A bot's move.
    Hint { bot: String, notation: String },
}

struct Command {
    seat: Seat,
    /// What they looked at when they did it.
    version: Option<u64>,
    act: Act,
    reply: oneshot::Sender<Result<Done, Refused>>,
}

/// The game as it stands. Whoever looks is shown what their seat knows and nothing else.
#[derive(Clone)]
pub(super) struct View {
    /// Grows with every change.
    pub(super) version: u64,
    /// Of each person what they see.
    pub(super) seats: HashMap<Seat, SeatView>,
    /// Who is asked.
    pub(super) turn: Vec<Seat>,
    /// When the time of those who are asked is up.
    pub(super) seconds_left: Option<u64>,
    pub(super) record: Option<Arc<Record>>,
    /// Why it can't go on.
    pub(super) failed: Option<String>,
}

/// What one seat sees.
#[derive(Clone, PartialEq, Eq)]
pub(super) struct SeatView {
    pub(super) scene: Scene,
    pub(super) moves: Vec<PlayedMove>,
    pub(super) legal: Vec<String>,
}

/// A game, for those who look at it and do something.
pub(crate) struct Table {
    id: String,
    pub(super) kind: &'static dyn GameKind,
    pub(super) names: Vec<String>,
    chairs: Mutex<Vec<Chair>>,
    commands: mpsc::Sender<Command>,
    view: watch::Receiver<Arc<View>>,
    /// Grows with everything that those who look may see.
    changes: watch::Sender<u64>,
    /// Of each browser how many of its pages are open, and when one was last.
    present: Mutex<HashMap<Browser, (usize, Instant)>>,
    began: Instant,
    /// What people who asked for it can expect, each with the version of the view that it is of.
    evaluations: Mutex<HashMap<Seat, (u64, Expected)>>,
    /// Who looks where several people share a screen and their hands are secret.
    looks: Mutex<Option<Seat>>,
    is_over: AtomicBool,
    over_at: Mutex<Option<Instant>>,
    stop: CancellationToken,
    ended: CancellationToken,
    kept: Mutex<KeptGame>,
    people: Arc<People>,
}

/// A page of a browser is open as long as this is there.
pub(super) struct Presence {
    table: Arc<Table>,
    browser: Browser,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Table {
    /// Begins it, or goes on with it.
    pub(super) fn start(
        people: Arc<People>,
        kind: &'static dyn GameKind,
        kept: KeptGame,
    ) -> Arc<Self> {
        let (commands, heard) = mpsc::channel(WAITING);
        let (shows, view) = watch::channel(Arc::new(View {
            version: 0,
            seats: HashMap::new(),
            turn: Vec::new(),
            seconds_left: None,
            record: None,
            failed: None,
        }));
        let table = Arc::new(Self {
            id: kept.id.clone(),
            kind,
            names: kept.names.clone(),
            chairs: Mutex::new(kept.chairs.clone()),
            commands,
            view,
            changes: watch::Sender::new(0),
            present: Mutex::default(),
            began: Instant::now(),
            evaluations: Mutex::default(),
            looks: Mutex::default(),
            is_over: AtomicBool::new(false),
            over_at: Mutex::default(),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            kept: Mutex::new(kept),
            people,
        });
        tokio::spawn(table.clone().run(heard, shows));
        table
    }

    pub(super) fn id(&self) -> &str {
        &self.id
    }

    pub(super) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// Whether it has been over for long.
    pub(super) fn is_forgotten(&self) -> bool {
        lock(&self.over_at).is_some_and(|at| at.elapsed() > LINGER)
    }

    pub(super) fn chairs(&self) -> Vec<Chair> {
        lock(&self.chairs).clone()
    }

    /// A number that grows with everything that those who look may see.
    pub(super) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn change(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    pub(super) fn view(&self) -> Arc<View> {
        self.view.borrow().clone()
    }

    /// The seats of a browser.
    pub(super) fn seats_of(&self, browser: Option<&Browser>) -> Vec<Seat> {
        let chairs = lock(&self.chairs);
        let chairs = chairs.iter().enumerate();
        let own = chairs.filter(|(_, chair)| browser.is_some_and(|browser| chair.is_of(browser)));
        own.map(|(seat, _)| Seat::new(seat as u8)).collect()
    }

    /// Takes a seat that nobody has. False where there is none.
    pub(super) fn join(&self, browser: &Browser) -> bool {
        let mut chairs = lock(&self.chairs);
        let Some(free) = chairs.iter_mut().find(|chair| chair.is_free()) else {
            return false;
        };
        *free = Chair::Person {
            browser: Some(browser.clone()),
        };
        lock(&self.kept).chairs.clone_from(&chairs);
        drop(chairs);
        self.keep();
        self.touch(browser);
        self.change();
        true
    }

    /// Whom a browser with these seats is shown as: the one who is asked, where they can be.
    pub(super) fn shown_as(&self, own: &[Seat], view: &View) -> Option<Seat> {
        match own {
            [] => None,
            [one] => Some(*one),
            _ if self.kind.has_secrets() && view.record.is_none() => {
                let looks = *lock(&self.looks);
                looks.filter(|seat| view.turn.contains(seat))
            }
            _ => {
                let asked = own.iter().find(|seat| view.turn.contains(seat));
                asked.or(own.first()).copied()
            }
        }
    }

    /// What a seat can expect of the table as this view shows it, where it has asked.
    pub(super) fn evaluation(&self, seat: Seat, view: &View) -> Option<Expected> {
        let evaluations = lock(&self.evaluations);
        let (version, expects) = evaluations.get(&seat)?;
        (*version == view.version).then(|| expects.clone())
    }

    /// Somebody sits down at a screen that several share.
    pub(super) fn sit_down(&self, seat: Seat) {
        *lock(&self.looks) = Some(seat);
        self.change();
    }

    /// A person does something.
    pub(super) async fn act(
        &self,
        seat: Seat,
        version: Option<u64>,
        act: Act,
    ) -> Result<Done, Refused> {
        let (reply, answer) = oneshot::channel();
        let command = Command {
            seat,
            version,
            act,
            reply,
        };
        let sent = self.commands.send(command).await;
        sent.map_err(|_| Refused::NotAsked)?;
        answer.await.map_err(|_| Refused::NotAsked)?
    }

    /// A page of this browser is open.
    pub(super) fn present(self: &Arc<Self>, browser: &Browser) -> Presence {
        let mut present = lock(&self.present);
        let entry = present
            .entry(browser.clone())
            .or_insert((0, Instant::now()));
        *entry = (entry.0 + 1, Instant::now());
        Presence {
            table: self.clone(),
            browser: browser.clone(),
        }
    }

    /// A browser has just been here.
    pub(super) fn touch(&self, browser: &Browser) {
        let mut present = lock(&self.present);
        present
            .entry(browser.clone())
            .or_insert((0, Instant::now()))
            .1 = Instant::now();
    }

    /// Those who are asked and have been away for too long resign.
    pub(super) fn resign_who_is_away(self: &Arc<Self>, grace: Duration) {
        if self.is_over() {
            return;
        }
        let turn = self.view().turn.clone();
        let chairs = self.chairs();
        for seat in turn {
            let Chair::Person { browser } = &chairs[seat.index()] else {
                continue;
            };
            let seen = browser.as_ref().and_then(|browser| {
                let present = lock(&self.present);
                present.get(browser).copied()
            });
            let is_away = match seen {
                Some((open, _)) if open > 0 => false,
                Some((_, at)) => at.elapsed() > grace,
                None => self.began.elapsed() > grace,
            };
            if is_away {
                let table = self.clone();
                tokio::spawn(async move { table.act(seat, None, Act::Resign).await });
            }
        }
    }

    pub(super) fn stop(&self) {
        self.stop.cancel();
    }

    pub(super) async fn stopped(&self) {
        self.ended.cancelled().await;
    }

    /// Keeps it as it stands. It goes on where it can't be kept.
    fn keep(&self) {
        let kept = lock(&self.kept).clone();
        if let Err(error) = kept::write(&self.people.options.folder, &kept) {
            tracing::error!(id = self.id, %error, "a game of people can't be kept");
        }
    }

    async fn run(
        self: Arc<Self>,
        mut heard: mpsc::Receiver<Command>,
        shows: watch::Sender<Arc<View>>,
    ) {
        let kept = lock(&self.kept).clone();
        let played = async {
            let seating =
                seating(&self.people, self.kind, &kept).map_err(|error| error.to_string())?;
            let context = &self.people.options.context;
            let resumed = PeopleGame::resume(seating, kept.answers.clone(), context);
            resumed.await.map_err(|error| error.to_string())
        };
        match played.await {
            Ok(mut game) => {
                tokio::select! {
                    () = self.stop.cancelled() => {}
                    () = self.play(&mut game, &mut heard, &shows) => {}
                }
                game.end().await;
            }
            Err(failed) => {
                tracing::warn!(id = self.id, failed, "a game of people can't be played");
                let folder = &self.people.options.folder;
                if let Err(error) = kept::remove(folder, &self.id) {
                    tracing::error!(id = self.id, %error, "it can't be removed");
                }
                shows.send_modify(|view| Arc::make_mut(view).failed = Some(failed));
                self.over();
            }
        }
        self.ended.cancel();
    }

    fn over(&self) {
        *lock(&self.over_at) = Some(Instant::now());
        self.is_over.store(true, Ordering::Release);
        self.change();
    }

    async fn play(
        self: &Arc<Self>,
        game: &mut PeopleGame,
        heard: &mut mpsc::Receiver<Command>,
        shows: &watch::Sender<Arc<View>>,
    ) {
        loop {
            let turn = game.step().await;
            match turn {
                None => {
                    self.show(game, &[], shows);
                    // Those who look and those who do something have their turn too.
                    tokio::task::yield_now().await;
                }
                Some(Turn::Over) => {
                    self.save(game);
                    self.show(game, &[], shows);
                    self.finish(game);
                    return;
                }
                Some(Turn::People(seats)) => {
                    self.save(game);
                    self.show(game, &seats, shows);
                    self.hear_people(game, heard, shows).await;
                }
            }
        }
    }

    /// Hears what people do until the game can go on.
    async fn hear_people(
        self: &Arc<Self>,
        game: &mut PeopleGame,
        heard: &mut mpsc::Receiver<Command>,
        shows: &watch::Sender<Arc<View>>,
    ) {
        let until = game.deadline();
        let time_is_up = async {
            match until {
                Some(at) => tokio::time::sleep_until(at.into()).await,
                None => std::future::pending().await,
            }
        };
        tokio::select! {
            () = time_is_up => game.time_is_up(),
            command = heard.recv() => {
                let Some(command) = command else {
                    return std::future::pending().await;
                };
                self.hear(game, command, shows).await;
            }
        }
    }

    async fn hear(
        self: &Arc<Self>,
        game: &mut PeopleGame,
        command: Command,
        shows: &watch::Sender<Arc<View>>,
    ) {
        let Command {
            seat,
            version,
            act,
            reply,
        } = command;
        let now = shows.borrow().version;
        if version.is_some_and(|version| version != now) {
            let _ = reply.send(Err(Refused::GoneOn));
            return;
        }
        let is_asked = shows.borrow().turn.contains(&seat);
        let answer = match act {
            Act::Move(_) | Act::Hint | Act::Evaluate | Act::Resign if !is_asked => {
                Err(Refused::NotAsked)
            }
            Act::Move(written) => match game.move_as_written(seat, &written) {
                Ok(_) => {
                    *lock(&self.looks) = None;
                    Ok(Done::Shown)
                }
                Err(slip) => Err(Refused::Slip(slip)),
            },
            Act::Resign => {
                game.resign(seat);
                *lock(&self.looks) = None;
                Ok(Done::Shown)
            }
            Act::Back => match game.take_back(seat).await {
                Ok(()) => {
                    *lock(&self.looks) = None;
                    Ok(Done::Shown)
                }
                Err(why) => Err(Refused::NotTakenBack(why)),
            },
            Act::Evaluate => {
                let question = game.evaluation(seat);
                let table = self.clone();
                let analyst = (self.people.analyst)(self.kind.info());
                tokio::task::spawn_blocking(move || {
                    let shares = question.and_then(|question| match &analyst {
                        Some((_, bot)) => question.estimate(&**bot).map(Some),
                        None => Ok(question.search()),
                    });
                    let answer = match shares {
                        Ok(Some(shares)) => {
                            let by = analyst.map(|(name, _)| name);
                            let expected = Expected { shares, by };
                            lock(&table.evaluations).insert(seat, (now, expected));
                            table.change();
                            Ok(Done::Shown)
                        }
                        Err(HintError::NotAsked) => Err(Refused::NotAsked),
                        Ok(None) | Err(_) => Err(Refused::NoEvaluation),
                    };
                    let _ = reply.send(answer);
                });
                return;
            }
            Act::Hint => {
                // A bot thinks about it elsewhere; the game does not wait for it.
                let question = game.hint(seat);
                let bot = (self.people.options.hinter)(self.kind.info());
                tokio::task::spawn_blocking(move || {
                    let answer = match (question, bot) {
                        (Ok(question), Some((name, bot))) => question
                            .ask(&*bot)
                            .map(|notation| Done::Hint {
                                bot: name,
                                notation,
                            })
                            .map_err(Refused::NoHint),
                        (Err(error), _) => Err(Refused::NoHint(error)),
                        (_, None) => Err(Refused::NotAsked),
                    };
                    let _ = reply.send(answer);
                });
                return;
            }
        };
        let _ = reply.send(answer);
    }

    /// Keeps the answers in a file.
    fn save(&self, game: &PeopleGame) {
        lock(&self.kept).answers = game.answers().to_vec();
        self.keep();
    }

    /// Writes the record.
    fn finish(&self, game: &PeopleGame) {
        if let Some(record) = game.record() {
            let folder = &self.people.options.folder;
            if let Err(error) = kept::finish(folder, &self.id, record) {
                tracing::error!(id = self.id, %error, "the record of a game of people can't be kept");
            }
        }
        self.over();
    }

    fn show(&self, game: &PeopleGame, turn: &[Seat], shows: &watch::Sender<Arc<View>>) {
        let people = game.people().map(|seat| {
            let seen = SeatView {
                scene: game.scene(seat),
                moves: game.moves(seat).cloned().collect(),
                legal: match turn.contains(&seat) {
                    true => game.legal(seat),
                    false => Vec::new(),
                },
            };
            (seat, seen)
        });
        let people: HashMap<Seat, SeatView> = people.collect();
        let left = game
            .deadline()
            .map(|at| at.saturating_duration_since(Instant::now()).as_secs());
        let record = game.record().map(|record| Arc::new(record.clone()));
        // A version is a state of the game: a hint or a slip makes no new one.
        let is_new = shows.send_if_modified(|view| {
            let is_new = view.version == 0
                || view.seats != people
                || view.turn != turn
                || view.record.is_some() != record.is_some();
            if is_new {
                *view = Arc::new(View {
                    version: view.version + 1,
                    seats: people,
                    turn: turn.to_vec(),
                    seconds_left: left,
                    record,
                    failed: None,
                });
            }
            is_new
        });
        if is_new {
            self.change();
        }
    }
}

impl Drop for Presence {
    fn drop(&mut self) {
        let mut present = lock(&self.table.present);
        if let Some(entry) = present.get_mut(&self.browser) {
            *entry = (entry.0.saturating_sub(1), Instant::now());
        }
    }
}

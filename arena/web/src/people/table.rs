//! One game of people: a task that owns it, hears what people do, and shows it.

use std::{
    collections::{HashMap, HashSet},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_play::{
    EvaluationQuestion, HintQuestion, NotTakenBack, PeopleGame, PeopleGameError, PeopleTurn,
    PlayedMove, Slip,
};
use parking_lot::Mutex;
use referee_core::{GameKind, Scene, Seat, Seed};
use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    context::TableContext,
    kept::{self, KeptGame, PlayedGame, SeatedPlayer},
};
use crate::{
    advice::{Advice, AdviceRequest, Adviser, NoAdvice},
    caller::Browser,
    client::Client,
    ended::Ended,
    error::Full,
    expectation::ExpectedShares,
    language::Language,
};

/// So many things people do may wait while bots think.
const WAITING: usize = 16;
/// Whoever is asked has resigned where nothing was played for so long, even if their page is open.
const STANDSTILL: Duration = Duration::from_secs(2 * 3600);
/// No game lasts longer: whoever is asked then has resigned.
const LONGEST: Duration = Duration::from_secs(24 * 3600);
/// The time for which a game that is over is still shown as a table.
const LINGER: Duration = Duration::from_secs(10 * 60);

/// An action of a person.
pub(crate) enum Act {
    /// A move as they write it.
    Move(String),
    /// Takes back their last move, or asks the others for it.
    Back,
    /// Answers somebody who has asked for it.
    Agree(bool),
    Resign,
    /// For whoever asks from this address.
    Hint(Client),
    Evaluate(Client),
}

/// The reason why nothing came of it.
#[derive(Debug)]
pub(crate) enum ActRefusal {
    Slip(Slip),
    NotTakenBack(NotTakenBack),
    /// Nobody has asked them whether a move may be taken back.
    NothingToAgree,
    NoHint(NoAdvice),
    /// There is no room for what they ask.
    Full(Full),
    /// No deal was found that agrees with what they know.
    NoEvaluation,
    /// It is not their turn, or the game is over.
    NotAsked,
    /// The game has gone on since they looked.
    GoneOn,
}

/// The reply to what a person does.
#[derive(Debug)]
pub(crate) enum ActReply {
    /// It is done; the table shows it.
    Shown,
    /// The others are asked whether the move may be taken back.
    OthersAsked,
    /// A bot's move.
    Hint { bot: String, notation: String },
}

/// Somebody wants to take back a move, and others have to agree.
#[derive(Clone)]
struct TakeBackRequest {
    seat: Seat,
    /// It is of no use any more when the game has gone on.
    version: u64,
    /// The seats that have not agreed yet.
    waits_for: Vec<Seat>,
}

struct TableCommand {
    seat: Seat,
    /// The version of the view that they looked at when they did it.
    version: Option<u64>,
    act: Act,
    reply: oneshot::Sender<Result<ActReply, ActRefusal>>,
}

/// The game as it stands. Whoever looks is shown what their seat knows and nothing else.
#[derive(Clone)]
pub(crate) struct TableView {
    /// Grows with every change.
    pub(crate) version: u64,
    /// Of each person what they see.
    pub(crate) seats: HashMap<Seat, SeatView>,
    /// The seats that are asked.
    pub(crate) turn: Vec<Seat>,
    /// Seconds until the time of those who are asked is up.
    pub(crate) seconds_left: Option<u64>,
    /// Its end, if it has ended.
    pub(crate) ended: Option<Ended>,
    /// The reason why it can't go on, if it can't.
    pub(crate) failed: Option<String>,
}

/// The view of one seat.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct SeatView {
    pub(crate) scene: Scene,
    pub(crate) moves: Vec<PlayedMove>,
    pub(crate) legal: Vec<String>,
}

/// A game, for those who look at it and do something.
pub(crate) struct PeopleTable {
    id: String,
    pub(crate) kind: &'static dyn GameKind,
    pub(crate) names: Vec<String>,
    is_watched: bool,
    chairs: Mutex<Vec<SeatedPlayer>>,
    commands: mpsc::Sender<TableCommand>,
    view: watch::Receiver<Arc<TableView>>,
    /// Grows with everything that those who look may see.
    changes: watch::Sender<u64>,
    /// Of each browser how many of its pages are open, and when one was last.
    present: Mutex<HashMap<Browser, (usize, Instant)>>,
    client: Option<Client>,
    began: Instant,
    /// The time for which it had been played before, in another process.
    played_before: Duration,
    /// The time at which something was played last.
    went_on: Mutex<Instant>,
    take_back: Mutex<Option<TakeBackRequest>>,
    /// The shares of the points that people can expect who asked for it, each with the version of
    /// the view that it is of.
    evaluations: Mutex<HashMap<Seat, (u64, ExpectedShares)>>,
    /// The seat whose person looks, where several people share a screen and their hands are secret.
    looks: Mutex<Option<Seat>>,
    is_over: AtomicBool,
    over_at: Mutex<Option<Instant>>,
    stop: CancellationToken,
    ended: CancellationToken,
    kept: Mutex<KeptGame>,
    /// The id of the game that is played after it, once somebody has begun it.
    rematch: Mutex<Option<String>>,
    context: Arc<TableContext>,
}

/// A page of a browser is open as long as this is there.
pub(crate) struct OpenPage {
    table: Arc<PeopleTable>,
    browser: Browser,
}

impl PeopleTable {
    /// Begins it, or goes on with it.
    pub(super) fn start(
        context: Arc<TableContext>,
        kind: &'static dyn GameKind,
        kept: KeptGame,
    ) -> Arc<Self> {
        let (commands, heard) = mpsc::channel(WAITING);
        let (shows, view) = watch::channel(Arc::new(TableView {
            version: 0,
            seats: HashMap::new(),
            turn: Vec::new(),
            seconds_left: None,
            ended: None,
            failed: None,
        }));
        let table = Arc::new(Self {
            id: kept.id.clone(),
            kind,
            names: kept.names.clone(),
            is_watched: kept.is_watched && !kind.has_secrets(),
            chairs: Mutex::new(kept.chairs.clone()),
            commands,
            view,
            changes: watch::Sender::new(0),
            present: Mutex::default(),
            client: kept.client,
            began: Instant::now(),
            played_before: Duration::from_millis(kept::now().saturating_sub(kept.began_unix_ms)),
            went_on: Mutex::new(Instant::now()),
            take_back: Mutex::default(),
            evaluations: Mutex::default(),
            looks: Mutex::default(),
            is_over: AtomicBool::new(false),
            over_at: Mutex::default(),
            stop: CancellationToken::new(),
            ended: CancellationToken::new(),
            kept: Mutex::new(kept),
            rematch: Mutex::default(),
            context,
        });
        tokio::spawn(table.clone().run(heard, shows));
        table
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn is_over(&self) -> bool {
        self.is_over.load(Ordering::Acquire)
    }

    /// True if it has been over for long.
    pub(crate) fn is_forgotten(&self) -> bool {
        self.over_at().is_some_and(|at| at.elapsed() > LINGER)
    }

    /// Since when it is over.
    pub(crate) fn over_at(&self) -> Option<Instant> {
        *self.over_at.lock()
    }

    /// The client that has begun it.
    pub(crate) const fn client(&self) -> Option<Client> {
        self.client
    }

    pub(crate) fn chairs(&self) -> Vec<SeatedPlayer> {
        self.chairs.lock().clone()
    }

    /// A number that grows with everything that those who look may see.
    pub(crate) fn subscribe(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    fn change(&self) {
        self.changes.send_modify(|number| *number += 1);
    }

    pub(crate) fn view(&self) -> Arc<TableView> {
        self.view.borrow().clone()
    }

    /// The seats of a browser.
    pub(crate) fn seats_of(&self, browser: Option<&Browser>) -> Vec<Seat> {
        let chairs = self.chairs.lock();
        let chairs = chairs.iter().enumerate();
        let own = chairs.filter(|(_, chair)| browser.is_some_and(|browser| chair.is_of(browser)));
        own.map(|(seat, _)| Seat::new(seat as u8)).collect()
    }

    /// Takes a seat that nobody has. False where there is none.
    pub(crate) fn join(&self, browser: &Browser) -> bool {
        let mut chairs = self.chairs.lock();
        let Some(free) = chairs.iter_mut().find(|chair| chair.is_free()) else {
            return false;
        };
        *free = SeatedPlayer::Person {
            browser: Some(browser.clone()),
        };
        self.kept.lock().chairs.clone_from(&chairs);
        drop(chairs);
        self.keep();
        self.touch(browser);
        self.change();
        true
    }

    /// True if others may watch it while it is played. Where hands are hidden nobody may.
    pub(crate) const fn is_watched(&self) -> bool {
        self.is_watched
    }

    /// The seat whose view a browser with these seats is shown: that of the person who is asked,
    /// where it can be. Whoever watches sees what everybody knows.
    pub(crate) fn shown_as(&self, own: &[Seat], view: &TableView) -> Option<Seat> {
        match own {
            [] if self.is_watched => view.seats.keys().min().copied(),
            [] => None,
            [one] => Some(*one),
            _ if self.kind.has_secrets() && view.ended.is_none() => {
                let looks = *self.looks.lock();
                looks.filter(|seat| view.turn.contains(seat))
            }
            _ => {
                let asked = own.iter().find(|seat| view.turn.contains(seat));
                asked.or(own.first()).copied()
            }
        }
    }

    /// The shares of the points that a seat can expect of the table as this view shows it, where it
    /// has asked.
    pub(crate) fn evaluation(&self, seat: Seat, view: &TableView) -> Option<ExpectedShares> {
        let evaluations = self.evaluations.lock();
        let (version, expects) = evaluations.get(&seat)?;
        (*version == view.version).then(|| expects.clone())
    }

    /// The seat that wants to take back a move of the table as this view shows it, and those that
    /// have not agreed yet.
    pub(crate) fn take_back_request(&self, view: &TableView) -> Option<(Seat, Vec<Seat>)> {
        let request = self.take_back.lock();
        let request = request.as_ref().filter(|one| one.version == view.version)?;
        Some((request.seat, request.waits_for.clone()))
    }

    /// Those who play with somebody in this seat from other browsers.
    fn others(&self, seat: Seat) -> Vec<Seat> {
        let chairs = self.chairs.lock();
        let own = &chairs[seat.index()];
        let others = chairs.iter().enumerate().filter(|(_, chair)| {
            matches!(chair, SeatedPlayer::Person { browser: Some(_) }) && *chair != own
        });
        others.map(|(seat, _)| Seat::new(seat as u8)).collect()
    }

    /// Somebody sits down at a screen that several share.
    pub(crate) fn sit_down(&self, seat: Seat) {
        *self.looks.lock() = Some(seat);
        self.change();
    }

    /// The same players for another deal, each in the next seat, as a client begins it.
    fn with_seats_changed(&self, id: String, seed: Seed, client: Client) -> KeptGame {
        let mut next = KeptGame {
            id,
            seed,
            client: Some(client),
            began_unix_ms: kept::now(),
            answers: Vec::new(),
            ..self.kept.lock().clone()
        };
        next.names.rotate_right(1);
        next.chairs.rotate_right(1);
        next
    }

    /// The id of the game that is played after this one: that which somebody has begun, or the one
    /// that `begin` begins.
    pub(crate) fn rematch<E>(
        &self,
        (id, seed): (String, Seed),
        client: Client,
        begin: impl FnOnce(KeptGame) -> Result<(), E>,
    ) -> Result<String, E> {
        let mut next = self.rematch.lock();
        if let Some(next) = &*next {
            return Ok(next.clone());
        }
        begin(self.with_seats_changed(id.clone(), seed, client))?;
        *next = Some(id.clone());
        Ok(id)
    }

    /// A person does something.
    pub(crate) async fn act(
        &self,
        seat: Seat,
        version: Option<u64>,
        act: Act,
    ) -> Result<ActReply, ActRefusal> {
        let (reply, answer) = oneshot::channel();
        let command = TableCommand {
            seat,
            version,
            act,
            reply,
        };
        let sent = self.commands.send(command).await;
        sent.map_err(|_| ActRefusal::NotAsked)?;
        answer.await.map_err(|_| ActRefusal::NotAsked)?
    }

    /// A page of this browser is open.
    pub(crate) fn present(self: &Arc<Self>, browser: &Browser) -> OpenPage {
        let mut present = self.present.lock();
        let entry = present
            .entry(browser.clone())
            .or_insert((0, Instant::now()));
        *entry = (entry.0 + 1, Instant::now());
        OpenPage {
            table: self.clone(),
            browser: browser.clone(),
        }
    }

    /// A browser has just been here.
    pub(crate) fn touch(&self, browser: &Browser) {
        let mut present = self.present.lock();
        present
            .entry(browser.clone())
            .or_insert((0, Instant::now()))
            .1 = Instant::now();
    }

    /// Those who are asked and have been away for too long resign, and those who keep a game from its
    /// end although they are there.
    pub(crate) fn resign_who_is_away(self: &Arc<Self>, grace: Duration) {
        if self.is_over() {
            return;
        }
        let is_too_long = self.went_on.lock().elapsed() > STANDSTILL
            || self.played_before + self.began.elapsed() > LONGEST;
        let turn = self.view().turn.clone();
        let chairs = self.chairs();
        for seat in turn {
            let SeatedPlayer::Person { browser } = &chairs[seat.index()] else {
                continue;
            };
            let seen = browser.as_ref().and_then(|browser| {
                let present = self.present.lock();
                present.get(browser).copied()
            });
            let is_away = match seen {
                _ if is_too_long => true,
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

    pub(crate) fn stop(&self) {
        self.stop.cancel();
    }

    pub(crate) async fn stopped(&self) {
        self.ended.cancelled().await;
    }

    /// Keeps it as it stands. It goes on where it can't be kept.
    fn keep(&self) {
        let kept = self.kept.lock().clone();
        if let Err(error) = kept::write(&self.context.options.folder, &kept) {
            tracing::error!(id = self.id, %error, "a game of people can't be kept");
        }
    }

    async fn run(
        self: Arc<Self>,
        mut heard: mpsc::Receiver<TableCommand>,
        shows: watch::Sender<Arc<TableView>>,
    ) {
        let kept = self.kept.lock().clone();
        // What failed, and whether the game can go on another time.
        let played = async {
            let seating = (self.context.seating(self.kind, &kept))
                .map_err(|error| (error.to_string(), false))?;
            let context = &self.context.options.context;
            let resumed = PeopleGame::resume(seating, kept.answers.clone(), context);
            resumed.await.map_err(|error| {
                let is_ours = matches!(
                    error,
                    PeopleGameError::Shortage(_) | PeopleGameError::Socket(_)
                );
                (error.to_string(), is_ours)
            })
        };
        match played.await {
            Ok(mut game) => {
                let ended = tokio::select! {
                    () = self.stop.cancelled() => Ok(()),
                    ended = self.play(&mut game, &mut heard, &shows) => ended,
                };
                if !self.is_over.load(Ordering::Acquire) {
                    self.save(&game);
                }
                game.end().await;
                if let Err(error) = ended {
                    // It is kept, and goes on when the arena starts again.
                    tracing::warn!(id = self.id, %error, "a game of people can't go on");
                    let failed = Some(error.to_string());
                    shows.send_modify(|view| Arc::make_mut(view).failed = failed);
                    self.over();
                }
            }
            Err((failed, is_kept)) => {
                tracing::warn!(id = self.id, failed, "a game of people can't be played");
                let folder = &self.context.options.folder;
                if !is_kept && let Err(error) = kept::remove(folder, &self.id) {
                    tracing::error!(id = self.id, %error, "it can't be removed");
                }
                shows.send_modify(|view| Arc::make_mut(view).failed = Some(failed));
                self.over();
            }
        }
        self.ended.cancel();
    }

    fn over(&self) {
        *self.over_at.lock() = Some(Instant::now());
        self.is_over.store(true, Ordering::Release);
        self.change();
    }

    async fn play(
        self: &Arc<Self>,
        game: &mut PeopleGame,
        heard: &mut mpsc::Receiver<TableCommand>,
        shows: &watch::Sender<Arc<TableView>>,
    ) -> Result<(), PeopleGameError> {
        loop {
            let turn = game.step().await?;
            match turn {
                None => {
                    self.show(game, &[], shows);
                    // Those who look and those who do something have their turn too.
                    tokio::task::yield_now().await;
                }
                Some(PeopleTurn::Over) => {
                    self.save(game);
                    self.show(game, &[], shows);
                    self.finish(game);
                    return Ok(());
                }
                Some(PeopleTurn::People(seats)) => {
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
        heard: &mut mpsc::Receiver<TableCommand>,
        shows: &watch::Sender<Arc<TableView>>,
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
        command: TableCommand,
        shows: &watch::Sender<Arc<TableView>>,
    ) {
        let TableCommand {
            seat,
            version,
            act,
            reply,
        } = command;
        let now = shows.borrow().version;
        if version.is_some_and(|version| version != now) {
            let _ = reply.send(Err(ActRefusal::GoneOn));
            return;
        }
        let is_asked = shows.borrow().turn.contains(&seat);
        let answer = match act {
            Act::Move(_) | Act::Hint(_) | Act::Evaluate(_) | Act::Resign if !is_asked => {
                Err(ActRefusal::NotAsked)
            }
            Act::Move(written) => match game.move_as_written(seat, &written) {
                Ok(_) => {
                    *self.looks.lock() = None;
                    Ok(ActReply::Shown)
                }
                Err(slip) => Err(ActRefusal::Slip(slip)),
            },
            Act::Resign => {
                game.resign(seat);
                *self.looks.lock() = None;
                Ok(ActReply::Shown)
            }
            Act::Back => {
                let waits_for = self.others(seat);
                match game.check_take_back(seat) {
                    Err(why) => Err(ActRefusal::NotTakenBack(why)),
                    Ok(_) if waits_for.is_empty() => self.take_back(game, seat).await,
                    Ok(_) => {
                        *self.take_back.lock() = Some(TakeBackRequest {
                            seat,
                            version: now,
                            waits_for,
                        });
                        self.change();
                        Ok(ActReply::OthersAsked)
                    }
                }
            }
            Act::Agree(agrees) => self.agree(game, seat, agrees, now).await,
            Act::Evaluate(client) => match game.evaluation(seat) {
                Err(_) => Err(ActRefusal::NotAsked),
                Ok(question) => {
                    let (table, adviser) = (self.clone(), self.context.adviser.clone());
                    let work = move || {
                        let expected = expected(&question, &adviser)?;
                        table.evaluations.lock().insert(seat, (now, expected));
                        table.change();
                        Ok(ActReply::Shown)
                    };
                    return self.think(client, work, reply);
                }
            },
            Act::Hint(client) => match game.hint(seat) {
                Err(_) => Err(ActRefusal::NotAsked),
                Ok(question) => {
                    let adviser = self.context.adviser.clone();
                    return self.think(client, move || hint(question, &adviser), reply);
                }
            },
        };
        let _ = reply.send(answer);
    }

    async fn take_back(&self, game: &mut PeopleGame, seat: Seat) -> Result<ActReply, ActRefusal> {
        *self.take_back.lock() = None;
        game.take_back(seat)
            .await
            .map_err(ActRefusal::NotTakenBack)?;
        *self.looks.lock() = None;
        Ok(ActReply::Shown)
    }

    /// Somebody agrees that another one takes back a move, or does not.
    async fn agree(
        &self,
        game: &mut PeopleGame,
        seat: Seat,
        agrees: bool,
        now: u64,
    ) -> Result<ActReply, ActRefusal> {
        let agreed = {
            let mut request = self.take_back.lock();
            let open = request.as_mut().filter(|one| one.version == now);
            let open = open.filter(|one| one.waits_for.contains(&seat));
            let Some(open) = open else {
                return Err(ActRefusal::NothingToAgree);
            };
            open.waits_for.retain(|one| *one != seat);
            let all = open.waits_for.is_empty().then_some(open.seat);
            if !agrees {
                *request = None;
            }
            all.filter(|_| agrees)
        };
        self.change();
        match agreed {
            Some(seat) => self.take_back(game, seat).await,
            None => Ok(ActReply::Shown),
        }
    }

    /// Has something thought about when the client's turn comes. The game does not wait for it.
    fn think(
        &self,
        client: Client,
        work: impl FnOnce() -> Result<ActReply, ActRefusal> + Send + 'static,
        mut reply: oneshot::Sender<Result<ActReply, ActRefusal>>,
    ) {
        match self.context.queue.submit(client, work) {
            Err(full) => {
                let _ = reply.send(Err(ActRefusal::Full(full)));
            }
            Ok(result) => {
                tokio::spawn(async move {
                    tokio::select! {
                        // Whoever asked has gone: it is not begun any more.
                        () = reply.closed() => {}
                        answer = result => {
                            let failed = || NoAdvice::Failed("it has panicked".to_owned());
                            let answer = answer.unwrap_or_else(|_| Err(ActRefusal::NoHint(failed())));
                            let _ = reply.send(answer);
                        }
                    }
                });
            }
        }
    }

    /// Keeps the answers in a file.
    fn save(&self, game: &PeopleGame) {
        self.kept.lock().answers = game.answers().to_vec();
        self.keep();
    }

    /// Writes the record, and adds the game to the lists of those who have played it.
    fn finish(&self, game: &PeopleGame) {
        if let Some((record, ending)) = game.record().zip(game.ending()) {
            let folder = &self.context.options.folder;
            let ended = Ended::of(record, ending);
            let kept = kept::finish(folder, &self.id, record);
            let listed = kept.and_then(|()| {
                let browsers: HashSet<Browser> = self
                    .chairs()
                    .into_iter()
                    .filter_map(SeatedPlayer::browser)
                    .collect();
                browsers.iter().try_for_each(|browser| {
                    let own = self.seats_of(Some(browser));
                    let told = |language| ended.headline(&own, language);
                    let played = PlayedGame {
                        id: self.id.clone(),
                        game: self.kind.info().name.to_owned(),
                        names: self.names.clone(),
                        told: [told(Language::En), told(Language::Zh)],
                        ended_unix_ms: kept::now(),
                    };
                    kept::add_played(folder, browser, played)
                })
            });
            if let Err(error) = listed {
                tracing::error!(id = self.id, %error, "the record of a game of people can't be kept");
            }
            self.context.prune();
        }
        self.over();
    }

    fn show(&self, game: &PeopleGame, turn: &[Seat], shows: &watch::Sender<Arc<TableView>>) {
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
        let left = game.deadline().map(|at| {
            at.saturating_duration_since(std::time::Instant::now())
                .as_secs()
        });
        let over = game.record().zip(game.ending());
        let ended = over.map(|(record, ending)| Ended::of(record, ending));
        // A version is a state of the game: a hint or a slip makes no new one.
        let is_new = shows.send_if_modified(|view| {
            let is_new = view.version == 0
                || view.seats != people
                || view.turn != turn
                || view.ended.is_some() != ended.is_some();
            if is_new {
                *view = Arc::new(TableView {
                    version: view.version + 1,
                    seats: people,
                    turn: turn.to_vec(),
                    seconds_left: left,
                    ended,
                    failed: None,
                });
            }
            is_new
        });
        if is_new {
            *self.went_on.lock() = Instant::now();
            self.change();
        }
    }
}

/// The move that a bot would play.
fn hint(question: HintQuestion, adviser: &Adviser) -> Result<ActReply, ActRefusal> {
    let request = AdviceRequest::Hint(question.question().clone());
    match adviser(&request).map_err(ActRefusal::NoHint)? {
        Advice::Hint { bot, answer } => match question.read(answer.into()) {
            Ok(notation) => Ok(ActReply::Hint { bot, notation }),
            Err(error) => Err(ActRefusal::NoHint(NoAdvice::Failed(error.to_string()))),
        },
        _ => Err(ActRefusal::NotAsked),
    }
}

/// The shares of the points that the seats can expect: by a bot, or by random playouts where no bot
/// has estimates.
fn expected(
    question: &EvaluationQuestion,
    adviser: &Adviser,
) -> Result<ExpectedShares, ActRefusal> {
    let request = AdviceRequest::Estimate(question.question().clone());
    match adviser(&request) {
        Ok(Advice::Estimate { bot, shares }) => Ok(ExpectedShares {
            shares: shares.into(),
            by: Some(bot),
        }),
        Err(NoAdvice::NoBot) => {
            let shares = question.search().ok_or(ActRefusal::NoEvaluation)?;
            Ok(ExpectedShares { shares, by: None })
        }
        Ok(_) | Err(_) => Err(ActRefusal::NoEvaluation),
    }
}

impl Drop for OpenPage {
    fn drop(&mut self) {
        let mut present = self.table.present.lock();
        if let Some(entry) = present.get_mut(&self.browser) {
            *entry = (entry.0.saturating_sub(1), Instant::now());
        }
    }
}

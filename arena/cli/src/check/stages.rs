//! The looks, one by one.

use std::{
    collections::BTreeMap,
    slice,
    sync::Arc,
    time::{Duration, Instant},
};

use anyhow::Context as _;
use bytes::Bytes;
use futures_util::future::join_all;
use referee::{
    Health, LOG_LIMIT, Probe, STOP_GRACE,
    proc::{CpuTime, memory_of_family},
};
use referee_core::{Foul, GameKind, Seat};
use referee_games::{GAMES, Question, SeatReply};
use tokio::{sync::Barrier, task::spawn_blocking};

use super::{
    Check, Examiner, Id, Seen, Subject, about, counted,
    game::{Manner, play, resume},
    in_words, median, name_of, plain, seated, until,
};
use crate::tally::plural;

/// How long what every gRPC server knows at once may take.
const AT_ONCE: Duration = Duration::from_secs(5);
/// A service that no bot has.
const NO_SUCH_SERVICE: &str = "/arena.check.v1.NoSuchService/Play";
/// How many games are played at once, however many it says that it can.
const MOST_AT_ONCE: usize = 16;
/// Before which of its answers, from 0, a bot is caught up with: the first that a game
/// has.
const FORKS: [usize; 3] = [8, 3, 1];
/// How many streams are cancelled at most.
const MOST_CANCELLED: usize = 64;
/// How long a bot has thought when its stream is cancelled, in turn.
const CANCELLED_AFTER: [Duration; 4] = [
    Duration::from_millis(10),
    Duration::from_millis(1),
    Duration::from_millis(30),
    Duration::ZERO,
];
/// No limit is made shorter than this: it would measure the machine.
const SHORTEST_LIMIT: Duration = Duration::from_millis(100);
/// Memory that grows by less over all games, or by less a game, is no finding.
const GROWTH: u64 = 4 * 1024 * 1024;
const GROWTH_A_GAME: u64 = 2 * 1024;
/// From so many games on growth can be told from warming up.
const ENOUGH_GAMES: usize = 100;
/// How many blocks of games are compared.
const BLOCKS: usize = 4;

impl Examiner<'_> {
    /// Which games does it serve, and what does it say of itself?
    pub(super) async fn start(&mut self) -> anyhow::Result<Vec<Subject>> {
        let named = self.wanted.kinds.is_some();
        let kinds = self.wanted.kinds.clone().unwrap_or_else(|| GAMES.to_vec());
        self.report.begins(None, Check::Start, "");
        let took = match self.host.running().await? {
            Ok(running) => running.took,
            Err(foul) => {
                let id = match foul {
                    Foul::Unreachable { .. } => Id::Unreachable,
                    _ => Id::NoStart,
                };
                let seen = Seen::found("", vec![plain(id, None, foul.to_string())]);
                self.report.seen(None, Check::Start, &seen)?;
                return Ok(Vec::new());
            }
        };
        let mut subjects = Vec::new();
        let mut first = Some(took);
        let mut kept_waiting = false;
        for kind in kinds {
            let name = Some(name_of(kind));
            if kept_waiting {
                let why = "it has kept us waiting for another game's Ready";
                let seen = Seen::NotLookedAt(why.to_owned());
                self.report.seen(name, Check::Start, &seen)?;
                continue;
            }
            self.report.begins(name, Check::Start, "");
            let manner = Manner {
                leave_after: Some(0),
                ..Manner::default()
            };
            let began = Instant::now();
            let terms = self.terms(kind, 0, Seat::new(0));
            let came = self.play_one(&terms, &manner).await?;
            let seen = match (&came.foul, &came.ready) {
                (Some(Foul::Unsupported { .. }), _) if !named => continue,
                (None, Some(said)) => {
                    let mut findings = Vec::new();
                    let took = came.ready_after + first.take().unwrap_or_default();
                    let limit = self.wanted.limits.start;
                    if took > limit / 3 {
                        let came = format!("{} of {} until Ready", about(took), about(limit));
                        findings.push(plain(Id::SlowStart, Some(kind), came));
                    }
                    if said.bot.is_empty() {
                        findings.push(plain(Id::NoName, Some(kind), "`bot` is empty"));
                    }
                    let at_once = said.max_games.filter(|games| *games > 0);
                    if at_once.is_none() {
                        let came = "it does not say, so it is taken for 1";
                        findings.push(plain(Id::NoMaxGames, Some(kind), came));
                    }
                    let words = format!(
                        "\"{}\" {}; {} at once; {}; ready after {}",
                        printable(&said.bot),
                        printable(&said.version),
                        plural(at_once.unwrap_or(1), "game"),
                        if said.can_resume {
                            "can resume"
                        } else {
                            "can't resume"
                        },
                        about(took),
                    );
                    subjects.push(Subject {
                        kind,
                        said: said.clone(),
                        thoughts: Vec::new(),
                        calls: BTreeMap::new(),
                        closed: (0, 0),
                        first: terms,
                        afterwards: None,
                        afterwards_is_told: false,
                        alone: false,
                    });
                    Seen::found(words, findings)
                }
                (foul, _) => {
                    let why = foul
                        .as_ref()
                        .map_or_else(|| "it did not say Ready".to_owned(), ToString::to_string);
                    let id = match foul {
                        Some(Foul::Unsupported { .. }) => Id::Unsupported,
                        Some(Foul::Unreachable { .. }) => Id::Unreachable,
                        Some(Foul::MemoryExceeded { .. }) => Id::MemoryExceeded,
                        _ if self.is_dumb().await? => Id::NoStart,
                        _ => Id::NoReady,
                    };
                    // That its process is gone is what was just named: it is no
                    // other game's fault.
                    self.host.died();
                    Seen::found("", vec![plain(id, Some(kind), why)])
                }
            };
            self.report.seen(name, Check::Start, &seen)?;
            if seen.is_fault() {
                self.host.renew().await;
                // Who has kept us waiting once would do so for every game.
                kept_waiting = began.elapsed() >= self.wanted.limits.start;
            }
        }
        if subjects.is_empty() && self.report.is_clean() {
            let why = "it answers UNIMPLEMENTED for every game";
            let seen = Seen::found("", vec![plain(Id::Unsupported, None, why)]);
            self.report.seen(None, Check::Start, &seen)?;
        }
        Ok(subjects)
    }

    /// Whether it takes connections and says nothing at all.
    pub(super) async fn is_dumb(&mut self) -> anyhow::Result<bool> {
        let within = AT_ONCE.min(self.wanted.limits.start);
        Ok(match self.host.running().await? {
            Ok(running) => running.probe.health("", within).await == Health::Silent,
            // It has ended, and does not start again.
            Err(_) => false,
        })
    }

    /// Health, reflection, and what it says to a service that it does not have.
    pub(super) async fn discovery(&mut self, subject: &Subject) -> anyhow::Result<Seen> {
        let seen = self.discover(subject).await?;
        // It may have died of the game before.
        if matches!(&seen, Seen::Looked { findings, .. } if findings.is_empty()) {
            return Ok(seen);
        }
        if self.host.has_ended().await {
            return self.discover(subject).await;
        }
        if !self.host.is_ours() {
            self.host.renew().await;
            if let Err(foul) = self.host.running().await? {
                return Ok(lost(subject.kind, &foul));
            }
        }
        Ok(seen)
    }

    async fn discover(&mut self, subject: &Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let largest = self.wanted.limits.answer_bytes;
        let probe = match self.host.running().await? {
            Ok(running) => &running.probe,
            Err(foul) => return Ok(lost(kind, &foul)),
        };
        let service = kind.path().trim_start_matches('/');
        let service = service.split('/').next().unwrap_or(service);
        let mut findings = Vec::new();
        for of in ["", service] {
            let what = match probe.health(of, AT_ONCE).await {
                Health::Serving => continue,
                Health::Otherwise(what) => what,
                Health::Silent => format!("no answer within {}", about(AT_ONCE)),
            };
            let came = format!("for \"{of}\": {what}");
            findings.push(plain(Id::NoHealth, Some(kind), came));
            break;
        }
        let listed = probe.services(AT_ONCE).await;
        let missing = match &listed {
            Ok(services) if services.iter().any(|one| one == service) => None,
            Ok(services) => Some(format!("it lists {}", services.join(", "))),
            Err(why) => Some(why.clone()),
        };
        if let Some(came) = missing {
            findings.push(plain(Id::NoReflection, Some(kind), came));
        }
        if let Some(came) = unknown_service(probe, largest).await {
            findings.push(plain(Id::UnknownService, Some(kind), came));
        }
        Ok(Seen::found(
            if findings.is_empty() {
                "health, reflection, and UNIMPLEMENTED for what it does not serve"
            } else {
                ""
            },
            findings,
        ))
    }

    /// Whole games from each seat, from the most ordinary beginning.
    pub(super) async fn whole_games(&mut self, subject: &mut Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let seats = subject.seats();
        let share = self.wanted.patience / seats.len() as u32;
        let rounds = if self.wanted.quick { 1 } else { 2 };
        let (mut games, mut cut) = (0, 0);
        // What its process has played before: the first and the last of it.
        let mut before = vec![subject.first.clone()];
        let mut findings: Vec<super::Finding> = Vec::new();
        for seat in seats {
            let end = until(share);
            for round in 0..rounds {
                if round > 0 && Instant::now() >= end {
                    break;
                }
                let manner = Manner {
                    leave_at: Some(end),
                    hasty: subject.is_hasty(),
                    ..Manner::default()
                };
                self.room(subject, 1).await;
                let terms = self.terms(kind, 0, seat);
                let mut came = self.play_one(&terms, &manner).await?;
                subject.learn(&came);
                subject.thoughts.append(&mut came.thoughts);
                games += 1;
                cut += usize::from(came.cut_short);
                let Some(mut finding) = self.foul(kind, seat, &mut came).await? else {
                    before.truncate(1);
                    before.push(terms);
                    continue;
                };
                if let Some(foul) = came.foul.as_ref().map(Foul::kind)
                    && self.host.is_ours()
                    && self
                        .is_of_games_before(&before, &terms, foul, share)
                        .await?
                {
                    finding.id = Id::SecondGame;
                    finding.came += "; a new process plays the same game without a foul, and with one after a game before it";
                }
                if findings.iter().all(|known| known.id != finding.id) {
                    findings.push(finding);
                }
                self.host.renew().await;
                before.truncate(1);
                break;
            }
        }
        let (closed, open) = subject.closed;
        if open > 1 && open > closed {
            let came = format!("{open} of {} streams stayed open", closed + open);
            findings.push(plain(Id::HalfClosed, Some(kind), came));
        }
        findings.extend(subject.afterwards());
        let mut words = format!("{} from {} seats", counted(games), kind.info().seats);
        if cut > 0 {
            words += &format!(", {cut} cut short after {}", about(share));
        }
        if let (Some(median), Some(most)) =
            (median(&subject.thoughts), subject.thoughts.iter().max())
        {
            words += &format!("; answers {}, the slowest {}", about(median), about(*most));
        }
        Ok(Seen::found(words, findings))
    }

    /// The first moves from every other beginning.
    pub(super) async fn first_moves(&mut self, subject: &mut Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let trials = kind.trials();
        let seats: Vec<Seat> = subject.seats().collect();
        let end = until(self.wanted.patience / 2);
        let (mut tried, mut refused) = (0, 0);
        let mut findings: Vec<super::Finding> = Vec::new();
        for (trial, about) in trials.iter().enumerate().skip(1) {
            for turn in 0..seats.len() {
                // Each beginning is tried once, whatever the time.
                if turn > 0 && (self.wanted.quick || Instant::now() >= end) {
                    break;
                }
                let seat = seats[(trial + turn) % seats.len()];
                let manner = Manner {
                    leave_after: Some(3),
                    leave_at: Some(end),
                    hasty: subject.is_hasty(),
                    ..Manner::default()
                };
                self.room(subject, 1).await;
                let mut came = self.play(kind, trial, seat, &manner).await?;
                subject.learn(&came);
                tried += 1;
                let Some(foul) = came.foul.clone() else {
                    continue;
                };
                if let Some(foul) = self.gone(Some(&foul)).await? {
                    return Ok(lost(kind, &foul));
                }
                if self.entry.begins_at_the_beginning() && foul.kind().is_start() {
                    refused += 1;
                    break;
                }
                let where_ = format!("{} ({})", about.name, seated(seat));
                // Any other foul has words of its own for what is to be mended.
                let id = match foul {
                    Foul::Illegal { .. } => Id::FirstMove,
                    _ => Id::of_foul(foul.kind()),
                };
                if let Some(first) = findings.iter_mut().find(|known| known.id == id) {
                    first.came += &format!("; also with {where_}");
                } else {
                    let foul = in_words(&foul, &came);
                    let words = format!("from the usual beginning nothing; with {where_}: {foul}");
                    findings.push(self.finding(id, kind, words, &mut came).await?);
                }
                self.host.renew().await;
                break;
            }
        }
        if trials.len() < 2 {
            return Ok(Seen::NotLookedAt(
                "the game names no other beginnings".to_owned(),
            ));
        }
        let mut words = format!(
            "{} from {} other beginnings",
            counted(tried),
            trials.len() - 1
        );
        findings.extend(subject.afterwards());
        if refused > 0 {
            words += &format!("; {refused} of them refused, as keeps-globals says");
        }
        Ok(Seen::found(words, findings))
    }

    /// Catches it up with a game in the middle.
    pub(super) async fn resumed(&mut self, subject: &mut Subject) -> anyhow::Result<Seen> {
        if !subject.said.can_resume {
            return Ok(Seen::NotLookedAt("it does not say can_resume".to_owned()));
        }
        let kind = subject.kind;
        let mut resumed = 0;
        let end = self.soon();
        for seat in subject.seats() {
            if resumed > 0 && Instant::now() >= end {
                break;
            }
            // Late enough that there is something to be caught up with.
            for fork_at in FORKS {
                let manner = Manner {
                    leave_after: Some(fork_at + 2),
                    // Who thinks for long is caught up with early.
                    leave_at: (fork_at > 1).then(|| self.soon()),
                    fork_at: Some(fork_at),
                    hasty: subject.is_hasty(),
                    ..Manner::default()
                };
                self.room(subject, 1).await;
                let terms = self.terms(kind, 0, seat);
                let mut came = match self.play_all(slice::from_ref(&terms), &manner).await? {
                    Ok(mut came) => came.pop().context("one game was played")?,
                    Err(foul) => return Ok(lost(kind, &foul)),
                };
                if let Some(foul) = self.foul(kind, seat, &mut came).await? {
                    return Ok(Seen::found("", vec![foul]));
                }
                let Some(fork) = came.fork.take() else {
                    continue;
                };
                // What it has forgotten may show only later.
                let manner = Manner {
                    leave_at: Some(self.soon()),
                    hasty: subject.is_hasty(),
                    ..Manner::default()
                };
                self.room(subject, 1).await;
                let probe = match self.host.running().await? {
                    Ok(running) => &running.probe,
                    Err(foul) => return Ok(lost(kind, &foul)),
                };
                let mut came = resume(probe, &terms, &manner, &fork).await;
                resumed += 1;
                if let Some(foul) = came.foul.clone() {
                    let words = format!(
                        "caught up with {} of its own answers, {}: {}",
                        fork_at + 1,
                        seated(seat),
                        in_words(&foul, &came)
                    );
                    came.record = None;
                    let finding = plain(Id::Resumed, Some(kind), words);
                    return Ok(Seen::found("", vec![finding]));
                }
                break;
            }
        }
        Ok(Seen::well(format!(
            "{} caught up with in the middle",
            counted(resumed)
        )))
    }

    /// Fields and a notice that it can't know.
    pub(super) async fn new_fields(&mut self, subject: &Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let manner = Manner {
            leave_after: Some(4),
            leave_at: Some(self.soon()),
            future: true,
            hasty: subject.is_hasty(),
            ..Manner::default()
        };
        self.room(subject, 1).await;
        let mut came = self.play(kind, 0, Seat::new(0), &manner).await?;
        if let Some(foul) = self.gone(came.foul.as_ref()).await? {
            return Ok(lost(kind, &foul));
        }
        Ok(match came.foul.clone() {
            None => Seen::well("unknown fields and an unknown notice are passed over"),
            Some(foul) => {
                let words = in_words(&foul, &came);
                let finding = self
                    .finding(Id::FutureField, kind, words, &mut came)
                    .await?;
                Seen::found("", vec![finding])
            }
        })
    }

    /// As many games at once as it says, all under way before the first question.
    pub(super) async fn at_once(&mut self, subject: &mut Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let says = subject.max_games();
        let games = says.min(MOST_AT_ONCE);
        if games < 2 {
            return Ok(Seen::NotLookedAt(
                "it plays one game at a time, as it says".to_owned(),
            ));
        }
        let seats = usize::from(kind.info().seats);
        let manner = Manner {
            leave_after: Some(4),
            leave_at: Some(self.soon()),
            together: Some(Arc::new(Barrier::new(games))),
            hasty: subject.is_hasty(),
            ..Manner::default()
        };
        self.all_closed().await;
        let terms: Vec<_> = (0..games)
            .map(|game| self.terms(kind, 0, Seat::new((game % seats) as u8)))
            .collect();
        let mut came = match self.play_all(&terms, &manner).await? {
            Ok(came) => came,
            Err(foul) => return Ok(lost(kind, &foul)),
        };
        let fouls = came.iter().filter(|came| came.foul.is_some()).count();
        let foul = came.iter().find_map(|came| came.foul.as_ref());
        if let Some(foul) = self.gone(foul).await? {
            return Ok(lost(kind, &foul));
        }
        let words = if says > games {
            format!("{games} games at once, of the {says} that it says")
        } else {
            format!("{games} games at once, as it says")
        };
        let Some(first) = came.iter_mut().find(|came| came.foul.is_some()) else {
            return Ok(Seen::well(words));
        };
        subject.alone = true;
        let foul = first.foul.clone().expect("it was looked for");
        let why = format!(
            "with {games} games at once {}: {}",
            plural(fouls as u32, "foul"),
            in_words(&foul, first)
        );
        let finding = self.finding(Id::TwoGames, kind, why, first).await?;
        Ok(Seen::found("", vec![finding]))
    }

    /// How near to the limit it goes, and whether it goes by the one that is told.
    pub(super) async fn deadlines(&mut self, subject: &Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let limit = self.wanted.limits.per_move;
        let Some(slowest) = subject.thoughts.iter().max().copied() else {
            return Ok(Seen::NotLookedAt("it was asked nothing".to_owned()));
        };
        let mut findings = Vec::new();
        if slowest > limit * 4 / 5 {
            let came = format!("an answer after {} of {}", about(slowest), about(limit));
            findings.push(plain(Id::CloseToLimit, Some(kind), came));
        }
        let short = (limit / 10).max(SHORTEST_LIMIT);
        let mut words = format!(
            "the slowest answer took {} of {}",
            about(slowest),
            about(limit)
        );
        if short > limit / 2 {
            words += "; a shorter limit would measure the machine";
        } else if slowest >= short / 2 {
            self.room(subject, 1).await;
            let mut terms = self.terms(kind, 0, Seat::new(0));
            terms.limits.per_move = short;
            let manner = Manner {
                leave_after: Some(5),
                judged_by: Some(limit),
                hasty: subject.is_hasty(),
                ..Manner::default()
            };
            let mut came = match self.play_all(&[terms], &manner).await? {
                Ok(mut came) => came.pop().context("one game was played")?,
                Err(foul) => return Ok(lost(kind, &foul)),
            };
            if let Some(foul) = self.foul(kind, Seat::new(0), &mut came).await? {
                findings.push(foul);
            }
            // The machine may make one answer late, but not most of them.
            let usual = median(&came.thoughts).unwrap_or_default();
            words += &format!("; asked for {} it took {}", about(short), about(usual));
            if usual >= short {
                let came = format!("asked for {} it took {}", about(short), about(usual));
                findings.push(plain(Id::IgnoresLimit, Some(kind), came));
            }
        }
        Ok(Seen::found(words, findings))
    }

    /// Streams that are cancelled in the middle of a question.
    pub(super) async fn cancelled(&mut self, subject: &Subject) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        let at_once = subject.max_games().min(MOST_AT_ONCE);
        let wanted = (2 * subject.max_games()).clamp(4, MOST_CANCELLED);
        let start = self.wanted.limits.start;
        let end = until(self.wanted.patience);
        self.all_closed().await;
        let usual = self.busy().await?;
        let mut cancelled = 0;
        while cancelled < wanted && (cancelled == 0 || Instant::now() < end) {
            let terms: Vec<_> = (0..at_once.min(wanted - cancelled))
                .map(|game| (cancelled + game, self.terms(kind, 0, Seat::new(0))))
                .collect();
            let probe = match self.host.running().await? {
                Ok(running) => &running.probe,
                Err(foul) => return Ok(lost(kind, &foul)),
            };
            let games = terms.iter().map(|(game, terms)| {
                let after = CANCELLED_AFTER[game % CANCELLED_AFTER.len()];
                async move {
                    let manner = Manner {
                        cancel_after: Some(after),
                        ..Manner::default()
                    };
                    play(probe, terms, &manner).await
                }
            });
            for came in join_all(games).await {
                came?;
            }
            cancelled += terms.len();
        }
        let mut findings = Vec::new();
        let idle = self.idle_after_all(subject, usual).await?;
        if let Some(finding) = idle {
            findings.push(finding);
        }
        // A place may take a moment to be free again.
        let end = until(start);
        let mut came = loop {
            let manner = Manner {
                leave_after: Some(3),
                leave_at: Some(self.soon()),
                hasty: subject.is_hasty(),
                ..Manner::default()
            };
            let came = self.play(kind, 0, Seat::new(0), &manner).await?;
            if let Some(foul) = self.gone(came.foul.as_ref()).await? {
                return Ok(lost(kind, &foul));
            }
            let refused = came
                .foul
                .as_ref()
                .is_some_and(|foul| foul.kind().is_start());
            if !refused || Instant::now() >= end {
                break came;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        };
        let streams = plural(cancelled as u32, "cancelled stream");
        if let Some(foul) = came.foul.clone() {
            let words = format!("after {streams}: {}", in_words(&foul, &came));
            findings.push(self.finding(Id::Cancelled, kind, words, &mut came).await?);
        }
        Ok(Seen::found(
            format!("{streams}, and then another game"),
            findings,
        ))
    }

    /// Whether its process comes to rest, at the latest when the time of a question
    /// is over.
    async fn idle_after_all(
        &mut self,
        subject: &Subject,
        usual: f64,
    ) -> anyhow::Result<Option<super::Finding>> {
        const BUSY: f64 = 0.5;
        let since = Instant::now();
        loop {
            // What it may still think about is over by then.
            let in_time = since.elapsed() < self.wanted.limits.per_move;
            let share = self.busy().await? - usual;
            if share <= BUSY {
                return Ok(None);
            }
            if !in_time {
                let came = format!(
                    "{} after the last stream was cancelled it uses, or waits for, {:.0} % of a core more than before",
                    about(since.elapsed()),
                    share * 100.0
                );
                return Ok(Some(plain(Id::ThinksOn, Some(subject.kind), came)));
            }
        }
    }

    /// How much of a core it uses while nobody asks it anything; none where it is not
    /// our process.
    async fn busy(&mut self) -> anyhow::Result<f64> {
        const LOOK: Duration = Duration::from_millis(500);
        if self.host.running().await?.is_err() {
            return Ok(0.0);
        }
        let Some(id) = self.host.process() else {
            return Ok(0.0);
        };
        let time = || spawn_blocking(move || CpuTime::of_family(id));
        let (before, began) = (time().await?, Instant::now());
        tokio::time::sleep(LOOK).await;
        let used = time().await?.since(before);
        Ok(used.as_secs_f64() / began.elapsed().as_secs_f64())
    }

    /// Its memory over many games.
    pub(super) async fn memory(&mut self, subject: &Subject, of: u32) -> anyhow::Result<Seen> {
        let kind = subject.kind;
        if !self.host.is_ours() {
            return Ok(not_ours());
        }
        let wanted = self.wanted.games as usize;
        if self.wanted.quick || wanted == 0 {
            return Ok(Seen::NotLookedAt("it was not asked for".to_owned()));
        }
        let end = until(self.wanted.patience / of.max(1));
        let seats = usize::from(kind.info().seats);
        let at_once = subject.max_games().min(4);
        // How much it held after so many games.
        let mut held: Vec<(usize, u64)> = Vec::new();
        let mut games = 0;
        let began = Instant::now();
        while games < wanted && Instant::now() < end {
            // Where too few will fit in the time, none need be waited for.
            let pace = began.elapsed() / games.max(1) as u32;
            if games > 0 && pace * ENOUGH_GAMES as u32 > 2 * self.wanted.patience {
                break;
            }
            self.room(subject, at_once.min(wanted - games)).await;
            let terms: Vec<_> = (0..at_once.min(wanted - games))
                .map(|game| self.terms(kind, 0, Seat::new(((games + game) % seats) as u8)))
                .collect();
            let manner = Manner {
                leave_at: Some(end),
                // It is told all the same.
                hasty: subject.is_hasty(),
                ..Manner::default()
            };
            let came = match self.play_all(&terms, &manner).await? {
                Ok(came) => came,
                Err(foul) => return Ok(lost(kind, &foul)),
            };
            games += terms.len();
            if let Some(id) = self.host.process() {
                held.push((games, spawn_blocking(move || memory_of_family(id)).await?));
            }
            for (terms, mut came) in terms.iter().zip(came) {
                if let Some(foul) = self.foul(kind, terms.seat, &mut came).await? {
                    let words = format!("a foul after {}", counted(games));
                    return Ok(Seen::found(words, vec![foul]));
                }
            }
        }
        let words = if games < wanted {
            format!(
                "{} of {wanted}, as many as fitted in the time",
                counted(games)
            )
        } else {
            counted(games)
        };
        if games < ENOUGH_GAMES {
            return Ok(Seen::NotLookedAt(format!(
                "{words}: too few to tell growth from warming up"
            )));
        }
        let first = held.first().map_or(0, |(_, bytes)| *bytes);
        let last = held.last().map_or(0, |(_, bytes)| *bytes);
        let words = format!("{words}; {} at first, {} at last", mib(first), mib(last));
        Ok(match growth(&held) {
            None => Seen::well(words),
            Some((grown, over)) => {
                let came = format!(
                    "{} more over {}, and still rising: {} a game",
                    mib(grown),
                    counted(over),
                    kib(grown / over as u64)
                );
                Seen::found(words, vec![plain(Id::MemoryGrows, Some(kind), came)])
            }
        })
    }

    /// Asks it to stop, and looks at what stays.
    pub(super) async fn stop(&mut self) -> anyhow::Result<Seen> {
        if !self.host.is_ours() {
            return Ok(not_ours());
        }
        // No game is running when the last stream is closed. Who has left one open is
        // still busy with it, so that a new process must show what it does.
        self.all_closed().await;
        if self.is_left_open {
            self.host.renew().await;
        }
        let process = match self.host.running().await? {
            Ok(running) => running.process.clone(),
            Err(foul) => {
                let finding = plain(Id::NoStart, None, foul.to_string());
                return Ok(Seen::found("", vec![finding]));
            }
        };
        let Some(process) = process else {
            return Ok(not_ours());
        };
        let Some(report) = process.stop_and_report(STOP_GRACE).await else {
            return Ok(Seen::NotLookedAt("it had ended by itself".to_owned()));
        };
        let mut findings = Vec::new();
        let words = match report.after {
            Some(after) if report.left_behind.is_empty() => {
                format!("ended {} after SIGTERM, nothing left behind", about(after))
            }
            Some(after) => format!("ended {} after SIGTERM", about(after)),
            None => {
                let came = format!("it was still there {} after SIGTERM", about(STOP_GRACE));
                findings.push(plain(Id::IgnoresSigterm, None, came));
                String::new()
            }
        };
        if !report.left_behind.is_empty() {
            let left = report.left_behind.iter().map(|one| {
                let outside = if one.outside_group {
                    ", outside its process group"
                } else {
                    ""
                };
                format!("{} (process {}{outside})", one.command, one.id)
            });
            let came = format!("left running: {}", left.collect::<Vec<_>>().join("; "));
            findings.push(plain(Id::Leftovers, None, came));
        }
        process.ended().await;
        Ok(Seen::found(words, findings))
    }

    /// What its processes have printed.
    pub(super) fn output(&self) -> Seen {
        if !self.host.is_ours() {
            return not_ours();
        }
        let logs = self.host.logs();
        let most = logs.iter().map(|(_, size)| *size).max().unwrap_or(0);
        let words = format!("at most {} from one process", kib(most));
        if most < LOG_LIMIT as u64 {
            return Seen::well(words);
        }
        let came = format!(
            "more than {} in {}",
            mib(LOG_LIMIT as u64),
            counted(self.games as usize)
        );
        Seen::found(words, vec![plain(Id::TalksALot, None, came)])
    }
}

impl Subject {
    /// Whether every call of the game has been put to it.
    pub(super) fn every_call(&self, broken: bool) -> Seen {
        let calls = referee_games::Calls::of(self.kind.path());
        let two = self.kind.info().seats == 2;
        let mut put = Vec::new();
        let mut missing = Vec::new();
        for name in calls.names() {
            match self.calls.get(name) {
                Some(times) => put.push(format!("{name} {times}")),
                // A game of two is over when one leaves.
                None if two && name == "forfeit" => {}
                None => missing.push(name),
            }
        }
        let put = put.join(", ");
        match missing.as_slice() {
            [] => Seen::well(put),
            _ if broken => Seen::NotLookedAt(format!("put before the foul: {put}")),
            missing => Seen::well(format!("{put}; never put: {}", missing.join(", "))),
        }
    }
}

/// What a bot calls itself, as it may stand in a line: nothing that a terminal
/// obeys, and no more than a line.
fn printable(text: &str) -> String {
    const MOST: usize = 60;
    let mut left = text.chars().filter(|letter| !letter.is_control());
    let mut words: String = left.by_ref().take(MOST).collect();
    if left.next().is_some() {
        words.push('…');
    }
    words
}

/// It was there a moment ago.
fn lost(kind: &'static dyn GameKind, foul: &Foul) -> Seen {
    let id = Id::of_foul(foul.kind());
    Seen::found("", vec![plain(id, Some(kind), foul.to_string())])
}

fn not_ours() -> Seen {
    Seen::NotLookedAt("the arena did not start it".to_owned())
}

/// What came instead of UNIMPLEMENTED.
async fn unknown_service(probe: &Probe, largest: usize) -> Option<String> {
    let mut line = probe.open(NO_SUCH_SERVICE, largest);
    let question = Question {
        seat: Seat::new(0),
        number: 0,
        limit: AT_ONCE,
        call: Bytes::new(),
    };
    /// UNIMPLEMENTED, as a number.
    const UNIMPLEMENTED: i32 = 12;
    match line.ask(question).await.heard {
        SeatReply::Foul(Foul::Unsupported { .. }) => None,
        SeatReply::Foul(Foul::ErrorStatus { code, .. }) if code == UNIMPLEMENTED => None,
        SeatReply::Foul(foul) => Some(foul.to_string()),
        SeatReply::Answer(_) => Some("an answer".to_owned()),
        SeatReply::Nothing => Some(format!("nothing within {}", about(AT_ONCE))),
    }
}

/// By how many bytes memory has grown and over how many games, where it has grown
/// steadily: the first quarter of the games is left out as warming up; what follows
/// is cut into blocks, and the least that was held in a block must rise from each
/// block to the next.
fn growth(held: &[(usize, u64)]) -> Option<(u64, usize)> {
    let warm = &held[held.len() / 4..];
    let (begins, ends) = (warm.first()?.0, warm.last()?.0);
    let block = warm.len() / BLOCKS;
    if block == 0 {
        return None;
    }
    let least: Vec<u64> = warm
        .chunks_exact(block)
        .take(BLOCKS)
        .filter_map(|block| block.iter().map(|(_, bytes)| *bytes).min())
        .collect();
    let grown = least.last()?.checked_sub(*least.first()?)?;
    // From the first block to the last: of so many games one block is missing.
    let over = (ends - begins) * (BLOCKS - 1) / BLOCKS;
    let steady = least
        .windows(2)
        .all(|pair| pair[1] > pair[0] && pair[1] - pair[0] > grown / (4 * BLOCKS as u64));
    let much = grown > GROWTH && grown > GROWTH_A_GAME * over as u64;
    (steady && much && over > 0).then_some((grown, over))
}

fn mib(bytes: u64) -> String {
    format!("{:.1} MiB", bytes as f64 / 1_048_576.0)
}

fn kib(bytes: u64) -> String {
    format!("{:.1} KiB", bytes as f64 / 1024.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn held(of: impl Fn(u64) -> u64) -> Vec<(usize, u64)> {
        (1..=400).map(|game| (game as usize, of(game))).collect()
    }

    #[test]
    fn what_a_bot_calls_itself_fits_a_line_and_moves_no_cursor() {
        assert_eq!(printable("best bot 2.0 棋"), "best bot 2.0 棋");
        assert_eq!(printable("\u{1b}[2Jred\r\n\u{9b}x"), "[2Jredx");
        assert_eq!(printable(&"x".repeat(60)).chars().count(), 60);
        let cut = printable(&"y".repeat(1_000_000));
        assert_eq!(cut, format!("{}…", "y".repeat(60)));
    }

    #[test]
    fn memory_that_rises_to_the_end_grows() {
        let (grown, over) = growth(&held(|game| 64 * 1024 * game)).unwrap();
        assert_eq!(grown / over as u64 / 1024, 64);
        // With what comes and goes on top of it.
        assert!(growth(&held(|game| 64 * 1024 * game + game % 7 * 3_000_000)).is_some());
    }

    #[test]
    fn memory_that_has_warmed_up_does_not() {
        let mib = 1024 * 1024;
        assert_eq!(growth(&held(|_| 50 * mib)), None);
        assert_eq!(growth(&held(|game| game.min(90) * mib)), None);
        assert_eq!(
            growth(&held(|game| if game < 250 { 5 } else { 60 } * mib)),
            None
        );
        assert_eq!(growth(&held(|game| game % 50 * mib)), None);
        // Less than a page a game.
        assert_eq!(growth(&held(|game| game * 1024)), None);
        assert_eq!(growth(&[]), None);
    }
}

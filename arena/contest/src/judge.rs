//! What takes time: entries are built one after another, their exams are made and counted, rounds of
//! the league and the final begin. All that is done is in the store; whoever dies in between is followed
//! by another who goes on.

use std::{
    collections::{BTreeMap, BTreeSet},
    path::PathBuf,
    pin::Pin,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use arena_events::exam::ExamVerdict;
use arena_ladder::{Entrant, Standings};
use arena_store::{
    By, Contest, ContestId, ContestRun, ContestRunKind, Contestant, DetailsOf, Entry, EntryState,
    GameFilter, GameRow, NewArchive, NewEntrant, Role, Store, TournamentState,
};
use arena_tournament::{Isolation, OnKubernetes, WallClock, find_game};
use referee_core::{Seat, SeatFoul, printable};
use tokio::{
    task::JoinSet,
    time::{Instant, MissedTickBehavior},
};
use tokio_util::sync::CancellationToken;

use crate::{
    ContestError, ContestRules, EntryDetails, EntryFinding, EntryOutcome, EntryShare, ExamPart,
    Fault, Phase, PlayedGame,
    exam::{self, GamesPlace, Meeting, exam_points, exam_verdict, verdict_words},
    file::{ExamRules, games_of_each},
    ladder::{LadderState, LadderTurn, Pairing, Player},
    outcome::{MeetingResult, kept},
};

/// Time between two looks at what is to be done.
const GLANCE: Duration = Duration::from_secs(1);
/// The most entries that are built at once.
const BUILDS: usize = 1;
/// How often our own failure lets an entry be judged anew.
const AGAIN: u32 = 3;
/// How long an entry waits after a failure of our own, before it is judged anew.
const PAUSE: Duration = Duration::from_secs(10);
/// The longest time that a check may take: most take a few seconds.
const LONGEST_CHECK: Duration = Duration::from_mins(1);
/// The entry whose exam it is.
const EXAMINED: Entrant = Entrant::new(0);
/// More games than an exam has.
const GAMES: u32 = 1000;
/// More deals than a round of a ladder has.
const GROUPS: u32 = 1_000_000;

/// An entry that was built.
#[derive(Clone, Debug)]
pub struct BuiltEntry {
    /// SHA-256 of the unpacked archive with its files.
    pub hash: String,
    /// Number of its unpacked bytes.
    pub size: u64,
    /// The archive, packed.
    pub packed: Vec<u8>,
    /// How its bot is started: `packed:HASH` and so on.
    pub spec: String,
    /// What the build has printed.
    pub log: String,
}

/// Reason why an entry was not built.
#[derive(Clone, Debug)]
pub enum BuildFailure {
    /// The entry is at fault.
    Theirs {
        /// Why.
        fault: Fault,
        /// What the build has printed.
        log: String,
    },
    /// The machine or the arena is at fault, and it may be tried again.
    Ours(String),
}

/// What was handed in, to be built.
#[derive(Clone, Debug)]
pub struct BuildJob {
    /// The contest and the number of the entry, as in `spring.7`.
    pub entry: String,
    /// The name of the file.
    pub file: String,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// The game's name.
    pub game: String,
    /// The most bytes that it may have.
    pub upload: u64,
}

/// An entry of a contest.
type EntryKey = (ContestId, u64);

/// The entries that are being built, and those that wait after a failure of our own.
#[derive(Default)]
struct Building {
    now: BTreeSet<EntryKey>,
    waits: BTreeMap<EntryKey, Instant>,
    /// Contests of which nothing more is done: their people are forgotten.
    over: BTreeSet<ContestId>,
}

impl Building {
    fn may_begin(&self, key: EntryKey) -> bool {
        let waits = self.waits.get(&key);
        !self.now.contains(&key) && waits.is_none_or(|until| Instant::now() >= *until)
    }
}

/// Builds what was handed in. It blocks, and ends soon after it is told to by the flag.
pub type BuildSources =
    dyn Fn(&BuildJob, &AtomicBool) -> Result<BuiltEntry, BuildFailure> + Send + Sync;

/// A bot that was built, to be checked.
#[derive(Clone, Debug)]
pub struct CheckJob {
    /// Its name as a bot.
    pub name: String,
    /// SHA-256 of its unpacked archive.
    pub hash: String,
    /// The archive, packed.
    pub packed: Vec<u8>,
    /// How it is started.
    pub spec: String,
    /// The game's name.
    pub game: String,
    /// The limit of a move.
    pub per_move: Duration,
    /// The most memory that it may add after its start, in MiB.
    pub memory_mib: u64,
}

/// What a check finds, or why it could not be made, which is the machine's fault or the arena's.
pub type Checking = Pin<Box<dyn Future<Output = Result<Vec<EntryFinding>, String>> + Send>>;

/// Checks a bot. It ends at once when it is dropped.
pub type CheckBuilt = dyn Fn(CheckJob) -> Checking + Send + Sync;

/// Does what the contests of a store ask for.
pub struct Judge {
    store: Store,
    build: Arc<BuildSources>,
    check: Option<Arc<CheckBuilt>>,
    /// Where games are played.
    place: GamesPlace,
    /// How long an entry waits after a failure of our own.
    pause: Duration,
    clock: WallClock,
}

impl Judge {
    /// One who judges the contests of a store. Nothing is judged yet.
    #[must_use]
    pub fn new(store: Store, build: Arc<BuildSources>, folder: PathBuf, clock: WallClock) -> Self {
        Self {
            store,
            build,
            check: None,
            place: GamesPlace {
                folder,
                kubernetes: None,
            },
            pause: PAUSE,
            clock,
        }
    }

    /// What was built is checked before its exam.
    #[must_use]
    pub fn checking(self, check: Arc<CheckBuilt>) -> Self {
        Self {
            check: Some(check),
            ..self
        }
    }

    /// Games are played on Kubernetes, each bot in a pod of its own.
    #[must_use]
    pub fn on_kubernetes(mut self) -> Self {
        self.place.kubernetes = Some(OnKubernetes {
            isolation: Isolation::Pod,
            games: None,
        });
        self
    }

    /// After a failure of our own an entry waits so long, and not 10 s.
    #[must_use]
    pub fn waiting(self, pause: Duration) -> Self {
        Self { pause, ..self }
    }

    /// Judges until it is stopped; what is being built then is built again by the next one.
    pub async fn run(&self, stop: &CancellationToken) {
        let mut glance = tokio::time::interval(GLANCE);
        glance.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut builds: JoinSet<(EntryKey, bool)> = JoinSet::new();
        let mut building = Building::default();
        loop {
            tokio::select! {
                biased;
                () = stop.cancelled() => break,
                Some(ended) = builds.join_next() => match ended {
                    Ok((ended, failed)) => {
                        building.now.remove(&ended);
                        if failed {
                            building.waits.insert(ended, Instant::now() + self.pause);
                        }
                    }
                    // One that panicked is known by its absence alone.
                    Err(_) if builds.is_empty() => building.now.clear(),
                    Err(_) => {}
                },
                _ = glance.tick() => {}
            }
            let contests = match self.store.contests().await {
                Ok(contests) => contests,
                Err(error) => {
                    tracing::warn!(%error, "could not read which contests there are");
                    continue;
                }
            };
            // The oldest first.
            for contest in contests.into_iter().rev() {
                let name = contest.name.clone();
                let turn = self.turn(contest, &mut builds, &mut building, stop);
                if let Err(error) = turn.await {
                    tracing::warn!(contest = name, %error, "a contest could not go on");
                }
            }
        }
        // Each hears that it is to end.
        while builds.join_next().await.is_some() {}
    }

    /// Does what one contest asks for now.
    async fn turn(
        &self,
        contest: Contest,
        builds: &mut JoinSet<(EntryKey, bool)>,
        building: &mut Building,
        stop: &CancellationToken,
    ) -> Result<(), ContestError> {
        if building.over.contains(&contest.id) {
            return Ok(());
        }
        let rules = ContestRules::of(&contest)?;
        let forgets = rules.forgets_unix_ms(contest.published_unix_ms);
        if forgets.is_some_and(|at| self.clock.unix_ms() >= at) {
            self.forget(&contest).await?;
            building.over.insert(contest.id);
            return Ok(());
        }
        let open = self.store.open_entries(contest.id).await?;
        for entry in &open {
            if entry.state == EntryState::Playing {
                self.count(&contest, &rules, entry).await?;
            }
        }
        let waiting: Vec<&Entry> = open
            .iter()
            .filter(|entry| matches!(entry.state, EntryState::Received | EntryState::Building))
            .filter(|entry| building.may_begin((contest.id, entry.number)))
            .collect();
        for entry in in_turn(&waiting) {
            if building.now.len() >= BUILDS {
                break;
            }
            let taken = self
                .store
                .take_entry(contest.id, entry.number, entry.attempt);
            let Some(entry) = taken.await? else {
                continue;
            };
            let key = (contest.id, entry.number);
            building.waits.remove(&key);
            building.now.insert(key);
            let one = OneBuild {
                store: self.store.clone(),
                build: self.build.clone(),
                check: self.check.clone(),
                place: self.place.clone(),
                contest: contest.clone(),
                rules: rules.clone(),
                now: self.clock.unix_ms(),
                stop: stop.clone(),
            };
            builds.spawn(async move {
                let name = one.contest.name.clone();
                let number = entry.number;
                let is_ours = match one.run(entry).await {
                    Ok(is_ours) => is_ours,
                    Err(error) => {
                        tracing::warn!(contest = name, entry = number, %error, "could not be built");
                        true
                    }
                };
                (key, is_ours)
            });
        }
        self.meet(&contest, &rules, &open).await
    }

    /// Forgets all people of a contest but its organisers.
    async fn forget(&self, contest: &Contest) -> Result<(), ContestError> {
        let by = By {
            who: "keep_days",
            at_unix_ms: self.clock.unix_ms(),
        };
        for person in self.store.people(contest.id).await? {
            if person.role != Role::Organiser && person.name.is_some() {
                let (id, number) = (contest.id, person.number);
                self.store.forget_person(id, number, by).await?;
            }
        }
        Ok(())
    }

    /// Counts what came of the exam of an entry, when all of it is played.
    async fn count(
        &self,
        contest: &Contest,
        rules: &ContestRules,
        entry: &Entry,
    ) -> Result<(), ContestError> {
        let all = self.store.runs_of_entry(contest.id, entry.number).await?;
        let own = exam::prefix(contest, entry);
        let runs: Vec<&ContestRun> = all
            .iter()
            .filter(|run| run.name.starts_with(&own))
            .collect();
        if !runs.iter().all(|run| run.state.is_final()) {
            return Ok(());
        }
        let mut outcome = EntryOutcome::of(entry);
        let mut games = Vec::new();
        let mut score = 0;
        let mut passed = 0;
        let mut starts_failed = 0;
        for run in &runs {
            let part = part_of(rules, run.part);
            let (entrants, played) = self.played(run).await?;
            let mut points = 0;
            for row in &played {
                let game = played_game(run, part, row, &entrants, EXAMINED);
                points += game.points;
                starts_failed += u32::from(is_start_failure(row));
                games.push(game);
            }
            score += match part {
                Some(ExamPart::Case(case)) if points >= case.minimum && !played.is_empty() => {
                    passed += 1;
                    case.points
                }
                Some(ExamPart::Case(_)) => 0,
                _ => points,
            };
        }
        let ours = runs
            .iter()
            .any(|run| run.state == TournamentState::Cancelled)
            || games
                .iter()
                .any(|game| game.verdict == ExamVerdict::SystemError);
        outcome.passed =
            matches!(rules.exam, ExamRules::Cases(_)).then(|| (passed, runs.len() as u32));
        if ours {
            return again(&self.store, contest, entry, "a game of the exam failed").await;
        }
        if !games.is_empty() && starts_failed as usize == games.len() {
            let why = games.iter().find_map(|game| game.foul.clone());
            outcome.fault = Some(Fault {
                verdict: verdict_words(ExamVerdict::RuntimeError).to_owned(),
                words: why.unwrap_or_else(|| "it did not start".to_owned()),
            });
        }
        let score = outcome.fault.is_none().then_some(score);
        let which = DetailsOf::Entry(entry.number);
        let known = self.store.entry_details(contest.id, which).await?;
        let known = known.into_values().next().unwrap_or_default();
        let details = EntryDetails {
            games,
            ..serde_json::from_value(known).unwrap_or_default()
        };
        let (outcome, details) = (kept(&outcome), kept(&details));
        self.store
            .end_entry(contest.id, entry, &outcome, Some(&details), score)
            .await?;
        Ok(())
    }

    /// The entrants of a run, by number, and its games in their order.
    async fn played(
        &self,
        run: &ContestRun,
    ) -> Result<(Vec<NewEntrant>, Vec<GameRow>), ContestError> {
        let tournament = self.store.tournament(&run.name).await?;
        let entrants = tournament.map_or_else(Vec::new, |tournament| tournament.entrants);
        let filter = GameFilter::default();
        let games = self.store.games(run.tournament, &filter, GAMES).await?;
        Ok((entrants, games))
    }

    /// Counts one of these, a round of the league or a final, that is over: the share of the points of
    /// each entry, or what is known of a ladder after it.
    async fn count_meeting(
        &self,
        contest: &Contest,
        rules: &ContestRules,
        runs: &[ContestRun],
        at: usize,
    ) -> Result<serde_json::Value, ContestError> {
        let run = &runs[at];
        let tournament = self.store.tournament(&run.name).await?;
        let entrants = tournament.map_or_else(Vec::new, |tournament| tournament.entrants);
        let result = match run.kind == ContestRunKind::League && rules.ladder().is_some() {
            true => {
                let known: BTreeMap<u64, u64> = (self.store.entries(contest.id).await?.iter())
                    .map(|entry| (entry.number, entry.contestant))
                    .collect();
                let players = entrants.iter().map(|entrant| {
                    let entry = exam::entry_of(&entrant.name).unwrap_or(0);
                    Player {
                        contestant: known.get(&entry).copied().unwrap_or(0),
                        entry,
                        spec: entrant.spec.clone(),
                    }
                });
                let players: Vec<Player> = players.collect();
                let groups = self.store.scores(run.tournament, None, GROUPS).await?;
                let mut state = LadderState::after(&runs[..at]);
                state.add(&players, &rules.day(run.created_unix_ms), &groups);
                MeetingResult::Ladder(state)
            }
            false => {
                let seats = find_game(&rules.game)?.info().seats;
                let counts = self.store.group_counts(run.tournament).await?;
                let standings = Standings::of(seats, entrants.len() as u32, &counts, &[]);
                let shares = standings.rows.iter().filter_map(|row| {
                    Some(EntryShare {
                        entry: exam::entry_of(&entrants[row.entrant.index()].name)?,
                        percent: (1000.0 * row.score?).round() / 10.0,
                        games: row.games,
                    })
                });
                MeetingResult::Shares(shares.collect())
            }
        };
        let result = kept(&result);
        self.store.set_run_result(run.tournament, &result).await?;
        Ok(result)
    }

    /// Begins a round of the league, or the final, if it is time.
    async fn meet(
        &self,
        contest: &Contest,
        rules: &ContestRules,
        open: &[Entry],
    ) -> Result<(), ContestError> {
        if rules.league.is_none() && rules.r#final.is_none() {
            return Ok(());
        }
        let now = self.clock.unix_ms();
        let mut runs = self.store.meetings(contest.id, None).await?;
        let is_uncounted = |run: &ContestRun| run.state.is_final() && run.result.is_none();
        for at in 0..runs.len() {
            if is_uncounted(&runs[at]) {
                let result = self.count_meeting(contest, rules, &runs, at).await?;
                runs[at].result = Some(result);
            }
        }
        let of_kind = |kind| runs.iter().filter(move |run| run.kind == kind);
        let contestants = self.store.contestants(contest.id).await?;
        let extended = contestants.iter().filter_map(|one| one.until_unix_ms).max();
        let ends = rules.closes_unix_ms.max(extended.unwrap_or(0));
        let is_published = contest.published_unix_ms.is_some();
        let (kind, round, deals) = match rules.phase(now, is_published) {
            Phase::Open | Phase::Frozen => {
                let Some(league) = &rules.league else {
                    return Ok(());
                };
                let last = of_kind(ContestRunKind::League).next_back();
                let every = league.every.as_millis() as i64;
                let is_due = last.is_none_or(|last| {
                    last.state.is_final() && now - last.created_unix_ms >= every
                });
                if !is_due || rules.is_quiet(now) {
                    return Ok(());
                }
                let round = last.map_or(1, |last| last.part + 1);
                (ContestRunKind::League, round, league.deals)
            }
            Phase::Closed => {
                let Some(the_final) = &rules.r#final else {
                    return Ok(());
                };
                let is_waited_for = |entry: &Entry| entry.place.official;
                let begun = of_kind(ContestRunKind::Final).next().is_some();
                if begun || now < ends || open.iter().any(is_waited_for) {
                    return Ok(());
                }
                (ContestRunKind::Final, 1, the_final.deals)
            }
            Phase::Announced | Phase::Published => return Ok(()),
        };
        let all = self.store.entries(contest.id).await?;
        let players = in_meeting(&contestants, &all);
        let pairing = match (kind, &rules.league, rules.ladder()) {
            (ContestRunKind::League, Some(league), Some(ladder)) => {
                let challenges = self.store.open_challenges(contest.id).await?;
                let seats = find_game(&rules.game)?.info().seats;
                let chance = *contest.root.seed("ladder", round.into()).bytes();
                let next = LadderTurn {
                    games: games_of_each(league.deals, seats),
                    games_a_day: ladder.games_a_day,
                    seats,
                    round,
                    day: &rules.day(now),
                    chance,
                };
                LadderState::after(&runs).pair(next, players, &challenges)
            }
            _ => (players.len() > 1).then_some(Pairing {
                players,
                tables: Vec::new(),
                challenges: Vec::new(),
            }),
        };
        let Some(pairing) = pairing else {
            return Ok(());
        };
        let meeting = Meeting {
            kind,
            round,
            deals,
            players: &pairing.players,
            tables: &pairing.tables,
        };
        let run = exam::meeting(contest, rules, meeting, &self.place, now)?;
        self.store
            .begin_contest_run(contest.id, &run, &pairing.challenges)
            .await?;
        Ok(())
    }
}

/// An entry that is being built.
struct OneBuild {
    store: Store,
    build: Arc<BuildSources>,
    check: Option<Arc<CheckBuilt>>,
    place: GamesPlace,
    contest: Contest,
    rules: ContestRules,
    now: i64,
    stop: CancellationToken,
}

impl OneBuild {
    /// Builds it. True where that failed by our own fault.
    async fn run(self, entry: Entry) -> Result<bool, ContestError> {
        let id = self.contest.id;
        let Some(bytes) = self.store.upload(id, entry.number).await? else {
            let fault = Fault {
                verdict: "Withdrawn".to_owned(),
                words: "the person who handed it in was forgotten".to_owned(),
            };
            self.fail(&entry, fault, String::new()).await?;
            return Ok(false);
        };
        let job = BuildJob {
            entry: format!("{}.{}", self.contest.name, entry.number),
            file: entry.file.clone(),
            bytes,
            game: self.rules.game.clone(),
            upload: self.rules.limits.upload,
        };
        let (build, ends) = (self.build.clone(), Arc::new(AtomicBool::new(false)));
        let told = ends.clone();
        let mut building = tokio::task::spawn_blocking(move || build(&job, &told));
        let built = tokio::select! {
            built = &mut building => built,
            () = self.stop.cancelled() => {
                ends.store(true, Ordering::Relaxed);
                building.await
            }
        };
        let built = match built {
            Ok(Ok(built)) => built,
            Ok(Err(BuildFailure::Theirs { fault, log })) => {
                self.fail(&entry, fault, log).await?;
                return Ok(false);
            }
            // It is built again by whoever comes next, as if nothing had been.
            Ok(Err(BuildFailure::Ours(_))) if self.stop.is_cancelled() => return Ok(true),
            Ok(Err(BuildFailure::Ours(why))) => {
                again(&self.store, &self.contest, &entry, &why).await?;
                return Ok(true);
            }
            Err(panicked) => {
                let why = panicked.to_string();
                again(&self.store, &self.contest, &entry, &why).await?;
                return Ok(true);
            }
        };
        let archive = NewArchive {
            hash: built.hash.clone(),
            size: built.size,
            packed_by: format!("{} entry {}", self.contest.name, entry.number),
            packed_unix_ms: self.now,
        };
        self.store.add_archive(&archive, &built.packed).await?;
        let Some(findings) = self.findings(&entry, &built).await else {
            return Ok(true);
        };
        let outcome = kept(&EntryOutcome::of(&entry));
        let details = kept(&EntryDetails {
            log: built.log,
            findings,
            games: Vec::new(),
        });
        let (contest, rules) = (&self.contest, &self.rules);
        let runs = exam::exam(contest, rules, &entry, &built.spec, &self.place, self.now)?;
        self.store
            .begin_exam(id, &entry, &built.spec, &outcome, &details, &runs)
            .await?;
        Ok(false)
    }

    /// What a check of a bot finds. A check that can't be made finds nothing: the exam tells what there is
    /// to tell. None where it was stopped before its end.
    async fn findings(&self, entry: &Entry, built: &BuiltEntry) -> Option<Vec<EntryFinding>> {
        let Some(check) = &self.check else {
            return Some(Vec::new());
        };
        let job = CheckJob {
            name: exam::bot_name(entry.number),
            hash: built.hash.clone(),
            packed: built.packed.clone(),
            spec: built.spec.clone(),
            game: self.rules.game.clone(),
            per_move: self.rules.per_move,
            memory_mib: self.rules.memory_mib,
        };
        let found = tokio::select! {
            found = tokio::time::timeout(LONGEST_CHECK, check(job)) => found,
            () = self.stop.cancelled() => return None,
        };
        let found = found.unwrap_or_else(|_| Err(format!("it took over {LONGEST_CHECK:?}")));
        let found = found.unwrap_or_else(|why| {
            let contest = &self.contest.name;
            tracing::warn!(contest, entry = entry.number, why, "could not be checked");
            Vec::new()
        });
        let told = found.into_iter().map(|found| EntryFinding {
            seen: without_places(&found.seen),
            ..found
        });
        Some(told.collect())
    }

    async fn fail(&self, entry: &Entry, fault: Fault, log: String) -> Result<(), ContestError> {
        let outcome = kept(&EntryOutcome {
            fault: Some(fault),
            ..EntryOutcome::of(entry)
        });
        let details = kept(&EntryDetails {
            log,
            ..EntryDetails::default()
        });
        self.store
            .end_entry(self.contest.id, entry, &outcome, Some(&details), None)
            .await?;
        Ok(())
    }
}

/// Lets an entry be judged anew after a failure of our own, or ends it with that after several.
async fn again(
    store: &Store,
    contest: &Contest,
    entry: &Entry,
    why: &str,
) -> Result<(), ContestError> {
    tracing::error!(
        contest = contest.name,
        entry = entry.number,
        why,
        "our own failure"
    );
    let mut outcome = EntryOutcome::of(entry);
    outcome.again += 1;
    outcome.ours = Some(printable(why));
    let ends = outcome.again > AGAIN;
    outcome.fault = ends.then(|| Fault {
        verdict: verdict_words(ExamVerdict::SystemError).to_owned(),
        words: "our own failure, which costs you nothing: the organiser has been told why"
            .to_owned(),
    });
    let outcome = kept(&outcome);
    match ends {
        true => {
            let ended = store.end_entry(contest.id, entry, &outcome, None, None);
            ended.await?
        }
        false => store.put_back(contest.id, entry, &outcome).await?,
    };
    Ok(())
}

/// Those who wait in the order in which they are built: first the first entry of everybody, then the
/// second ones.
pub(crate) fn in_turn<'a>(waiting: &[&'a Entry]) -> Vec<&'a Entry> {
    let mut seen: BTreeMap<u64, u32> = BTreeMap::new();
    let mut order: Vec<(u32, u64, &Entry)> = Vec::new();
    for entry in waiting {
        let before = seen.entry(entry.contestant).or_default();
        order.push((*before, entry.number, entry));
        *before += 1;
    }
    order.sort_by_key(|(before, number, _)| (*before, *number));
    order.into_iter().map(|(_, _, entry)| entry).collect()
}

/// How many entries are before each that is not judged, by its number.
pub(crate) fn ahead(entries: &[Entry]) -> BTreeMap<u64, usize> {
    let (playing, waiting): (Vec<&Entry>, Vec<&Entry>) = entries
        .iter()
        .filter(|one| !one.state.is_final())
        .partition(|one| one.state == EntryState::Playing);
    // One that plays waits for no build.
    let plays = playing.iter().map(|one| (0, *one));
    let builds = in_turn(&waiting).into_iter().enumerate();
    let places = plays.chain(builds).map(|(builds, entry)| {
        let plays = playing.partition_point(|one| one.number < entry.number);
        (entry.number, plays + builds)
    });
    places.collect()
}

/// Those who play in a round of the league or in the final: of every contestant who is not out the
/// newest official entry that was judged.
pub(crate) fn in_meeting(contestants: &[Contestant], entries: &[Entry]) -> Vec<Player> {
    let mut newest: BTreeMap<u64, Player> = BTreeMap::new();
    for entry in entries {
        let is_valid = entry.state == EntryState::Judged && entry.place.official;
        if let (true, Some(spec)) = (is_valid, &entry.spec) {
            let player = Player {
                contestant: entry.contestant,
                entry: entry.number,
                spec: spec.clone(),
            };
            newest.insert(entry.contestant, player);
        }
    }
    for one in contestants.iter().filter(|one| one.disqualified.is_some()) {
        newest.remove(&one.number);
    }
    newest.into_values().collect()
}

fn part_of(rules: &ContestRules, part: u32) -> Option<ExamPart<'_>> {
    match &rules.exam {
        ExamRules::Groups { .. } => Some(ExamPart::Group(part)),
        ExamRules::Cases(cases) => cases.get(part as usize - 1).map(ExamPart::Case),
        ExamRules::None {} => None,
    }
}

/// A game of a run, as the entry has played it that is this entrant.
pub(crate) fn played_game(
    run: &ContestRun,
    part: Option<ExamPart<'_>>,
    row: &GameRow,
    entrants: &[NewEntrant],
    own: Entrant,
) -> PlayedGame {
    let seat = row.seat_of(own).unwrap_or(Seat::new(0));
    let mut others = row.lineup.iter().flatten().filter(|who| **who != own);
    let opponent = others.find_map(|who| entrants.get(who.index()));
    let foul = row.fouls.iter().find(|foul| foul.seat == seat);
    PlayedGame {
        tournament: run.name.clone(),
        group: row.group,
        seating: row.seating,
        part: run.part,
        opponent: opponent.map_or_else(String::new, |opponent| opponent.name.clone()),
        seat: seat.index() as u8,
        verdict: exam_verdict(row, seat),
        points: part.map_or(0, |part| exam_points(part, row, seat)),
        plies: row.plies,
        foul: foul.map(|foul| without_places(&foul.foul.to_string())),
    }
}

/// A text in which files of a packed bot are named as in its folder, and not by where it lies on the
/// machine that played.
pub(crate) fn without_places(text: &str) -> String {
    const FILES: &str = "/files/";
    const HASH: usize = 64;
    let mut told = String::new();
    let mut rest = text;
    while let Some(at) = rest.find(FILES) {
        let (before, after) = (&rest[..at], &rest[at + FILES.len()..]);
        let hash = before.rfind('/').filter(|slash| {
            let name = &before[slash + 1..];
            name.len() == HASH && name.bytes().all(|b| b.is_ascii_hexdigit())
        });
        match hash {
            Some(slash) => {
                let place = &before[..slash];
                let begins = place.rfind(|c: char| c.is_whitespace() || "\"'`(=:".contains(c));
                told += &place[..begins.map_or(0, |begins| begins + 1)];
            }
            None => {
                told += before;
                told += FILES;
            }
        }
        rest = after;
    }
    told + rest
}

/// True if the entry lost before the game began.
fn is_start_failure(row: &GameRow) -> bool {
    let seat = row.seat_of(EXAMINED).unwrap_or(Seat::new(0));
    let own = |foul: &SeatFoul| foul.seat == seat && foul.foul.kind().is_start();
    row.fouls.iter().any(own)
}

#[cfg(test)]
mod tests {
    use arena_store::Place;

    use super::*;

    fn entry(number: u64, contestant: u64) -> Entry {
        Entry {
            number,
            contestant,
            person: contestant,
            part: 1,
            received_unix_ms: 0,
            place: Place {
                official: true,
                counted: true,
            },
            state: EntryState::Received,
            attempt: 0,
            file: String::new(),
            hash: String::new(),
            outcome: None,
            spec: None,
            score: None,
            trial_of: None,
        }
    }

    #[test]
    fn reasons_name_files_as_their_author_does() {
        let hash = "0a".repeat(32);
        let place = format!("/var/cache/arena/{hash}/files/");
        for (text, expected) in [
            (
                format!("File \"{place}bot.py\", line 3"),
                "File \"bot.py\", line 3",
            ),
            (format!("{place}a/b: {place}c"), "a/b: c"),
            (
                "see /archives/1/files/x".to_owned(),
                "see /archives/1/files/x",
            ),
            ("no answer".to_owned(), "no answer"),
        ] {
            assert_eq!(without_places(&text), expected);
        }
    }

    #[test]
    fn nobody_waits_for_all_entries_of_another() {
        let entries = [
            entry(1, 1),
            entry(2, 1),
            entry(3, 1),
            entry(4, 2),
            entry(5, 3),
            entry(6, 2),
        ];
        let waiting: Vec<&Entry> = entries.iter().collect();
        let order: Vec<u64> = in_turn(&waiting).iter().map(|entry| entry.number).collect();
        assert_eq!(order, [1, 4, 5, 2, 6, 3]);
    }

    #[test]
    fn those_who_play_and_those_who_are_built_before_an_entry_are_before_it() {
        let mut entries = [
            entry(1, 1),
            entry(2, 1),
            entry(3, 2),
            entry(4, 2),
            entry(5, 1),
            entry(6, 3),
        ];
        for (at, state) in [
            (0, EntryState::Playing),
            (2, EntryState::Playing),
            (5, EntryState::Judged),
        ] {
            entries[at].state = state;
        }
        let expected = [(1, 0), (2, 1), (3, 1), (4, 3), (5, 4)];
        assert!(ahead(&entries).into_iter().eq(expected));
    }
}

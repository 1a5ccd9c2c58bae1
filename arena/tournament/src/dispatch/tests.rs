//! The dispatcher's state machine by itself: chunks are leased, lost, given back and
//! reported in every order. No game is played, and the clock moves when the test says so.
//! Games are written as in warnings, `GROUP.SEATING`.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use arena_ladder::{Entrant, GroupScore, SetAsideRule, Sprt};
use arena_store::ScoredGroup;
use parking_lot::Mutex;
use proptest::prelude::*;
use referee::Live;
use referee_bots::{Entry, Schemes};
use referee_core::{Foul, Limits, Root, Seat, SeatFoul};
use referee_worker::{
    Abilities, Dispatch as _, Summary,
    lease::{
        ChunkId, GameKey, GameReport, GiveBack, LeaseId, LeaseReply, LeaseRequest, RunId, SessionId,
    },
};
use serde_json::json;

use super::{
    DispatchOptions, Dispatcher, Lapse, LostLease, RunCounters, RunStall,
    state::{ChunkRequest, DispatchState, GroupProgress, OpenLineup, PlannedGame},
};
use crate::{Definition, MemoryResults, Observer, Plan, RunEvent, Silent, Snapshot, Warning};
use referee_worker::lease::ReportReply::{self, Accepted, Duplicate, NotHeld, Stale};

/// The time for which a lease is kept without a sign of its worker.
const LEASE: Duration = Duration::from_secs(60);
/// A set-up of Mahjong that says who is dealt what.
const HANDS: [&str; 2] = ["22367c1478b1389d", "147c258b1234567d"];

/// The outcome of every game.
#[derive(Clone, Copy)]
enum Outcome {
    Draw,
    WonBy(Entrant),
    NotStartedBy(Entrant),
}

/// A run whose games are played by reporting them.
struct Run {
    plan: Arc<Plan>,
    state: DispatchState,
    now: Instant,
    outcome: Outcome,
    /// Number of times that each chunk has been leased.
    attempts: BTreeMap<ChunkId, u32>,
    counted: BTreeSet<GameKey>,
    /// The scores of groups, complete or not.
    scores: BTreeMap<u64, ScoredGroup>,
}

/// A chunk that a worker has.
#[derive(Clone)]
struct Held {
    id: LeaseId,
    games: Vec<PlannedGame>,
    until: Instant,
}

fn definition(game: &str, deals: u64) -> Definition {
    Definition {
        deals,
        filler: "exec:filler".to_owned(),
        ..Definition::round_robin(game, vec![json!(null)])
    }
}

/// Connect Four until a test decides, at most 100 deals.
fn definition_with_test() -> Definition {
    let sprt = Sprt {
        elo0: 0.0,
        elo1: 400.0,
        alpha: 0.05,
        beta: 0.05,
        model: arena_ladder::sprt::Model::Logistic,
    };
    Definition {
        sprt: Some(sprt),
        ..definition("connect_four", 100)
    }
}

fn plan(definition: Definition, bots: usize) -> Arc<Plan> {
    let schemes = Schemes::with(Vec::new());
    let texts: Vec<String> = (0..bots).map(|bot| format!("bot-{bot}=exec:bot")).collect();
    let entries = Entry::read_all(&texts, &schemes).unwrap();
    Arc::new(Plan::new(definition, entries, Root::new([7; 32]), &schemes).unwrap())
}

/// Two bots, Connect Four, so many deals.
fn match_of(deals: u64) -> Run {
    Run::new(definition("connect_four", deals), 2)
}

fn key(game: &PlannedGame) -> GameKey {
    GameKey {
        group: game.group.number,
        seating: game.seating,
    }
}

fn game(text: &str) -> GameKey {
    let (group, seating) = text.split_once('.').unwrap();
    GameKey {
        group: group.parse().unwrap(),
        seating: seating.parse().unwrap(),
    }
}

/// So many games of this match, or of any, that every worker can play.
fn wanted(matchup: Option<u32>, games: u64) -> ChunkRequest<'static> {
    ChunkRequest {
        worker: "lab",
        games,
        matchup,
        fits: &|_| true,
    }
}

impl Held {
    fn table(&self) -> String {
        let games = self.games.iter().map(key);
        let games: Vec<_> = games
            .map(|game| format!("{}.{}", game.group, game.seating))
            .collect();
        games.join(" ")
    }
}

impl Run {
    fn new(definition: Definition, bots: usize) -> Self {
        let plan = plan(definition, bots);
        Self {
            state: DispatchState::new(RunId(0), plan.clone(), BTreeMap::new(), BTreeMap::new())
                .unwrap(),
            plan,
            now: Instant::now(),
            outcome: Outcome::Draw,
            attempts: BTreeMap::new(),
            counted: BTreeSet::new(),
            scores: BTreeMap::new(),
        }
    }

    /// Leases a chunk of about so many games.
    fn lease(&mut self, games: u64) -> Option<Held> {
        self.lease_of(None, games)
    }

    /// The same, of this match alone where it is said.
    fn lease_of(&mut self, matchup: Option<u32>, games: u64) -> Option<Held> {
        let until = self.now + LEASE;
        let wanted = wanted(matchup, games);
        let chunk = self.state.lease(&wanted, None, self.now, until).unwrap()?;
        let attempt = self.attempts.entry(chunk.id).or_insert(0);
        *attempt += 1;
        let id = LeaseId {
            run: RunId(0),
            chunk: chunk.id,
            attempt: *attempt,
        };
        self.state.begin(id);
        let games = chunk.games;
        Some(Held { id, games, until })
    }

    /// Leases a chunk, and gives it as text.
    fn next(&mut self, games: u64) -> String {
        let held = self.lease(games);
        held.map_or_else(|| "nothing".to_owned(), |held| held.table())
    }

    /// Leases chunks until there is none, and gives them as text.
    fn rest(&mut self, games: u64) -> Vec<String> {
        let chunks = std::iter::from_fn(|| self.lease(games));
        chunks.map(|held| held.table()).collect()
    }

    /// Reports a game, as the dispatcher does with its results.
    fn report(&mut self, id: LeaseId, key: GameKey) -> ReportReply {
        if let Err(why) = self.state.check_game(id, None, key) {
            return why.into();
        }
        let Some(game) = self.state.game(key) else {
            return Stale;
        };
        if !self.counted.insert(key) {
            return Duplicate;
        }
        let lineup = &game.group.lineup;
        let scored = self.scores.entry(key.group).or_insert_with(|| ScoredGroup {
            matchup: game.group.matchup,
            lineup: lineup.clone(),
            score: GroupScore::new(key.group, lineup.len()),
        });
        let places: Vec<u8> = game
            .order
            .iter()
            .map(|who| self.outcome.place(lineup[*who]))
            .collect();
        let fouls = self.outcome.fouls(&game);
        let scores = vec![0; places.len()];
        scored
            .score
            .add_game(lineup, &game.order, &places, &scores, &fouls);
        match self.state.played(key) {
            GroupProgress::Complete => self.state.score(&scored.score).unwrap(),
            GroupProgress::Open => {}
            GroupProgress::Known => panic!("{key:?} was played before"),
        }
        Accepted
    }

    /// Reports these games, which count.
    fn play(&mut self, held: &Held, games: &str) {
        for text in games.split(' ') {
            assert_eq!(self.report(held.id, game(text)), Accepted, "{text}");
        }
    }

    fn give_back(&mut self, held: &Held) -> bool {
        self.state.give_back(held.id, None, self.now).is_ok()
    }

    /// The process is killed, and another one takes up the run.
    fn resume(&mut self) {
        let games_in_group = self.plan.games_in_group() as u32;
        let (stored, open): (BTreeMap<_, _>, BTreeMap<_, _>) = (self.scores.clone().into_iter())
            .partition(|(_, scored)| scored.score.games == games_in_group);
        let seatings = |group: &u64| {
            let counted = self.counted.iter().filter(|game| game.group == *group);
            counted.map(|game| game.seating).collect()
        };
        let begun = open.keys().map(|group| (*group, seatings(group))).collect();
        self.state = DispatchState::new(RunId(0), self.plan.clone(), stored, begun).unwrap();
    }

    /// Every game that the schedule can have where no match ends early.
    fn all_games(&self) -> impl Iterator<Item = GameKey> + use<> {
        let bots = self.plan.bots.len() as u64;
        let seats = u64::from(self.plan.kind.info().seats);
        let matches = if seats == 2 { bots * (bots - 1) / 2 } else { 1 };
        let seatings = self.plan.games_in_group() as u32;
        let groups = 0..matches * self.plan.definition.deals;
        groups.flat_map(move |group| (0..seatings).map(move |seating| GameKey { group, seating }))
    }

    /// The answers to every query.
    fn answers(&self) -> String {
        let state = &self.state;
        let games = self.all_games().map(|game| {
            let wanted = state.is_wanted(game.group);
            let seat_order = state.game(game).map(|game| game.order);
            (game, wanted, seat_order)
        });
        let games: Vec<_> = games.collect();
        format!(
            "{:?} {:?} {:?} {:?} {games:?}",
            state.progress(),
            state.is_over(),
            state.set_aside(),
            state.next_expiry(),
        )
    }

    fn wanted(&self) -> Vec<u64> {
        let groups: BTreeSet<u64> = self.all_games().map(|game| game.group).collect();
        let wanted = groups
            .into_iter()
            .filter(|group| self.state.is_wanted(*group));
        wanted.collect()
    }
}

impl Outcome {
    fn place(self, who: Option<Entrant>) -> u8 {
        match self {
            Self::Draw => 1,
            Self::WonBy(winner) => 1 + u8::from(who != Some(winner)),
            Self::NotStartedBy(loser) => 1 + u8::from(who == Some(loser)),
        }
    }

    fn fouls(self, game: &PlannedGame) -> Vec<SeatFoul> {
        let Self::NotStartedBy(loser) = self else {
            return Vec::new();
        };
        let seats = (0..).map(Seat::new).zip(&game.order);
        let seats = seats.filter(|(_, who)| game.group.lineup[**who] == Some(loser));
        let foul = Foul::NoStart {
            detail: String::new(),
        };
        let fouls = seats.map(|(seat, _)| SeatFoul {
            seat,
            foul: foul.clone(),
        });
        fouls.collect()
    }
}

#[test]
fn a_chunk_whose_lease_could_not_be_written_down_is_ready_at_once() {
    let mut run = match_of(1);
    let until = run.now + LEASE;
    let chunk = run.state.lease(&wanted(None, 2), None, run.now, until);
    let chunk = chunk.unwrap().unwrap();
    assert_eq!(run.next(2), "nothing");
    run.state.forgo(chunk.id, run.now);
    let held = run.lease(2).unwrap();
    assert_eq!(held.table(), "0.0 0.1");
    // One that is written down stays.
    run.state.forgo(held.id.chunk, run.now);
    assert_eq!(run.next(2), "nothing");
}

#[test]
fn a_deal_whose_score_was_not_taken_down_is_given_out_again() {
    let mut run = match_of(1);
    let held = run.lease(2).unwrap();
    assert_eq!(run.state.played(game("0.0")), GroupProgress::Open);
    assert_eq!(run.state.played(game("0.1")), GroupProgress::Complete);
    // The process that should have read the score was cut off here.
    run.now = held.until;
    assert_eq!(run.next(2), "0.1");
    assert_eq!(run.state.played(game("0.1")), GroupProgress::Complete);
    let score = GroupScore::new(0, 2);
    run.state.score(&score).unwrap();
    // A second report at the same time reads it too.
    run.state.score(&score).unwrap();
    assert_eq!(run.state.progress().0, 1);
}

#[test]
fn a_chunk_has_all_seatings_of_about_as_many_deals_as_were_asked_for() {
    assert_eq!(
        match_of(5).rest(4),
        ["0.0 0.1 1.0 1.1", "2.0 2.1 3.0 3.1", "4.0 4.1"]
    );
    assert_eq!(match_of(2).rest(3), ["0.0 0.1", "1.0 1.1"]);
    assert_eq!(match_of(2).rest(100), ["0.0 0.1 1.0 1.1"]);
}

#[test]
fn who_wants_less_than_a_deal_gets_one_seating_of_it() {
    assert_eq!(match_of(2).rest(1), ["0.0", "0.1", "1.0", "1.1"]);
}

#[test]
fn a_chunk_is_of_one_match() {
    let mut run = Run::new(definition("connect_four", 1), 3);
    assert_eq!(run.rest(100), ["0.0 0.1", "1.0 1.1", "2.0 2.1"]);
}

#[test]
fn who_works_for_one_match_gets_chunks_of_that_one_alone() {
    let mut run = Run::new(definition("connect_four", 4), 4);
    let of = |held: Option<Held>| held.map_or_else(String::new, |held| held.table());
    // Of six matches, with the groups 0 to 3, 4 to 7 and so on.
    assert_eq!(of(run.lease_of(Some(3), 4)), "12.0 12.1 13.0 13.1");
    assert_eq!(of(run.lease_of(Some(1), 4)), "4.0 4.1 5.0 5.1");
    let last = run.lease_of(Some(3), 4).unwrap();
    assert_eq!(run.lease_of(Some(3), 4).map(|held| held.table()), None);
    assert!(!run.state.is_match_over(3), "somebody plays the rest of it");
    // What was cut on the way is there for others.
    assert_eq!(run.next(4), "0.0 0.1 1.0 1.1");
    run.give_back(&last);
    assert_eq!(of(run.lease_of(Some(3), 4)), "14.0 14.1 15.0 15.1");
    assert_eq!(of(run.lease_of(Some(6), 4)), "");
}

#[test]
fn a_match_is_over_when_all_of_it_is_played() {
    let mut run = Run::new(definition("connect_four", 2), 3);
    let open = |run: &Run| {
        let open = run.state.open_matches(4, 100).into_iter();
        open.map(|open| (open.matchup, open.groups))
            .collect::<Vec<_>>()
    };
    assert_eq!(open(&run), [(0, 2), (1, 2), (2, 2)]);
    let held = run.lease_of(Some(1), 100).unwrap();
    run.play(&held, "2.0 2.1 3.0");
    assert!(!run.state.is_match_over(1));
    assert_eq!(open(&run), [(0, 2), (1, 1), (2, 2)]);
    run.play(&held, "3.1");
    assert!(run.state.is_match_over(1));
    assert_eq!(open(&run), [(0, 2), (2, 2)]);
    // Another process knows it before its schedule names these groups.
    run.resume();
    assert_eq!(open(&run), [(0, 2), (2, 2)]);
    assert!(run.lease_of(Some(1), 100).is_none());
    assert!(run.state.is_match_over(1));
    let first: Vec<OpenLineup> = run.state.open_matches(4, 1);
    assert_eq!(first.len(), 1);
}

#[test]
fn as_many_chunks_are_foreseen_as_there_are() {
    for (game, deals, bots) in [
        ("connect_four", 13, 3),
        ("mahjong", 100, 3),
        ("big_two", 7, 5),
    ] {
        for games in [1, 3, 8, 64, 1000] {
            let mut run = Run::new(definition(game, deals), bots);
            let open = run.state.open_matches(games, usize::MAX);
            for OpenLineup {
                matchup, chunks, ..
            } in open
            {
                let chunks_there = std::iter::from_fn(|| run.lease_of(Some(matchup), games));
                assert_eq!(chunks_there.count() as u64, chunks, "{game} {games}");
            }
            assert!(run.lease(games).is_none());
        }
    }
}

#[test]
fn two_workers_never_hold_one_game() {
    let mut run = match_of(9);
    let mut held = BTreeSet::new();
    for games in [1, 6, 2, 3, 100, 1, 7] {
        for game in run.lease(games).iter().flat_map(|held| &held.games) {
            assert!(held.insert(key(game)), "{game:?}");
        }
    }
    assert_eq!(held, run.all_games().collect());
}

#[test]
fn the_chunk_of_a_silent_worker_is_given_again_without_what_it_reported() {
    let mut run = match_of(3);
    let first = run.lease(4).unwrap();
    run.play(&first, "1.0 0.1");
    run.now += LEASE - Duration::from_nanos(1);
    assert_eq!(run.next(4), "2.0 2.1");
    assert_eq!(run.next(4), "nothing");
    run.now += Duration::from_nanos(1);
    let second = run.lease(4).unwrap();
    assert_eq!(second.table(), "0.0 1.1");
    assert_eq!((first.id.chunk, first.id.attempt), (second.id.chunk, 1));
    assert_eq!(second.id.attempt, 2);
}

#[test]
fn a_lease_is_kept_by_renewing_it_and_can_not_be_renewed_once_it_is_lost() {
    let mut run = match_of(1);
    let first = run.lease(2).unwrap();
    for _ in 0..5 {
        run.now += LEASE / 2;
        assert!(run.state.renew(first.id, None, run.now, run.now + LEASE));
        assert_eq!(run.next(2), "nothing");
        assert_eq!(run.state.next_expiry(), Some(run.now + LEASE));
    }
    run.now += LEASE;
    let second = run.lease(2).unwrap();
    assert!(!run.state.renew(first.id, None, run.now, run.now + LEASE));
    assert!(run.state.renew(second.id, None, run.now, run.now + LEASE));
}

#[test]
fn a_late_report_counts_until_the_chunk_is_leased_again() {
    let mut run = match_of(1);
    let first = run.lease(2).unwrap();
    run.now += 2 * LEASE;
    assert_eq!(run.report(first.id, game("0.0")), Accepted);
    let second = run.lease(2).unwrap();
    assert_eq!(second.table(), "0.1");
    assert_eq!(run.report(first.id, game("0.1")), Stale);
    assert_eq!(run.report(second.id, game("0.0")), Duplicate);
    assert_eq!(run.report(second.id, game("0.1")), Accepted);
    assert!(run.state.is_over());
}

impl Run {
    /// Leases a chunk to a session.
    fn lease_to(&mut self, session: SessionId, games: u64) -> LeaseId {
        let until = self.now + LEASE;
        let wanted = wanted(None, games);
        let chunk = self.state.lease(&wanted, Some(session), self.now, until);
        let chunk = chunk.unwrap().unwrap().id;
        let attempt = self.attempts.entry(chunk).or_insert(0);
        *attempt += 1;
        let id = LeaseId {
            run: RunId(0),
            chunk,
            attempt: *attempt,
        };
        self.state.begin(id);
        id
    }

    /// Renews leases of a session six times in the time of a lease, for so long; false as soon as
    /// one is lost.
    fn keeps(&mut self, session: SessionId, leases: &[LeaseId], time: Duration) -> bool {
        let end = self.now + time;
        while self.now < end {
            self.now = (self.now + LEASE / 6).min(end);
            let until = self.now + LEASE;
            for lease in leases {
                if !self.state.renew(*lease, Some(session), self.now, until) {
                    return false;
                }
            }
        }
        true
    }

    /// The longest time that a game of it can take, and what is added to that.
    fn patience(&self) -> Duration {
        let longest = self.plan.kind.info().longest(&self.plan.definition.limits);
        longest + Duration::from_secs(600)
    }
}

const ONE: SessionId = SessionId([1; 16]);
const OTHER: SessionId = SessionId([2; 16]);

#[test]
fn a_session_that_renews_and_reports_nothing_loses_its_leases() {
    let mut run = match_of(4);
    let leases = [run.lease_to(ONE, 4), run.lease_to(ONE, 4)];
    let just_before = run.patience() - LEASE;
    assert!(run.keeps(ONE, &leases, just_before));
    assert_eq!(run.state.take_lost(run.now), []);
    assert!(!run.keeps(ONE, &leases, LEASE));
    // Others get the games.
    let again = run.lease_to(OTHER, 4);
    assert_eq!((again.chunk, again.attempt), (leases[1].chunk, 2));
    let lost = LostLease {
        session: ONE,
        why: Lapse::NothingReported,
    };
    assert_eq!(run.state.take_lost(run.now), [lost; 2]);
    assert_eq!(run.state.take_lost(run.now), []);
    // One that is silent altogether is told apart.
    run.now += LEASE;
    let lost = LostLease {
        session: OTHER,
        why: Lapse::NotRenewed,
    };
    assert_eq!(run.state.take_lost(run.now), [lost]);
}

#[test]
fn a_session_that_reports_a_game_keeps_what_waits_behind_it() {
    let mut run = match_of(4);
    let leases = [run.lease_to(ONE, 4), run.lease_to(ONE, 4)];
    assert_eq!(run.state.held_by("lab"), 8);
    for round in 0..5_u64 {
        let most = run.patience() - LEASE;
        assert!(run.keeps(ONE, &leases, most), "{round}");
        run.state.reported(leases[0], run.now);
        run.state.progressed(ONE, run.now);
    }
    // The games that were reported are no longer held: the first lease had four.
    assert_eq!(run.state.held_by("lab"), 4);
    run.state.give_back(leases[1], Some(ONE), run.now).unwrap();
    assert_eq!(run.state.held_by("lab"), 0);
}

#[test]
fn a_game_that_may_take_hours_keeps_its_lease_for_hours() {
    let hours = Duration::from_secs(12 * 3600);
    for limits in [
        Limits {
            per_move: Duration::from_secs(600),
            ..Limits::default()
        },
        Limits {
            per_move: hours,
            budget: Some(hours),
            ..Limits::default()
        },
        Limits {
            start: hours,
            ..Limits::default()
        },
    ] {
        let definition = Definition {
            limits,
            ..definition("connect_four", 1)
        };
        let mut run = Run::new(definition, 2);
        let lease = run.lease_to(ONE, 2);
        assert!(run.keeps(ONE, &[lease], hours), "{limits:?}");
        let patience = run.patience();
        assert!(!run.keeps(ONE, &[lease], patience), "{limits:?}");
    }
}

#[test]
fn a_run_that_stands_still_says_whom_it_waits_for() {
    let mut run = match_of(2);
    let after = 2 * LEASE;
    let patience = run.patience();
    let lease = run.lease_to(ONE, 4);
    assert!(run.keeps(ONE, &[lease], after - LEASE / 6));
    assert_eq!(run.state.stall(after, run.now), None);
    assert!(run.keeps(ONE, &[lease], LEASE / 6));
    let stall = RunStall {
        session: ONE,
        games: 4,
        silent: after,
        left: patience - after,
    };
    assert_eq!(run.state.stall(after, run.now), Some(stall));
    // A game that is reported is a sign of life.
    run.state.reported(lease, run.now);
    run.state.progressed(ONE, run.now);
    assert_eq!(run.state.stall(after, run.now), None);
    // Where there is work for others, nothing waits for it.
    assert!(run.keeps(ONE, &[lease], 2 * after));
    assert!(run.state.stall(after, run.now).is_some());
    run.state.give_back(lease, Some(ONE), run.now).unwrap();
    assert_eq!(run.state.stall(after, run.now), None);
}

#[test]
fn what_is_given_back_is_leased_next() {
    let mut run = match_of(4);
    let first = run.lease(4).unwrap();
    run.play(&first, "0.0 0.1");
    assert!(run.give_back(&first));
    assert_eq!(run.rest(4), ["1.0 1.1", "2.0 2.1 3.0 3.1"]);
}

#[test]
fn what_is_given_back_waits_from_then_on() {
    let mut run = match_of(1);
    let first = run.lease(2).unwrap();
    run.now += LEASE / 2;
    run.give_back(&first);
    let chunk = run
        .state
        .lease(&wanted(None, 2), None, run.now, run.now + LEASE)
        .unwrap()
        .unwrap();
    assert_eq!(chunk.since, run.now);
}

#[test]
fn a_lost_lease_can_not_be_given_back() {
    let mut run = match_of(1);
    let first = run.lease(2).unwrap();
    run.now += LEASE;
    assert_eq!(run.next(2), "0.0 0.1");
    assert!(!run.give_back(&first));
    assert_eq!(run.next(2), "nothing");
}

#[test]
fn a_chunk_that_is_played_leaves_nothing_to_lease() {
    let mut run = match_of(1);
    let first = run.lease(2).unwrap();
    run.play(&first, "0.1 0.0");
    assert!(run.give_back(&first));
    assert_eq!(run.next(2), "nothing");
    assert!(run.state.is_over());
}

#[test]
fn reports_may_come_in_any_order() {
    let mut run = match_of(4);
    let [first, second] = [4, 4].map(|games| run.lease(games).unwrap());
    for (held, game, done) in [
        (&second, "3.1", 0),
        (&first, "1.0", 0),
        (&second, "3.0", 1),
        (&second, "2.1", 1),
        (&first, "0.0", 1),
        (&first, "0.1", 2),
        (&second, "2.0", 3),
    ] {
        run.play(held, game);
        assert_eq!(run.state.progress(), (done, Some(4)), "{game}");
        assert!(!run.state.is_over(), "{game}");
    }
    run.play(&first, "1.1");
    assert!(run.state.is_over());
}

#[test]
fn a_test_that_decides_ends_a_match_in_the_middle() {
    let mut run = Run::new(definition_with_test(), 2);
    run.outcome = Outcome::WonBy(Entrant::new(0));
    let [first, second] = [100, 100].map(|games| run.lease(games).unwrap());
    assert_eq!((first.games.len(), second.games.len()), (16, 16));
    run.play(&first, "0.0 0.1 1.0 1.1 2.0 2.1 3.0 3.1 4.0");
    assert_eq!(run.wanted(), (0..16).skip(4).collect::<Vec<_>>());
    run.play(&first, "4.1");
    assert_eq!(run.next(100), "nothing");
    assert_eq!(run.wanted(), [0; 0]);
    assert!(run.state.is_over());
    // What is given back now is not given to anybody.
    assert!(run.give_back(&second));
    assert_eq!(run.next(100), "nothing");
    assert_eq!(run.state.progress(), (5, Some(5)));
}

#[test]
fn a_bot_that_is_set_aside_ends_its_matches() {
    let mut run = Run::new(
        Definition {
            patience: SetAsideRule {
                starts: 1,
                ..SetAsideRule::default()
            },
            ..definition("connect_four", 2)
        },
        3,
    );
    let chunks: Vec<Held> = std::iter::from_fn(|| run.lease(4)).collect();
    let lineups = chunks.iter().map(|held| held.games[0].group.lineup.clone());
    let lineups: Vec<Vec<_>> = lineups.collect();
    let who = |number| Some(Entrant::new(number));
    assert!(
        lineups[0].contains(&who(2)) && lineups[0] != lineups[1],
        "{lineups:?}"
    );
    run.outcome = Outcome::NotStartedBy(Entrant::new(2));
    run.play(&chunks[0], "0.0 0.1");
    let out: Vec<_> = run
        .state
        .set_aside()
        .iter()
        .map(|aside| aside.entrant)
        .collect();
    assert_eq!(out, [Entrant::new(2)]);
    let others = lineups.iter().position(|lineup| !lineup.contains(&who(2)));
    let others = others.unwrap();
    assert_eq!(run.wanted(), [2 * others as u64, 2 * others as u64 + 1]);
    assert!(!run.state.is_over());
    // Whoever has them gives them back, and nobody gets them.
    for held in &chunks {
        assert!(run.give_back(held));
    }
    let rest = run.lease(4).unwrap();
    assert_eq!(rest.table(), chunks[others].table());
    assert_eq!(run.next(4), "nothing");
    run.outcome = Outcome::Draw;
    run.play(&rest, &rest.table());
    assert!(run.state.is_over());
}

#[test]
fn a_chunk_of_a_game_with_secrets_is_one_seating_of_several_deals() {
    let mut run = Run::new(definition("mahjong", 3), 2);
    assert_eq!(sorted(run.rest(2)), ["0.0 1.0", "0.1 1.1", "2.0", "2.1"]);
}

/// The games of each chunk by number: their order is secret.
fn sorted(chunks: Vec<String>) -> Vec<String> {
    let sort = |chunk: String| {
        let mut games: Vec<&str> = chunk.split(' ').collect();
        games.sort_unstable();
        games.join(" ")
    };
    chunks.into_iter().map(sort).collect()
}

#[test]
fn each_seating_plays_the_deals_of_a_chunk_in_an_order_of_its_own() {
    let chunks = |deals| Run::new(definition("mahjong", deals), 2).rest(64);
    let both = chunks(64);
    let deals = |chunk: &String| -> Vec<String> {
        let games = chunk.split(' ').map(|game| game.split_once('.'));
        games
            .map(|game| game.expect("a game").0.to_owned())
            .collect()
    };
    let orders: Vec<Vec<String>> = both.iter().map(deals).collect();
    assert_eq!(orders.len(), 2);
    assert_ne!(orders[0], orders[1]);
    assert_eq!(chunks(64), both, "the root decides");
}

#[test]
fn a_fixed_deal_of_a_game_with_secrets_stands_alone() {
    let setups = vec![json!(null), json!(null), json!({ "hands": HANDS })];
    let mut run = Run::new(
        Definition {
            setups,
            ..definition("mahjong", 5)
        },
        2,
    );
    let chunks = ["0.0 1.0", "0.1 1.1", "2.0", "2.1", "3.0 4.0", "3.1 4.1"];
    assert_eq!(sorted(run.rest(100)), chunks);
}

#[test]
fn a_run_is_resumed_from_its_scores_and_half_played_groups() {
    let mut run = match_of(4);
    let [first, second] = [4, 4].map(|games| run.lease(games).unwrap());
    run.play(&first, "0.1 0.0 1.1");
    run.play(&second, "3.0 3.1");
    run.resume();
    // Group 1 comes next; group 3 has its score, which the schedule is told in its turn.
    assert_eq!(run.state.progress(), (1, Some(4)));
    let third = run.lease(100).unwrap();
    assert_eq!(third.table(), "1.0 2.0 2.1");
    assert_eq!(run.state.progress(), (2, Some(4)));
    run.play(&third, "2.1 2.0 1.0");
    assert!(run.state.is_over());
}

#[test]
fn a_run_is_not_resumed_with_the_scores_of_other_bots() {
    let mut run = match_of(1);
    let first = run.lease(2).unwrap();
    run.play(&first, "0.0 0.1");
    run.scores.get_mut(&0).unwrap().lineup.reverse();
    let resumed = DispatchState::new(RunId(0), run.plan.clone(), run.scores, BTreeMap::new());
    let error = resumed.err().unwrap().to_string();
    assert!(error.contains("played by other bots"), "{error}");
}

/// A step of workers that nothing can be said of beforehand. The numbers choose among
/// what there is.
#[derive(Clone, Debug)]
enum Step {
    Lease { games: u64, matchup: Option<u32> },
    Report { held: usize, game: usize },
    GiveBack { held: usize },
    Renew { held: usize },
    Wait { quarters: u32 },
    Resume,
}

fn step() -> impl Strategy<Value = Step> {
    let held = || 0..8_usize;
    prop_oneof![
        4 => (1..10_u64, prop::option::of(0..4_u32))
            .prop_map(|(games, matchup)| Step::Lease { games, matchup }),
        12 => (held(), 0..64_usize).prop_map(|(held, game)| Step::Report { held, game }),
        2 => held().prop_map(|held| Step::GiveBack { held }),
        2 => held().prop_map(|held| Step::Renew { held }),
        2 => (1..6_u32).prop_map(|quarters| Step::Wait { quarters }),
        1 => Just(Step::Resume),
    ]
}

/// The chunks that the workers of a run hold, in time or too late.
struct Workers {
    run: Run,
    held: Vec<Held>,
}

impl Workers {
    fn take(&mut self, step: &Step) {
        let among = self.held.len().max(1);
        let at = |held: usize| held % among;
        match *step {
            Step::Lease { games, matchup } => {
                if let Some(new) = self.run.lease_of(matchup, games) {
                    assert!(matchup.is_none_or(|of| of == new.id.chunk.matchup));
                    self.must_hold_alone(&new);
                    self.held.push(new);
                }
            }
            Step::Report { held, game } => {
                if let Some(held) = self
                    .held
                    .get_mut(at(held))
                    .filter(|held| !held.games.is_empty())
                {
                    let game = held.games.swap_remove(game % held.games.len());
                    self.run.report(held.id, key(&game));
                }
            }
            Step::GiveBack { held } => {
                if at(held) < self.held.len() {
                    let held = self.held.swap_remove(at(held));
                    self.run.give_back(&held);
                }
            }
            Step::Renew { held } => {
                if let Some(held) = self.held.get_mut(at(held)) {
                    let until = self.run.now + LEASE;
                    if self.run.state.renew(held.id, None, self.run.now, until) {
                        held.until = until;
                    }
                }
            }
            Step::Wait { quarters } => self.run.now += LEASE / 4 * quarters,
            Step::Resume => {
                self.run.resume();
                for held in &mut self.held {
                    held.until = self.run.now;
                }
            }
        }
        assert_eq!(self.run.answers(), self.run.answers());
    }

    fn must_hold_alone(&self, new: &Held) {
        let live = self.held.iter().filter(|held| held.until > self.run.now);
        let live: BTreeSet<GameKey> = live.flat_map(|held| &held.games).map(key).collect();
        for game in new.games.iter().map(key) {
            assert!(!live.contains(&game), "two workers hold {game:?}");
            assert!(!self.run.counted.contains(&game), "{game:?} was played");
        }
    }

    /// Everybody is silent from now on but for one, which plays what is left.
    fn finish(mut self) {
        self.run.now += 2 * LEASE;
        while let Some(held) = self.run.lease(5) {
            self.run.play(&held, &held.table());
        }
        assert!(self.run.state.is_over());
        assert_eq!(self.run.counted, self.run.all_games().collect());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn every_game_counts_once_whatever_workers_do(
        steps in prop::collection::vec(step(), 0..120),
        game in prop::sample::select(vec!["connect_four", "mahjong", "big_two"]),
        bots in 2..4_usize,
        deals in 1..7_u64,
    ) {
        let setups = match game {
            "mahjong" => vec![json!(null), json!({ "hands": HANDS }), json!(null)],
            _ => vec![json!(null)],
        };
        let definition = Definition { setups, ..definition(game, deals) };
        let mut workers = Workers { run: Run::new(definition, bots), held: Vec::new() };
        for step in &steps {
            workers.take(step);
        }
        workers.finish();
    }

    #[test]
    fn a_query_changes_nothing(steps in prop::collection::vec(step(), 0..60)) {
        let [mut asked, mut other] = [true, false].map(|_| {
            Workers { run: match_of(12), held: Vec::new() }
        });
        other.run.now = asked.run.now;
        for step in &steps {
            for _ in 0..3 {
                asked.run.answers();
            }
            asked.take(step);
            other.take(step);
        }
        let rest = |workers: &mut Workers| workers.run.rest(5);
        prop_assert_eq!(rest(&mut asked), rest(&mut other));
    }
}

/// A dispatcher of a match with results in memory, whose leases last so long.
async fn dispatcher(deals: u64, lease: Duration) -> Dispatcher<MemoryResults> {
    dispatcher_of(definition("connect_four", deals), lease).await
}

async fn dispatcher_of(definition: Definition, lease: Duration) -> Dispatcher<MemoryResults> {
    dispatcher_into(MemoryResults::new(), definition, lease).await
}

async fn dispatcher_into(
    results: MemoryResults,
    definition: Definition,
    lease: Duration,
) -> Dispatcher<MemoryResults> {
    let plan = plan(definition, 2);
    let options = DispatchOptions {
        lease,
        ..DispatchOptions::default()
    };
    let observer = Arc::new(Silent);
    let counters = Arc::new(RunCounters::default());
    let opened = Dispatcher::open(plan, results, options, observer, counters);
    opened.await.unwrap()
}

/// The id and the games of the next lease.
async fn leased(dispatcher: &Dispatcher<MemoryResults>) -> (LeaseId, Vec<GameKey>) {
    let request = LeaseRequest {
        session: None,
        can: Arc::new(Abilities::Local),
        scope: None,
        worker: "worker".to_owned(),
        games: 100,
    };
    loop {
        match dispatcher.lease(request.clone()).await.unwrap() {
            LeaseReply::Work(lease) => {
                return (lease.id, lease.games.iter().map(|game| game.key).collect());
            }
            LeaseReply::Wait => {}
            LeaseReply::Over => panic!("nothing is left"),
        }
    }
}

fn draw() -> Summary {
    Summary {
        places: vec![1, 1],
        scores: vec![0, 0],
        reason: "a draw".to_owned(),
        fouls: Vec::new(),
        plies: 0,
        thought_us: vec![0, 0],
        thinking: vec![BTreeMap::new(); 2],
        excused: vec![0; 2],
        course: 0,
        play_hash: String::new(),
    }
}

async fn reported(
    dispatcher: &Dispatcher<MemoryResults>,
    lease: LeaseId,
    text: &str,
) -> ReportReply {
    reported_as(dispatcher, lease, text, draw()).await
}

async fn reported_as(
    dispatcher: &Dispatcher<MemoryResults>,
    lease: LeaseId,
    text: &str,
    summary: Summary,
) -> ReportReply {
    let report = GameReport {
        lease,
        key: game(text),
        summary,
        record: None,
        logs: Vec::new(),
    };
    dispatcher.report(report).await.unwrap()
}

#[tokio::test]
async fn a_report_without_the_record_that_was_asked_for_is_refused() {
    let results = MemoryResults::with_records();
    let dispatcher = dispatcher_into(results, definition("connect_four", 1), LEASE).await;
    let (lease, _) = leased(&dispatcher).await;
    let report = GameReport {
        lease,
        key: game("0.0"),
        summary: draw(),
        record: None,
        logs: Vec::new(),
    };
    let error = dispatcher.report(report).await.unwrap_err();
    assert!(error.to_string().contains("lacks the record"), "{error}");
    assert!(dispatcher.results.games().is_empty());
}

#[tokio::test]
async fn a_report_of_an_earlier_attempt_is_stale_once_there_is_a_later_one() {
    // Every lease has run out when the next one is asked for.
    let dispatcher = dispatcher(1, Duration::ZERO).await;
    let (first, games) = leased(&dispatcher).await;
    assert_eq!(games, [game("0.0"), game("0.1")]);
    assert_eq!(reported(&dispatcher, first, "0.0").await, Accepted);
    let (second, games) = leased(&dispatcher).await;
    assert_eq!((second.chunk, second.attempt), (first.chunk, 2));
    assert_eq!(games, [game("0.1")]);
    assert!(!dispatcher.renew(first).await.unwrap());
    for (lease, text, reply) in [
        (first, "0.0", Stale),
        (first, "0.1", Stale),
        (second, "0.0", Duplicate),
        (second, "0.1", Accepted),
        (second, "0.1", Stale),
        (second, "9.0", NotHeld),
    ] {
        assert_eq!(
            reported(&dispatcher, lease, text).await,
            reply,
            "{lease:?} {text}"
        );
    }
    assert!(dispatcher.is_over());
    assert_eq!(dispatcher.results.games().len(), 2);
}

/// Takes down which games are told live.
#[derive(Default)]
struct Hears(Mutex<Vec<GameKey>>);

impl Observer for Hears {
    fn event(&self, event: RunEvent<'_>) {
        if let RunEvent::Live { update, .. } = event {
            self.0.lock().push(update.key);
        }
    }
}

#[tokio::test]
async fn nothing_is_taken_under_a_lease_that_the_session_does_not_have() {
    let heard = Arc::new(Hears::default());
    let options = DispatchOptions {
        live: true,
        ..DispatchOptions::default()
    };
    let dispatcher = Dispatcher::open(
        plan(definition("connect_four", 4), 2),
        MemoryResults::new(),
        options,
        heard.clone(),
        Arc::new(RunCounters::default()),
    );
    let dispatcher = dispatcher.await.unwrap();
    let [honest, forger] = [1, 2].map(|byte| SessionId([byte; 16]));
    let mut leases = Vec::new();
    for session in [honest, forger] {
        let request = LeaseRequest {
            session: Some(session),
            can: Arc::new(Abilities::Local),
            scope: None,
            worker: "worker".to_owned(),
            games: 4,
        };
        let LeaseReply::Work(lease) = dispatcher.try_lease(&request, None).await.unwrap() else {
            panic!("there is work");
        };
        leases.push(lease.id);
    }
    let (held, own) = (leases[0], leases[1]);
    let unheard_of = ChunkId {
        first_group: 0,
        groups: 4,
        ..held.chunk
    };
    let of_another_seating = ChunkId {
        seating: Some(0),
        ..held.chunk
    };
    let with = |lease: LeaseId, chunk, attempt| LeaseId {
        chunk,
        attempt,
        ..lease
    };
    // A game of the honest session, and as what it might be taken.
    for (lease, reply) in [
        (held, NotHeld),
        (with(held, held.chunk, 2), NotHeld),
        (with(held, held.chunk, u32::MAX), NotHeld),
        (with(held, held.chunk, 0), Stale),
        (with(held, unheard_of, 1), NotHeld),
        (with(held, of_another_seating, 1), NotHeld),
        (
            LeaseId {
                run: RunId(7),
                ..held
            },
            NotHeld,
        ),
        // Its own lease has other games.
        (own, NotHeld),
        (with(own, own.chunk, 2), NotHeld),
    ] {
        let report = GameReport {
            lease,
            key: game("0.0"),
            summary: draw(),
            record: None,
            logs: Vec::new(),
        };
        let taken = dispatcher.take(report, Some(forger), Some("forger"));
        assert_eq!(taken.await.unwrap(), reply, "{lease:?}");
        let told = dispatcher.tell_live(forger, lease, game("0.0"), Live::Started);
        told.unwrap_err();
        if lease != own {
            assert!(!dispatcher.renew_for(Some(forger), lease).await.unwrap());
            let give_back = GiveBack {
                lease,
                unplayed: Vec::new(),
                memory: vec![Some(u64::MAX); 2],
            };
            let given = dispatcher.give_back_for(Some(forger), give_back);
            given.await.unwrap_err();
        }
    }
    assert!(dispatcher.results.games().is_empty());
    assert!(dispatcher.memory().is_empty());
    assert!(heard.0.lock().is_empty());
    // The one whose game it is has lost nothing.
    let told = dispatcher.tell_live(honest, held, game("0.0"), Live::Started);
    told.unwrap();
    assert_eq!(*heard.0.lock(), [game("0.0")]);
    let report = GameReport {
        lease: held,
        key: game("0.0"),
        summary: draw(),
        record: None,
        logs: Vec::new(),
    };
    let taken = dispatcher.take(report, Some(honest), Some("honest"));
    assert_eq!(taken.await.unwrap(), Accepted);
    assert_eq!(
        dispatcher.results.games()[0].worker.as_deref(),
        Some("honest")
    );
}

#[tokio::test]
async fn what_a_worker_gives_back_goes_to_the_next_one_and_memory_is_kept() {
    let dispatcher = dispatcher(2, LEASE).await;
    let (first, games) = leased(&dispatcher).await;
    assert_eq!(reported(&dispatcher, first, "1.1").await, Accepted);
    let unplayed = vec![game("0.1"), game("1.0")];
    // One of them was neither stored nor is it named: its report came when it was not taken.
    assert!(unplayed.iter().all(|game| games.contains(game)));
    assert_eq!(reported(&dispatcher, first, "0.0").await, Accepted);
    let memory = vec![Some(7), None];
    let give_back = GiveBack {
        lease: first,
        unplayed: unplayed[1..].to_vec(),
        memory,
    };
    dispatcher.give_back(give_back).await.unwrap();
    let (_, games) = leased(&dispatcher).await;
    assert_eq!(games, unplayed);
    assert_eq!(dispatcher.memory(), BTreeMap::from([(Entrant::new(0), 7)]));
}

async fn snapshot(dispatcher: &Dispatcher<MemoryResults>) -> Snapshot {
    let snapshot = Snapshot::of_plan(&dispatcher.results, &dispatcher.plan);
    snapshot.await.unwrap()
}

#[tokio::test]
async fn a_half_played_deal_of_a_decided_match_lacks_nothing() {
    let dispatcher = dispatcher_of(definition_with_test(), LEASE).await;
    let (lease, _) = leased(&dispatcher).await;
    assert_eq!(reported(&dispatcher, lease, "7.0").await, Accepted);
    assert_eq!(snapshot(&dispatcher).await.half_played, (1, 1));
    for deal in 0..5 {
        // The first of the lineup wins from both seats.
        for (seating, places) in [[1, 2], [2, 1]].into_iter().enumerate() {
            let game = format!("{deal}.{seating}");
            let places = places.to_vec();
            let won = Summary { places, ..draw() };
            let reported = reported_as(&dispatcher, lease, &game, won);
            assert_eq!(reported.await, Accepted);
        }
    }
    let snapshot = snapshot(&dispatcher).await;
    assert!(snapshot.tests[0].unwrap().decision.is_some());
    assert_eq!(snapshot.half_played, (0, 0));
    assert_eq!(
        (snapshot.count.half_groups, snapshot.count.half_games),
        (1, 1)
    );
}

#[tokio::test]
async fn games_without_a_move_are_no_repetition() {
    for (plies, is_warned) in [(0, false), (7, true)] {
        let dispatcher = dispatcher(2, LEASE).await;
        let (lease, games) = leased(&dispatcher).await;
        assert_eq!(games.len(), 4);
        for game in ["0.0", "0.1", "1.0", "1.1"] {
            let summary = Summary { plies, ..draw() };
            let reported = reported_as(&dispatcher, lease, game, summary);
            assert_eq!(reported.await, Accepted);
        }
        let snapshot = snapshot(&dispatcher).await;
        let repeated = Warning::RepeatedGames {
            games: 4,
            distinct: 1,
        };
        assert_eq!(snapshot.warnings.contains(&repeated), is_warned);
        assert_eq!(snapshot.count.distinct_games, 1);
    }
}

/// A dispatcher of a match between a bot that runs as a service and one that does not.
async fn dispatcher_with_a_service(deals: u64) -> Dispatcher<MemoryResults> {
    let schemes = Schemes::with(Vec::new());
    let bots = ["service=grpc://127.0.0.1:1", "program=exec:bot"].map(str::to_owned);
    let entries = Entry::read_all(&bots, &schemes).unwrap();
    let definition = definition("connect_four", deals);
    let plan = Plan::new(definition, entries, Root::new([7; 32]), &schemes).unwrap();
    let options = DispatchOptions::default();
    let counters = Arc::new(RunCounters::default());
    let results = MemoryResults::new();
    let observer = Arc::new(Silent);
    let opened = Dispatcher::open(Arc::new(plan), results, options, observer, counters);
    opened.await.unwrap()
}

/// The outcome of this game where nothing answers at the address of the service.
fn without_the_service(dispatcher: &Dispatcher<MemoryResults>, text: &str) -> Summary {
    let planned = dispatcher.planned(game(text)).unwrap();
    let who = |place: usize| planned.group.lineup[place] == Some(Entrant::new(0));
    let seat = planned.order.iter().position(|place| who(*place)).unwrap();
    let foul = Foul::Unreachable {
        detail: "connection refused".to_owned(),
    };
    let seat = Seat::new(seat as u8);
    Summary {
        places: (0..2).map(|at| 1 + u8::from(at == seat.index())).collect(),
        fouls: vec![SeatFoul { seat, foul }],
        ..draw()
    }
}

#[tokio::test(start_paused = true)]
async fn games_of_a_service_that_is_away_wait_until_it_is_back() {
    let dispatcher = dispatcher_with_a_service(2).await;
    let (first, games) = leased(&dispatcher).await;
    assert_eq!(games.len(), 4);
    assert_eq!(reported(&dispatcher, first, "0.0").await, Accepted);
    let absent = without_the_service(&dispatcher, "0.1");
    let reply = reported_as(&dispatcher, first, "0.1", absent.clone()).await;
    assert_eq!(reply, ReportReply::Away);
    // Nothing more of the chunk is begun, and nothing of it is a foul.
    assert!(!dispatcher.is_wanted(first, game("1.0")).await.unwrap());
    assert_eq!(dispatcher.unwanted(first), [0, 1]);
    let away = dispatcher.away();
    assert_eq!(away[0].entrant, Entrant::new(0));
    assert!(away[0].why.contains("connection refused"), "{away:?}");
    assert_eq!(dispatcher.progress(), (0, Some(2)));
    let give_back = GiveBack {
        lease: first,
        unplayed: Vec::new(),
        memory: Vec::new(),
    };
    dispatcher.give_back(give_back).await.unwrap();
    let gone = tokio::time::Instant::now();
    // It is tried with one chunk, whose games are wanted as long as nothing is known.
    let (second, games) = leased(&dispatcher).await;
    assert_eq!(gone.elapsed(), Duration::from_secs(1));
    assert_eq!(games, ["0.1", "1.0", "1.1"].map(game));
    for text in ["0.1", "1.0", "1.1"] {
        assert!(dispatcher.is_wanted(second, game(text)).await.unwrap());
        assert_eq!(reported(&dispatcher, second, text).await, Accepted);
    }
    assert!(dispatcher.away().is_empty());
    assert!(dispatcher.is_over());
    assert!(
        dispatcher
            .results
            .games()
            .iter()
            .all(|game| game.fouls.is_empty())
    );
}

#[tokio::test(start_paused = true)]
async fn games_of_a_service_that_stays_away_are_lost() {
    let dispatcher = dispatcher_with_a_service(1).await;
    let limit = dispatcher.plan().definition.away;
    let (lease, _) = leased(&dispatcher).await;
    let absent = without_the_service(&dispatcher, "0.0");
    let reported_absent = |lease| reported_as(&dispatcher, lease, "0.0", absent.clone());
    // One that has never answered is not waited for.
    assert_eq!(reported_absent(lease).await, Accepted);

    let dispatcher = dispatcher_with_a_service(1).await;
    let (mut lease, _) = leased(&dispatcher).await;
    assert_eq!(reported(&dispatcher, lease, "0.1").await, Accepted);
    let began = tokio::time::Instant::now();
    loop {
        match reported_as(&dispatcher, lease, "0.0", absent.clone()).await {
            ReportReply::Away => {}
            reply => {
                assert_eq!(reply, Accepted);
                break;
            }
        }
        assert!(began.elapsed() < limit);
        let give_back = GiveBack {
            lease,
            unplayed: Vec::new(),
            memory: Vec::new(),
        };
        dispatcher.give_back(give_back).await.unwrap();
        lease = leased(&dispatcher).await.0;
    }
    assert_eq!(began.elapsed(), limit);
    assert!(dispatcher.away().is_empty() && dispatcher.is_over());
}

//! What a contest has before it is measured: many entries that are judged, with their games. The first
//! one is built and played; the others are copies of it.

use std::time::Duration;

use arena_store::{
    ChunkKey, Contest, ContestRun, DetailsOf, Entry, EntryState, FinishedGame, GameFilter,
    NewContestRun, NewEntry, NewTournament, Place, Store, Tournament, TournamentState,
};
use serde_json::Value;
use tokio::time::{sleep, timeout};

use crate::{BEFORE, PEOPLE, SERVE, bot, client::ask, site::Site};

/// The first entry is judged within this time.
const JUDGED_WITHIN: Duration = Duration::from_secs(120);
/// More games than an exam has.
const GAMES: u32 = 100;
/// The time between two of these entries, and between the last one and what is measured, in
/// milliseconds.
const APART: i64 = 5_000;
const PAUSE: i64 = 3_600_000;

/// Makes the entries of the first contestant with this token, and of all others.
pub(crate) async fn fill(site: &Site, store: &Store, contest: &Contest, token: &str) {
    let first = first(site, store, contest, token).await;
    let last = unix_ms() - PAUSE;
    for number in 1..BEFORE {
        let received = last - (BEFORE - number) as i64 * APART;
        first.copy(store, contest, number, received).await;
    }
}

/// An entry that was played.
struct Example {
    source: String,
    entry: Entry,
    details: Value,
    run: ContestRun,
    tournament: Tournament,
    games: Vec<FinishedGame>,
}

/// Hands in the first entry, and waits until it is judged.
async fn first(site: &Site, store: &Store, contest: &Contest, token: &str) -> Example {
    let serving = site.serve(SERVE);
    let (name, source) = bot(0);
    let path = format!("/api/v1/contests/bench/entries?group=1&file={name}");
    let header = format!("Authorization: Bearer {token}\r\n");
    let answer = ask(serving.page(), "POST", &path, &header, &source).await;
    let answer = answer.expect("an answer");
    assert!(answer.starts_with("HTTP/1.1 201 "), "{answer}");
    let judged = async {
        loop {
            let entry = store.entry(contest.id, 1).await.expect("the store");
            if entry.state.is_final() {
                return entry;
            }
            sleep(Duration::from_millis(200)).await;
        }
    };
    let entry = timeout(JUDGED_WITHIN, judged).await;
    let entry = entry.expect("the first entry is judged");
    assert_eq!(entry.state, EntryState::Judged, "{entry:?}");
    serving.stop();

    let details = store.entry_details(contest.id, DetailsOf::Entry(1)).await;
    let mut details = details.expect("the store").remove(&1).expect("details");
    details["log"] = "bot.py:1: warning: so many bytes as a compiler prints\n"
        .repeat(40)
        .into();
    let runs = store.runs_of_entry(contest.id, 1).await.expect("the store");
    let run = runs.into_iter().next().expect("an exam");
    let tournament = store.tournament(&run.name).await.expect("the store");
    let filter = GameFilter::default();
    let rows = store.games(run.tournament, &filter, GAMES).await;
    let mut games = Vec::new();
    for row in rows.expect("the store") {
        let record = store.packed_record(run.tournament, row.group, row.seating);
        games.push(FinishedGame {
            chunk: ChunkKey {
                matchup: row.matchup,
                first_group: row.group,
                groups: 1,
                seating: None,
            },
            record: record.await.expect("the store").expect("a record"),
            row,
            attempt: 0,
            withhold: false,
            logs: Vec::new(),
        });
    }
    Example {
        source,
        entry,
        details,
        tournament: tournament.expect("the exam"),
        run,
        games,
    }
}

impl Example {
    /// The same for the contestant whose turn it is, as if it had been handed in at that moment.
    async fn copy(&self, store: &Store, contest: &Contest, number: u64, received_unix_ms: i64) {
        let id = contest.id;
        let contestant = number % PEOPLE as u64 + 1;
        let new = NewEntry {
            person: contestant,
            contestant,
            part: self.entry.part,
            file: &self.entry.file,
            bytes: self.source.as_bytes(),
            hash: &self.entry.hash,
            received_unix_ms,
        };
        let place = Place {
            official: true,
            counted: true,
        };
        let taken = store.hand_in(id, &new, |_, _| Ok::<_, ()>(place)).await;
        let entry = taken.expect("the store").expect("it is taken");
        let taken = store.take_entry(id, entry.number, entry.attempt).await;
        let entry = taken.expect("the store").expect("it is taken up");

        let (e1, own) = (".e1.", format!(".e{}.", entry.number));
        let name = self.run.name.replace(e1, &own);
        let details = self.details.to_string().replace(&self.run.name, &name);
        let details = serde_json::from_str(&details).expect("JSON");
        let mut entrants = self.tournament.entrants.clone();
        entrants[0].name = format!("entry-{}", entry.number);
        let tournament = NewTournament {
            name,
            game: self.tournament.game.clone(),
            rules_version: self.tournament.rules_version,
            definition: self.tournament.definition.clone(),
            root: self.tournament.root.clone().expect("it is over"),
            reproduction: false,
            entrants,
            created_unix_ms: received_unix_ms,
        };
        let runs = [NewContestRun {
            kind: self.run.kind,
            part: self.run.part,
            priority: self.tournament.priority,
            tournament,
        }];
        let spec = self.entry.spec.as_ref().expect("it was built");
        let outcome = self.entry.outcome.clone().unwrap_or_default();
        let begun = store.begin_exam(id, &entry, spec, &outcome, &details, &runs);
        assert!(begun.await.expect("the store"), "its exam begins");
        let runs = store.runs_of_entry(id, entry.number).await;
        let run = runs.expect("the store").remove(0).tournament;
        let games = store.report(run, self.games.clone()).await;
        games.expect("the store");
        let over = store.set_state(run, TournamentState::Over, received_unix_ms);
        over.await.expect("the store");
        let (details, score) = (Some(&details), self.entry.score);
        let ended = store.end_entry(id, &entry, &outcome, details, score).await;
        assert!(ended.expect("the store"), "it is judged");
    }
}

fn unix_ms() -> i64 {
    arena_tournament::unix_ms(std::time::SystemTime::now())
}

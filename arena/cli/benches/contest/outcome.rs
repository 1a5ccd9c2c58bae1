//! What came of the entries that were handed in while it was measured.

use std::time::Duration;

use arena_ladder::Entrant;
use arena_store::{Contest, Entry, EntryState, GameFilter, GameRow, Store};
use referee_core::FoulKind;

use crate::{BEFORE, client::quantile};

/// More games than an exam has.
const GAMES: u32 = 100;

/// Prints how far the entries were at the end, how long they waited, and what their games say.
pub(crate) async fn print(store: &Store, contest: &Contest, entries: &[Entry]) {
    let new = || entries.iter().filter(|entry| entry.number > BEFORE);
    let count = |states: &[EntryState]| new().filter(|one| states.contains(&one.state)).count();
    let [playing, judged, failed] =
        [EntryState::Playing, EntryState::Judged, EntryState::Failed].map(|state| count(&[state]));
    println!(
        "entries  {} taken, {} built, {judged} judged, {failed} failed; in the queue at the end: {} to \
         be built, {playing} that play",
        new().count(),
        playing + judged,
        count(&[EntryState::Received, EntryState::Building]),
    );
    let (mut builds, mut plays) = (Vec::new(), Vec::new());
    let (mut late, mut other, mut games) = (0, 0, 0);
    let mut thought = Vec::new();
    for entry in new() {
        let runs = store.runs_of_entry(contest.id, entry.number).await;
        for run in runs.expect("the store") {
            let waited = |until: i64| {
                let ms = until - entry.received_unix_ms;
                Duration::from_millis(ms.max(0).cast_unsigned())
            };
            builds.push(waited(run.created_unix_ms));
            let filter = GameFilter::default();
            let rows = store.games(run.tournament, &filter, GAMES).await;
            let rows = rows.expect("the store");
            let last = rows.iter().map(|row| row.finished_unix_ms).max();
            if let (EntryState::Judged, Some(last)) = (entry.state, last) {
                plays.push(waited(last));
            }
            games += rows.len();
            for row in &rows {
                let fouls = row.fouls.iter().map(|foul| foul.foul.kind());
                let (of_time, others): (Vec<_>, Vec<_>) =
                    fouls.partition(|kind| *kind == FoulKind::Late);
                late += of_time.len();
                other += others.len();
                thought.extend(each_move(row));
            }
        }
    }
    let told = |times: &[Duration]| {
        let [p50, p99, largest] = [0.5, 0.99, 1.0].map(|share| quantile(times, share) / 1e3);
        format!("p50 {p50:.1} s, p99 {p99:.1} s, largest {largest:.1} s")
    };
    println!("waits    until it is built: {}", told(&builds));
    println!("waits    until its games are over: {}", told(&plays));
    println!(
        "games    {games} of exams, with {late} fouls of time and {other} others; a move of an entry, \
         as the mean of its game: p50 {:.1} ms, p99 {:.1} ms, largest {:.1} ms",
        quantile(&thought, 0.5),
        quantile(&thought, 0.99),
        quantile(&thought, 1.0)
    );
}

/// The mean time of a move of the entry, which is the first entrant.
fn each_move(row: &GameRow) -> Option<Duration> {
    let seat = row.seat_of(Entrant::new(0))?;
    let thought = Duration::from_micros(*row.thought_us.get(seat.index())?);
    thought.checked_div(row.plies / 2)
}

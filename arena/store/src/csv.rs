//! A tournament's games as CSV (RFC 4180, but lines end with a line feed).

use std::io::Write;

use arena_ladder::Entrant;

use crate::{Counter, GameFilter, GameRow, NewEntrant, Store, StoreError, TournamentId};

/// Number of games in memory at once.
const PAGE: u32 = 1000;

impl Store {
    /// Writes one row for each game to `sink`, in order of group and seating. Games of
    /// incomplete groups are included, unless they are withheld: such a group has fewer rows
    /// than `games_in_group`. The columns of a seat end with its number, from 1.
    ///
    /// # Errors
    ///
    /// The database or the sink fails; [`StoreError::Missing`].
    pub async fn csv(
        &self,
        id: TournamentId,
        sink: &mut (impl Write + Send),
    ) -> Result<(), StoreError> {
        let mut moment = self.snapshot().await?;
        let entrants = Self::tournament_in(&mut moment, id).await?.entrants;
        drop(moment);
        let mut filter = GameFilter::default();
        loop {
            let games = self.games(id, &filter, PAGE).await?;
            if filter.after.is_none() {
                let seats = games.first().map_or(0, |game| game.order.len());
                sink.write_all(line(&heads(seats)).as_bytes())?;
            }
            for game in &games {
                sink.write_all(line(&cells(game, &entrants)).as_bytes())?;
            }
            match games.last() {
                Some(last) => filter.after = Some((last.group, last.seating)),
                None => return Ok(sink.flush()?),
            }
        }
    }
}

fn heads(seats: usize) -> Vec<String> {
    let before = ["group", "seating", "games_in_group", "match"].map(str::to_owned);
    let by_seat = (1..=seats).flat_map(|seat| {
        ["bot", "place", "score", "foul", "thought_us", "excused"]
            .map(|head| format!("{head}_{seat}"))
    });
    let after = ["reason", "plies", "course", "play_hash", "finished_unix_ms"];
    before
        .into_iter()
        .chain(by_seat)
        .chain(after.map(str::to_owned))
        .collect()
}

fn cells(game: &GameRow, entrants: &[NewEntrant]) -> Vec<String> {
    let mut cells = vec![
        game.group.to_string(),
        game.seating.to_string(),
        game.games_in_group.to_string(),
        game.matchup.0.to_string(),
    ];
    for (seat, &place) in game.order.iter().enumerate() {
        // A house bot that fills a seat is no entrant.
        let who = game.lineup[place].and_then(|entrant| entrants.get(entrant.index()));
        let foul = game.fouls.iter().find(|foul| foul.seat.index() == seat);
        cells.push(who.map_or_else(String::new, |entrant| entrant.name.clone()));
        cells.push(game.places[seat].to_string());
        let scores = game.counted_scores();
        cells.push(scores.map_or_else(String::new, |scores| scores[seat].to_string()));
        cells.push(foul.map_or("", |foul| foul.foul.kind().words()).to_owned());
        cells.push(game.thought_us[seat].to_string());
        cells.push(excused(game, game.lineup[place]).to_string());
    }
    cells.extend([
        game.reason.clone(),
        game.plies.to_string(),
        format!("{:016x}", game.course),
        game.play_hash.clone(),
        game.finished_unix_ms.to_string(),
    ]);
    cells
}

/// Number of excused answers of an entrant; 0 for a filler, which counts for nobody.
fn excused(game: &GameRow, who: Option<Entrant>) -> i64 {
    let counters = game.counters.iter();
    let of = counters.filter(|(whose, counter, _)| {
        who.is_some() && *whose == who && *counter == Counter::Excused
    });
    of.map(|(_, _, count)| count).sum()
}

fn line(cells: &[String]) -> String {
    let cells: Vec<_> = cells.iter().map(|cell| quoted(cell)).collect();
    cells.join(",") + "\n"
}

fn quoted(cell: &str) -> String {
    if cell.contains(['"', ',', '\n', '\r']) {
        format!("\"{}\"", cell.replace('"', "\"\""))
    } else {
        cell.to_owned()
    }
}

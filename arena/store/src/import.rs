//! Importing an exported tournament: all of it or nothing.

use std::io::{BufRead, Read as _};

use referee_core::{JsonBounds, Root, printable};

use crate::{
    ChunkKey, FinishedGame, Reported, Store, StoreError, StoredReport, Tournament, TournamentId,
    TournamentState,
    export::{ExportLine, ExportedGame, ExportedTournament, FORMAT, FORMAT_VERSION},
    pack, report,
};

/// Bounds of the first line: the most entrants and the longest list of openings.
const TOURNAMENT: JsonBounds = JsonBounds {
    bytes: 64 * 1024 * 1024,
    depth: 2 * JsonBounds::SETUP.depth,
    values: 2_000_000,
};
/// Bounds of the line of a game. Its record is one text, with a backslash before many a character.
const GAME: JsonBounds = JsonBounds {
    bytes: 2 * pack::LARGEST as usize + 1024 * 1024,
    depth: 16,
    values: 10_000,
};
/// Number of games in memory at once.
const AT_ONCE: usize = 200;

impl Store {
    /// Creates a tournament from the text that [`export`](Self::export) wrote, under
    /// another name if one is given, and if `check` finds nothing wrong with it. Scores and counters are computed from the games.
    /// It is one transaction: with SQLite all other writers wait until it ends.
    ///
    /// # Errors
    ///
    /// [`StoreError::Import`] if the text is not a complete export;
    /// [`StoreError::Exists`] if the name exists; the database fails. Then nothing is
    /// stored.
    pub async fn import(
        &self,
        text: &mut (impl BufRead + Send),
        name: Option<&str>,
        check: impl FnOnce(&Tournament) -> Result<(), String> + Send,
    ) -> Result<Tournament, StoreError> {
        let mut lines = ExportLines { text, number: 0 };
        let Some(ExportLine::Tournament(header)) = lines.next()? else {
            return Err(lines.broken("expected the line of a tournament"));
        };
        let mut tournament = tournament(header).map_err(|why| lines.broken(why))?;
        if let Some(name) = name {
            name.clone_into(&mut tournament.name);
        }
        check(&tournament).map_err(|why| lines.broken(why))?;
        let entrants = tournament.entrants.len();
        let mut transaction = self.writing().await?;
        tournament.id = self
            .insert_tournament(&mut transaction, &tournament)
            .await?;

        let mut total = 0;
        let mut change = 0;
        let mut batch = Vec::with_capacity(AT_ONCE);
        loop {
            let line = lines.next()?;
            let is_game = matches!(line, Some(ExportLine::Game(_)));
            if !is_game || batch.len() == AT_ONCE {
                let first = lines.number - batch.len() as u64;
                change += 1;
                let reported = report::write(&mut transaction, tournament.id, &batch, change).await;
                total += count(reported, &batch, first)?;
                batch.clear();
            }
            match line {
                Some(ExportLine::Game(game)) => {
                    if game.record.len() as u64 > pack::LARGEST {
                        let most = pack::LARGEST >> 20;
                        let why = format!("expected a record of at most {most} MiB");
                        return Err(lines.broken(why));
                    }
                    game.row
                        .check(entrants)
                        .map_err(|error| lines.broken(error.to_string()))?;
                    batch.push(finished(game));
                }
                Some(ExportLine::End { games }) if games == total => break,
                Some(ExportLine::End { games }) => {
                    return Err(lines.broken(format!(
                        "there should be {games} games, but there were {total}"
                    )));
                }
                Some(ExportLine::Tournament(_)) => {
                    return Err(lines.broken("a second tournament begins"));
                }
                None => return Err(lines.broken("the text ends too early")),
            }
        }
        if lines.next()?.is_some() {
            return Err(lines.broken("something follows the last line"));
        }
        transaction.commit().await?;
        Ok(tournament)
    }
}

/// The number of games written; a game that was refused is an error with its line.
fn count(
    reported: Result<Vec<StoredReport>, StoreError>,
    batch: &[FinishedGame],
    first: u64,
) -> Result<u64, StoreError> {
    match reported {
        Ok(reported) => match reported
            .iter()
            .position(|stored| stored.reported != Reported::Accepted)
        {
            None => Ok(reported.len() as u64),
            Some(at) => Err(StoreError::Import {
                line: first + at as u64,
                why: format!(
                    "game {}.{} is there twice",
                    batch[at].row.group, batch[at].row.seating
                ),
            }),
        },
        Err(StoreError::BadGame { group, why, .. }) => {
            let at = batch.iter().rposition(|game| game.row.group == group);
            Err(StoreError::Import {
                line: first + at.unwrap_or(0) as u64,
                why,
            })
        }
        Err(error) => Err(error),
    }
}

fn tournament(header: ExportedTournament) -> Result<Tournament, String> {
    if header.format != FORMAT {
        return Err(format!("expected the format `{FORMAT}`"));
    }
    if header.format_version != FORMAT_VERSION {
        return Err(format!(
            "this is version {} of the format; this arena reads version {FORMAT_VERSION}",
            header.format_version
        ));
    }
    let is_digit = |c: char| matches!(c, '0'..='9' | 'a'..='f');
    if header.commitment.len() != 64 || !header.commitment.chars().all(is_digit) {
        return Err("expected a commitment of 64 hexadecimal digits".to_owned());
    }
    let root: Option<Root> = header
        .root
        .map(|root| root.parse().map_err(|_| "the root is empty"))
        .transpose()?;
    if let Some(root) = &root {
        if root.commitment() != header.commitment {
            return Err("the root does not match the commitment".to_owned());
        }
        if header.over_unix_ms.is_none() {
            return Err("there is a root, but the tournament is not over".to_owned());
        }
    }
    Ok(Tournament {
        id: TournamentId(0),
        name: header.name,
        game: header.game,
        rules_version: header.rules_version,
        definition: header.definition,
        commitment: header.commitment,
        root,
        reproduction: header.reproduction,
        entrants: header.entrants,
        state: match header.over_unix_ms {
            Some(_) if header.cancelled => TournamentState::Cancelled,
            Some(_) => TournamentState::Over,
            None => TournamentState::Stopped,
        },
        created_unix_ms: header.created_unix_ms,
        over_unix_ms: header.over_unix_ms,
        wish: None,
        priority: 0,
        waits: None,
        contest: None,
    })
}

fn finished(mut game: ExportedGame) -> FinishedGame {
    let row = &mut game.row;
    let fouls = row.fouls.iter_mut();
    let fouls = fouls.filter_map(|foul| foul.foul.text_mut());
    for text in fouls.chain([&mut row.reason, &mut row.play_hash]) {
        *text = printable(text);
    }
    FinishedGame {
        chunk: ChunkKey {
            matchup: game.row.matchup,
            first_group: game.row.group,
            groups: 1,
            seating: None,
        },
        attempt: 0,
        record: pack::pack_for_store(&game.record),
        // An export has nothing that is to be withheld.
        withhold: false,
        row: game.row,
        logs: Vec::new(),
    }
}

struct ExportLines<'a, R> {
    text: &'a mut R,
    /// The number of the line that was read last, from 1.
    number: u64,
}

impl<R: BufRead> ExportLines<'_, R> {
    fn next(&mut self) -> Result<Option<ExportLine>, StoreError> {
        let bounds = if self.number == 0 { TOURNAMENT } else { GAME };
        let mut line = Vec::new();
        self.number += 1;
        self.text
            .by_ref()
            .take(bounds.bytes as u64 + 1)
            .read_until(b'\n', &mut line)?;
        if line.is_empty() {
            return Ok(None);
        }
        bounds
            .read(&line)
            .map(Some)
            .map_err(|error| self.broken(error.to_string()))
    }

    fn broken(&self, why: impl Into<String>) -> StoreError {
        StoreError::Import {
            line: self.number,
            why: why.into(),
        }
    }
}

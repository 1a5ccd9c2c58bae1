//! A whole tournament as JSON lines. The first line is the tournament, the last one
//! the number of games, and each line between them is a game with its record.

use std::io::Write;

use referee_core::Root;
use serde::{Deserialize, Deserializer, Serialize, de::Error as _};
use serde_json::Value;
use sqlx::{Row as _, any::AnyRow};

use crate::{
    GameRow, NewEntrant, Store, StoreError, Tournament, TournamentId, TournamentState,
    results::unpacked,
    session::Transaction,
    sql::{Statement, signed},
};

/// The name of this format in the first line.
pub(crate) const FORMAT: &str = "bot-arena tournament";
/// Its version.
pub(crate) const FORMAT_VERSION: u32 = 1;

/// Number of games, with their records, in memory at once.
const PAGE: i64 = 200;

#[derive(Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ExportLine {
    Tournament(ExportedTournament),
    Game(ExportedGame),
    End { games: u64 },
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExportedTournament {
    pub(crate) format: String,
    pub(crate) format_version: u32,
    pub(crate) name: String,
    pub(crate) game: String,
    pub(crate) rules_version: u32,
    pub(crate) definition: Value,
    pub(crate) commitment: String,
    /// In hexadecimal; None before the tournament is over.
    pub(crate) root: Option<String>,
    pub(crate) reproduction: bool,
    pub(crate) created_unix_ms: i64,
    pub(crate) over_unix_ms: Option<i64>,
    /// True if a person ended it before its end.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) cancelled: bool,
    pub(crate) entrants: Vec<NewEntrant>,
}

#[derive(Serialize)]
pub(crate) struct ExportedGame {
    #[serde(flatten)]
    pub(crate) row: GameRow,
    /// The lines of its record.
    pub(crate) record: String,
}

impl Store {
    /// Writes a snapshot of a tournament to `sink` as JSON lines. Before the tournament
    /// is over, the root and the games of incomplete groups are left out, since they
    /// reveal deals that are still to be played.
    ///
    /// The same games give the same text, whichever database has them.
    ///
    /// # Errors
    ///
    /// The database or the sink fails; [`StoreError::Missing`].
    pub async fn export(
        &self,
        id: TournamentId,
        sink: &mut (impl Write + Send),
    ) -> Result<(), StoreError> {
        let mut moment = self.snapshot().await?;
        let tournament = Self::tournament_in(&mut moment, id).await?;
        let is_over = tournament.state.is_final();
        write_line(sink, &ExportLine::Tournament(header(tournament)))?;
        let mut games = 0;
        let mut last = None;
        loop {
            let rows = page(&mut moment, id, last, is_over).await?;
            for row in &rows {
                let game = read(row)?;
                last = Some((game.row.group, game.row.seating));
                write_line(sink, &ExportLine::Game(game))?;
            }
            if rows.is_empty() {
                break;
            }
            games += rows.len() as u64;
        }
        write_line(sink, &ExportLine::End { games })?;
        Ok(sink.flush()?)
    }
}

fn write_line(sink: &mut (impl Write + Send), line: &ExportLine) -> Result<(), StoreError> {
    let mut text = serde_json::to_vec(line).map_err(std::io::Error::from)?;
    text.push(b'\n');
    Ok(sink.write_all(&text)?)
}

fn header(tournament: Tournament) -> ExportedTournament {
    let is_over = tournament.state.is_final();
    let root = tournament.root.as_ref().filter(|_| is_over);
    ExportedTournament {
        format: FORMAT.to_owned(),
        format_version: FORMAT_VERSION,
        root: root.map(Root::reveal),
        name: tournament.name,
        game: tournament.game,
        rules_version: tournament.rules_version,
        definition: tournament.definition,
        commitment: tournament.commitment,
        reproduction: tournament.reproduction,
        created_unix_ms: tournament.created_unix_ms,
        over_unix_ms: tournament.over_unix_ms,
        cancelled: tournament.state == TournamentState::Cancelled,
        entrants: tournament.entrants,
    }
}

async fn page(
    moment: &mut Transaction,
    id: TournamentId,
    after: Option<(u64, u32)>,
    is_over: bool,
) -> Result<Vec<AnyRow>, StoreError> {
    let mut select = Statement::new("SELECT ");
    select.text(GameRow::COLUMNS);
    select.text(
        ", (SELECT record FROM records WHERE records.tournament = games.tournament
             AND records.grp = games.grp AND records.seating = games.seating) AS record
         FROM games WHERE tournament = ",
    );
    select.bind(id.0);
    if let Some((group, seating)) = after {
        select.text(" AND (grp, seating) > (");
        select.bind(signed(group)?);
        select.bind(i64::from(seating)).text(")");
    }
    if !is_over {
        select.text(
            " AND EXISTS (SELECT 1 FROM groups WHERE groups.tournament = games.tournament
                 AND groups.number = games.grp)",
        );
    }
    select.text(" ORDER BY grp, seating LIMIT ").bind(PAGE);
    Ok(select.query(moment)?.fetch_all(&mut **moment).await?)
}

fn read(row: &AnyRow) -> Result<ExportedGame, StoreError> {
    let packed: &[u8] = row.try_get("record")?;
    let row = GameRow::read(row)?;
    Ok(ExportedGame {
        record: unpacked(packed, row.group, row.seating)?,
        row,
    })
}

/// Not derived, since serde can't refuse unknown fields of a flattened struct.
impl<'de> Deserialize<'de> for ExportedGame {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut fields = serde_json::Map::deserialize(from)?;
        let record = fields.remove("record");
        let record = record.ok_or_else(|| D::Error::missing_field("record"))?;
        Ok(Self {
            row: serde_json::from_value(fields.into()).map_err(D::Error::custom)?,
            record: serde_json::from_value(record).map_err(D::Error::custom)?,
        })
    }
}

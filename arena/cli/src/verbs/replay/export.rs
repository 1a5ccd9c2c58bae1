//! `arena replay export` as text: games in the formats of other programs. Pictures and pages are
//! written by `arena-serve`.

use std::io::Write as _;

use anyhow::Context as _;
use arena_terminal::{ExportOutput, FoundGame, FoundGames, Occasions, beside::ExportArgs};
use referee_core::{GameFormat, printable};
use referee_games::write_game;

use crate::{End, report, usage};

/// Writes the games that were typed. Those that can't be written are told, and the others are
/// written; it is an error if none can be.
pub(super) async fn run(args: &ExportArgs, format: GameFormat) -> anyhow::Result<End> {
    let games = match args.games.find().await? {
        FoundGames::Games(games) | FoundGames::Folder(_, games) => games,
        FoundGames::Tournament(name, _) => {
            return usage(format!(
                "{name} is a tournament: `arena tournament export {name} --as {}` writes all its \
                 games",
                format.name
            ));
        }
    };
    let mut out = ExportOutput::open(args.out.as_deref(), args.force)?;
    let mut occasions = Occasions::default();
    let mut left_out = Vec::new();
    for game in &games {
        match written(game, format, &mut occasions) {
            Ok(text) => {
                let written = out.write_all(text.as_bytes());
                written.with_context(|| out.not_written())?;
            }
            Err(why) => left_out.push(why),
        }
    }
    if left_out.len() == games.len()
        && let Some(first) = left_out.first()
    {
        return usage(first);
    }
    out.finish()?;
    for why in &left_out {
        report::warning(why);
    }
    Ok(match left_out.is_empty() {
        true => End::Done,
        false => End::No,
    })
}

/// The text of a game, or why there is none.
fn written(
    game: &FoundGame,
    format: GameFormat,
    occasions: &mut Occasions,
) -> Result<String, String> {
    let record = game.read();
    let record = record.map_err(|error| printable(&format!("{error:#}")))?;
    write_game(format.name, &record, &occasions.of(game))
        .map_err(|why| format!("{} is not written: {why}", game.name()))
}

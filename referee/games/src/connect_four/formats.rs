//! Games in the formats of other programs.

use referee_core::{FormatWriter, GameFormat, GameToWrite, NotWritable};

use super::{
    notation::{column, sign},
    rules::ConnectFour,
};

/// The formats of this game.
pub(super) const FORMATS: &[FormatWriter<ConnectFour>] = &[FormatWriter {
    format: GameFormat {
        name: "columns",
        about: "One line a game in Connect Four: a sign for each column played, from 1 (then a, b \
                and c for 10 to 12), as solvers read it; for boards without a forbidden cell",
    },
    write: columns,
}];

/// The columns that were played, those of the opening too. Solvers know the size of the board, and
/// no board that does not begin empty.
fn columns(game: &GameToWrite<'_, ConnectFour>) -> Result<String, NotWritable> {
    let refused = |what: &str| {
        Err(NotWritable(format!(
            "{what}, for which this format has no sign; pgn and moves have one"
        )))
    };
    if let Some(cell) = game.dealt.public.board.forbidden() {
        return refused(&format!(
            "its board has a forbidden cell ({}, {})",
            cell.x, cell.y
        ));
    }
    if game.setup.begins_with_stones() {
        return refused("its board has stones at the beginning");
    }
    let opening = game.setup.moves.iter().flatten().copied().map(usize::from);
    let played = game.record.moves().map(|(_, notation, _)| column(notation));
    let columns = opening.map(Some).chain(played);
    let signs: Option<String> = columns.map(|column| sign(column?)).collect();
    match signs {
        Some(signs) => Ok(format!("{signs}\n")),
        None => refused("it has a move that is no column"),
    }
}

//! `arena replay verify`: plays records again and says whether they are what they
//! say.

use arena_events::{Event, replay::ReplayedEvent};
use arena_terminal::{Format, FoundGame, FoundGames, GameArgs};
use arena_words::result_with_evidence;
use clap::Args;
use referee_core::{Record, printable};
use referee_games::{game, game_name, verify};

use crate::{
    End, Usage,
    report::{event, plural, text},
    usage,
};

#[derive(Args)]
pub(crate) struct Verify {
    #[command(flatten)]
    games: GameArgs,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Verify {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let (games, is_folder) = match self.games.find().await? {
            FoundGames::Games(games) => (games, false),
            FoundGames::Folder(_, games) => (games, true),
            FoundGames::Tournament(name, _) => {
                return usage(format!(
                    "{name} is a tournament: `arena tournament verify {name}` proves all of its games"
                ));
            }
        };
        let mut end = End::Done;
        let mut proved = 0_u64;
        for game in &games {
            let outcome = game.read().and_then(|record| {
                verify(&record)?;
                Ok(record)
            });
            match &outcome {
                Ok(_) => proved += 1,
                Err(error) if error.is::<Usage>() && end == End::Done => end = End::Usage,
                Err(error) if error.is::<Usage>() => {}
                Err(_) => end = End::No,
            }
            self.show(game, outcome)?;
        }
        if is_folder && self.format == Format::Text {
            let all = plural(games.len() as u64, "game");
            text(&format!("{proved} of {all} proved\n"))?;
        }
        Ok(end)
    }

    fn show(&self, game: &FoundGame, outcome: anyhow::Result<Record>) -> anyhow::Result<()> {
        if self.format == Format::Json {
            return event(Event::Replayed(replayed(game, outcome)));
        }
        let name = game.name();
        text(&match outcome {
            Ok(record) => format!("{name}: proved, {}\n", result_with_evidence(&record)),
            Err(error) => format!("{name}: NOT PROVED: {}\n", in_one_line(&error)),
        })
    }
}

fn in_one_line(error: &anyhow::Error) -> String {
    printable(&format!("{error:#}"))
}

fn replayed(found: &FoundGame, outcome: anyhow::Result<Record>) -> ReplayedEvent {
    let error = outcome.as_ref().err().map(in_one_line);
    let proved = outcome.ok();
    let proved = proved.as_ref();
    let kind = proved.and_then(|record| game(&record.header.game));
    ReplayedEvent {
        record: found.file(),
        game_id: proved.map(|record| record.header.game_id.clone()),
        proved: proved.is_some(),
        game: kind.map(|kind| game_name(kind.info().name)),
        play_hash: proved.map(Record::play_hash),
        error,
    }
}

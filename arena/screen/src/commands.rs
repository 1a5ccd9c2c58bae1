//! Actions of people in a game, whatever it is shown with: move, ask for a hint, take back, write
//! files. It reads nothing and draws nothing; it answers in words.

use std::path::{Path, PathBuf};

use arena_play::PeopleGame;
use arena_terminal::{
    BuiltIn,
    draw::{self, Signs},
};
use arena_words::with_names;
use referee_bots::{OutputOptions, write_output};
use referee_core::{GameKind, Language, Scene, Seat, Words, printable};
use tokio::sync::oneshot;

use super::words;

/// So many legal moves are shown without being asked for.
pub(super) const FEW: usize = 16;

/// A person's wish after a game.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum After {
    Left,
    /// They have left a game that goes on with this file.
    Saved(PathBuf),
    Interrupted,
    Again,
    Settings,
}

/// The end of a person's turn.
pub(super) enum Done {
    Moved,
    TakenBack,
    Left(After),
}

#[derive(Clone, Copy)]
pub(super) struct Commands<'a> {
    pub(super) language: Language,
    pub(super) signs: Signs,
    pub(super) kind: &'static dyn GameKind,
    /// The built-in bot that gives hints.
    pub(super) hints: &'a str,
}

impl Commands<'_> {
    /// The player in a seat, in words.
    pub(super) fn sits(&self, game: &PeopleGame, seat: Seat) -> String {
        words::sits(self.language, seat, &self.who(game, seat))
    }

    /// A player's name, with the sign of their pieces.
    pub(super) fn who(&self, game: &PeopleGame, seat: Seat) -> String {
        let name = &game.names()[seat];
        // Discs tell the seats apart where a board has some of both.
        let is_board = self.kind.info().seats == 2 && !self.kind.has_secrets();
        match is_board {
            true => format!("{name} ({})", self.signs.disc(seat)),
            false => name.clone(),
        }
    }

    /// The scene that a person sees, in which the seats are named as in the list of moves.
    pub(super) fn scene(&self, game: &PeopleGame, seat: Seat) -> Scene {
        let names = game.names().as_slice();
        let named = |text: &Words| Words::each(|language| with_names(text, language, names));
        let mut scene = game.scene(seat);
        for area in &mut scene.areas {
            area.label = named(&area.label);
        }
        for caption in &mut scene.captions {
            *caption = named(caption);
        }
        scene
    }

    /// True if somebody else must sit down before this seat is shown, since hands are secret.
    pub(super) fn is_handed_over(
        &self,
        game: &PeopleGame,
        before: Option<Seat>,
        seat: Seat,
    ) -> bool {
        self.kind.has_secrets() && game.people().count() > 1 && before != Some(seat)
    }

    /// Plays a move as somebody wrote it, or says why it is none.
    pub(super) fn play(
        &self,
        game: &mut PeopleGame,
        seat: Seat,
        written: &str,
    ) -> Result<(), String> {
        let legal = game.legal(seat);
        match game.move_as_written(seat, written) {
            Ok(_) => Ok(()),
            Err(slip) => {
                let notation = self.kind.info().notation.get(self.language);
                Err(words::slip(self.language, &slip, notation, &legal, FEW))
            }
        }
    }

    /// The move that a built-in bot would play. It thinks on a thread of its own, for which nobody
    /// waits who leaves.
    pub(super) fn hint(
        &self,
        game: &PeopleGame,
        seat: Seat,
    ) -> impl Future<Output = anyhow::Result<String>> + use<> {
        let language = self.language;
        let hints = self.hints.to_owned();
        let question = game.hint(seat);
        async move {
            let bot = BuiltIn(house_bots::bot(&hints).map_err(anyhow::Error::msg)?);
            let (sender, asked) = oneshot::channel();
            std::thread::spawn(move || {
                // Whoever has left hears no hint.
                let _ = sender.send(question.and_then(|question| question.ask(&bot)));
            });
            Ok(match asked.await? {
                Ok(notation) => words::hint(language, &hints, &notation),
                Err(error) => error.to_string(),
            })
        }
    }

    /// The score that each player can expect, as the person may know it. It is thought about on a
    /// thread of its own.
    pub(super) fn evaluation(
        &self,
        game: &PeopleGame,
        seat: Seat,
    ) -> impl Future<Output = anyhow::Result<String>> + use<> {
        let (language, signs) = (self.language, self.signs);
        let names = game.names().as_slice().to_vec();
        let question = game.evaluation(seat);
        let analyst = house_bots::analyst(self.kind.info());
        async move {
            let question = match question {
                Ok(question) => question,
                Err(error) => return Ok(error.to_string()),
            };
            let bot = analyst.map(house_bots::bot).transpose();
            let bot = bot.map_err(anyhow::Error::msg)?.map(BuiltIn);
            let (sender, asked) = oneshot::channel();
            std::thread::spawn(move || {
                // Whoever has left hears nothing.
                let _ = sender.send(match bot {
                    Some(bot) => question.estimate(&bot).map(Some),
                    None => Ok(question.search()),
                });
            });
            Ok(match asked.await? {
                Ok(Some(expects)) => {
                    words::evaluation(language, &names, expects.as_slice(), analyst, signs)
                }
                Ok(None) => words::no_evaluation(language).to_owned(),
                Err(error) => error.to_string(),
            })
        }
    }

    /// Takes the last move of a person back.
    pub(super) async fn take_back(
        &self,
        game: &mut PeopleGame,
        seat: Seat,
    ) -> Result<&'static str, String> {
        match game.take_back(seat).await {
            Ok(()) => Ok(words::taken_back(self.language)),
            Err(why) => Err(words::not_taken_back(self.language, &why)),
        }
    }

    /// Writes what they see to a new file.
    pub(super) fn save(&self, game: &PeopleGame, seat: Seat, file: &str) -> String {
        let drawn = draw::scene(&self.scene(game, seat), self.signs, self.language);
        let mut text = words::heading(self.language, self.kind.info());
        for (seat, name) in game.names().iter() {
            text += &format!("{seat}: {name}\n");
        }
        text += &anstream::adapter::strip_str(&drawn).to_string();
        if let Some(result) = words::result(self.language, game) {
            text += &format!("{result}\n");
        }
        self.write(file, text.as_bytes())
    }

    /// Writes the record to a new file, where the game is over.
    pub(super) fn record(&self, game: &PeopleGame, file: &str) -> String {
        match game.record() {
            Some(record) => self.write(file, record.to_json_lines().as_bytes()),
            None => words::not_over(self.language).to_owned(),
        }
    }

    fn write(&self, file: &str, bytes: &[u8]) -> String {
        if file.is_empty() {
            return words::which_file(self.language).to_owned();
        }
        // Nobody at this terminal could end a wait.
        match write_output(Path::new(file), bytes, OutputOptions::default()) {
            Ok(()) => words::written(self.language, &printable(file)),
            Err(error) => words::not_written(self.language, &printable(file), &error),
        }
    }
}

//! One game at the terminal: it is drawn, moves and commands are read.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use arena_play::{PeopleGame, Seating, Turn};
use referee_core::{GameKind, Scene, Seat, printable};
use referee_worker::LaunchContext;

use super::{
    input::{Input, Typed},
    words::{self, Command, Language},
};
use crate::{
    built_in::BuiltIn,
    draw::{self, Signs},
    report,
    verbs::replay::in_words,
};

/// So many legal moves are shown before each move.
const FEW: usize = 16;

/// What is wanted after a game.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum After {
    Left,
    Interrupted,
    Again,
    Settings,
}

pub(super) struct Table<'a> {
    language: Language,
    signs: Signs,
    kind: &'static dyn GameKind,
    /// The built-in bot that gives hints.
    hints: &'a str,
    /// Who looks at the terminal, where others may not see what they see.
    looks: Option<Seat>,
    /// How many moves have been told.
    told: usize,
}

/// What becomes of the game.
enum Done {
    Moved,
    TakenBack,
    Left(After),
}

impl<'a> Table<'a> {
    pub(super) const fn new(
        language: Language,
        signs: Signs,
        kind: &'static dyn GameKind,
        hints: &'a str,
    ) -> Self {
        Self {
            language,
            signs,
            kind,
            hints,
            looks: None,
            told: 0,
        }
    }

    /// Plays one game, and what people do after it.
    pub(super) async fn play(
        &mut self,
        seating: Seating,
        context: &LaunchContext,
        input: &mut Input,
    ) -> anyhow::Result<After> {
        let mut game = PeopleGame::begin(seating, context).await?;
        for (seat, name) in game.names().iter() {
            let sign = self.sign(seat).map(|sign| format!(" ({sign})"));
            let sign = sign.unwrap_or_default();
            report::line(&words::sits(self.language, seat, &format!("{name}{sign}")))?;
        }
        report::line(words::how_to_play(self.language))?;
        let after = self.rounds(&mut game, input).await;
        game.end().await;
        after
    }

    async fn rounds(&mut self, game: &mut PeopleGame, input: &mut Input) -> anyhow::Result<After> {
        loop {
            match game.play_on().await {
                Turn::People(seats) => {
                    for seat in seats {
                        match self.turn(game, seat, input).await? {
                            Done::Moved => {}
                            Done::TakenBack => break,
                            Done::Left(after) => return Ok(after),
                        }
                    }
                }
                Turn::Over => {
                    if let Some(after) = self.over(game, input).await? {
                        return Ok(after);
                    }
                }
            }
        }
    }

    /// A person's turn, until they have moved.
    async fn turn(
        &mut self,
        game: &mut PeopleGame,
        seat: Seat,
        input: &mut Input,
    ) -> anyhow::Result<Done> {
        if let Some(after) = self.hand_over(game, seat, input).await? {
            return Ok(Done::Left(after));
        }
        self.tell_moves(game, seat)?;
        self.draw(&game.scene(seat))?;
        let legal = game.legal(seat);
        if legal.len() <= FEW {
            report::line(&words::legal(self.language, &legal))?;
        } else {
            report::line(&words::many_legal(self.language, legal.len()))?;
        }
        let prompt = self.who(game, seat);
        loop {
            let line = match input.ask(&prompt).await? {
                Typed::Line(line) => line,
                // Whoever leaves gives up.
                Typed::End => return Ok(Done::Left(After::Left)),
                Typed::Interrupt => return Ok(Done::Left(After::Interrupted)),
            };
            if line.is_empty() {
                continue;
            }
            match words::command(&line) {
                Some((Command::Help, _)) => {
                    report::text(&words::help(self.language, self.kind.info()))?;
                }
                Some((Command::Rules, _)) => {
                    report::text(&words::rules(self.language, self.kind.info()))?;
                }
                Some((Command::Legal, _)) => report::line(&words::legal(self.language, &legal))?,
                Some((Command::Board, _)) => self.draw(&game.scene(seat))?,
                Some((Command::Hint, _)) => self.hint(game, seat).await?,
                Some((Command::Back, _)) => match game.take_back(seat).await {
                    Ok(()) => {
                        self.told = 0;
                        report::line(words::taken_back(self.language))?;
                        return Ok(Done::TakenBack);
                    }
                    Err(why) => report::line(&words::not_taken_back(self.language, &why))?,
                },
                Some((Command::Save, file)) => self.save(game, seat, file)?,
                Some((Command::Resign, _)) => {
                    game.resign(seat);
                    return Ok(Done::Moved);
                }
                Some((Command::Quit, _)) => return Ok(Done::Left(After::Left)),
                Some((Command::Record | Command::Again | Command::Settings, _)) => {
                    report::line(words::not_over(self.language))?;
                }
                None => match game.move_as_written(seat, &line) {
                    Ok(_) => return Ok(Done::Moved),
                    Err(slip) => {
                        let notation = self.kind.info().notation;
                        report::line(&words::slip(self.language, &slip, notation, &legal, FEW))?;
                    }
                },
            }
        }
    }

    /// Where hands are secret, the next person sits down first.
    async fn hand_over(
        &mut self,
        game: &PeopleGame,
        seat: Seat,
        input: &mut Input,
    ) -> anyhow::Result<Option<After>> {
        let before = self.looks.replace(seat);
        if before != Some(seat) {
            self.told = 0;
        }
        if !self.kind.has_secrets() || game.people().count() < 2 || before == Some(seat) {
            return Ok(None);
        }
        // What the last person saw is out of sight.
        report::text(&"\n".repeat(60))?;
        let prompt = words::sits_down(self.language, &game.names()[seat]);
        Ok(match input.ask(&prompt).await? {
            Typed::Line(_) => None,
            Typed::End => Some(After::Left),
            Typed::Interrupt => Some(After::Interrupted),
        })
    }

    /// What has been played since they were asked last, as far as they may know it.
    fn tell_moves(&mut self, game: &PeopleGame, seat: Seat) -> anyhow::Result<()> {
        let moves: Vec<_> = game.moves(seat).collect();
        // After a move was taken back, or somebody else has looked, the last ones are enough.
        let last = moves
            .len()
            .saturating_sub(usize::from(self.kind.info().seats));
        for one in &moves[self.told.max(last).min(moves.len())..] {
            let who = self.who(game, one.seat);
            report::line(&format!("{who}: {}", one.notation))?;
        }
        self.told = moves.len();
        Ok(())
    }

    /// A player's name, with the sign of their pieces.
    fn who(&self, game: &PeopleGame, seat: Seat) -> String {
        let name = &game.names()[seat];
        match self.sign(seat) {
            Some(sign) => format!("{name} ({sign})"),
            None => name.clone(),
        }
    }

    /// The sign of a seat's pieces, where a board has some of both.
    fn sign(&self, seat: Seat) -> Option<String> {
        let is_board = self.kind.info().seats == 2 && !self.kind.has_secrets();
        is_board.then(|| self.signs.disc(seat))
    }

    fn draw(&self, scene: &Scene) -> anyhow::Result<()> {
        report::text(&format!("\n{}\n", draw::scene(scene, self.signs)))
    }

    async fn hint(&self, game: &PeopleGame, seat: Seat) -> anyhow::Result<()> {
        let bot = BuiltIn(house_bots::bot(self.hints).map_err(anyhow::Error::msg)?);
        let question = game.hint(seat);
        let asked = tokio::task::spawn_blocking(move || question?.ask(&bot));
        report::line(&match asked.await? {
            Ok(notation) => words::hint(self.language, self.hints, &notation),
            Err(error) => error.to_string(),
        })
    }

    /// Writes what they see to a new file.
    fn save(&self, game: &PeopleGame, seat: Seat, file: &str) -> anyhow::Result<()> {
        let drawn = draw::scene(&game.scene(seat), self.signs);
        let mut text = words::heading(self.language, self.kind.info());
        for (seat, name) in game.names().iter() {
            text += &format!("{seat}: {name}\n");
        }
        text += &anstream::adapter::strip_str(&drawn).to_string();
        if let Some(record) = game.record() {
            text += &format!("{}\n", in_words(record));
        }
        self.write(file, text.as_bytes())
    }

    fn write(&self, file: &str, bytes: &[u8]) -> anyhow::Result<()> {
        if file.is_empty() {
            return report::line(words::which_file(self.language));
        }
        let path = Path::new(file);
        let written = OpenOptions::new()
            .write(true)
            .create_new(true)
            .open(path)
            .and_then(|mut file| file.write_all(bytes));
        report::line(&match written {
            Ok(()) => words::written(self.language, &printable(file)),
            Err(error) => words::not_written(self.language, &printable(file), &error),
        })
    }

    /// What people do when the game is over; none where it goes on after all.
    async fn over(
        &mut self,
        game: &mut PeopleGame,
        input: &mut Input,
    ) -> anyhow::Result<Option<After>> {
        let Some(seat) = self.looks.or_else(|| game.people().next()) else {
            return Ok(Some(After::Left));
        };
        self.tell_moves(game, seat)?;
        self.draw(&game.scene(seat))?;
        if let Some(record) = game.record() {
            report::line(&in_words(record))?;
        }
        report::line(words::after(self.language))?;
        loop {
            let line = match input.ask("").await? {
                Typed::Line(line) => line,
                Typed::End => return Ok(Some(After::Left)),
                Typed::Interrupt => return Ok(Some(After::Interrupted)),
            };
            match words::command(&line) {
                Some((Command::Save, file)) => self.save(game, seat, file)?,
                Some((Command::Record, file)) => {
                    if let Some(record) = game.record() {
                        let lines = record.to_json_lines();
                        self.write(file, lines.as_bytes())?;
                    }
                }
                Some((Command::Board, _)) => self.draw(&game.scene(seat))?,
                Some((Command::Back, _)) => match game.take_back(seat).await {
                    Ok(()) => {
                        self.told = 0;
                        report::line(words::taken_back(self.language))?;
                        return Ok(None);
                    }
                    Err(why) => report::line(&words::not_taken_back(self.language, &why))?,
                },
                Some((Command::Again, _)) => return Ok(Some(After::Again)),
                Some((Command::Settings, _)) => return Ok(Some(After::Settings)),
                Some((Command::Quit, _)) => return Ok(Some(After::Left)),
                _ => report::line(words::after(self.language))?,
            }
        }
    }
}

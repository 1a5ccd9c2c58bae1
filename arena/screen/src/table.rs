//! One game at the terminal: it is drawn, moves and commands are read.

use arena_play::{PeopleGame, PeopleTurn};
use arena_terminal::{
    draw::{self},
    report,
};
use referee_bots::LaunchContext;
use referee_core::{Scene, Seat};

use super::{
    commands::{After, Commands, Done, FEW},
    input::{Input, Typed},
    left::GameSoFar,
    words::{self, Command},
};

pub(super) struct Table<'a> {
    commands: Commands<'a>,
    /// The person who looks at the terminal, where others may not see the same.
    looks: Option<Seat>,
    /// Number of moves that have been told.
    told: usize,
}

impl<'a> Table<'a> {
    pub(super) const fn new(commands: Commands<'a>) -> Self {
        Self {
            commands,
            looks: None,
            told: 0,
        }
    }

    /// Plays one game, and what people do after it.
    pub(super) async fn play(
        &mut self,
        game: GameSoFar,
        context: &LaunchContext,
        input: &mut Input,
    ) -> anyhow::Result<After> {
        let GameSoFar {
            seating, answers, ..
        } = game;
        let mut game = PeopleGame::resume(seating, answers, context).await?;
        for (seat, _) in game.names().iter() {
            report::line(&self.commands.sits(&game, seat))?;
        }
        report::line(words::how_to_play(self.commands.language))?;
        let after = self.rounds(&mut game, input).await;
        game.end().await;
        after
    }

    async fn rounds(&mut self, game: &mut PeopleGame, input: &mut Input) -> anyhow::Result<After> {
        loop {
            match game.play_on().await? {
                PeopleTurn::People(seats) => {
                    for seat in seats {
                        match self.turn(game, seat, input).await? {
                            Done::Moved => {}
                            Done::TakenBack => break,
                            Done::Left(after) => return Ok(after),
                        }
                    }
                }
                PeopleTurn::Over => {
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
        let Commands { language, kind, .. } = self.commands;
        let info = kind.info();
        if let Some(after) = self.hand_over(game, seat, input).await? {
            return Ok(Done::Left(after));
        }
        self.tell_moves(game, seat)?;
        self.draw(&self.commands.scene(game, seat))?;
        let legal = game.legal(seat);
        if legal.len() <= FEW {
            report::line(&words::legal(language, &legal))?;
        } else {
            report::line(&words::many_legal(language, legal.len()))?;
        }
        let prompt = self.commands.who(game, seat);
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
                    report::text(&words::help(language, info))?;
                }
                Some((Command::Rules, _)) => {
                    report::text(&words::printed_rules(language, info))?;
                }
                Some((Command::Legal, _)) => report::line(&words::legal(language, &legal))?,
                Some((Command::Board, _)) => self.draw(&self.commands.scene(game, seat))?,
                Some((Command::Hint, _)) => {
                    report::line(&self.commands.hint(game, seat).await?)?;
                }
                Some((Command::Evaluate, _)) => {
                    report::text(&(self.commands.evaluation(game, seat).await? + "\n"))?;
                }
                Some((Command::Back, _)) => {
                    if self.take_back(game, seat).await? {
                        return Ok(Done::TakenBack);
                    }
                }
                Some((Command::Save, file)) => {
                    report::line(&self.commands.save(game, seat, file))?;
                }
                Some((Command::Resign, _)) => {
                    game.resign(seat);
                    return Ok(Done::Moved);
                }
                Some((Command::Quit, _)) => return Ok(Done::Left(After::Left)),
                Some((Command::Record | Command::Again | Command::Settings, _)) => {
                    report::line(words::not_over(language))?;
                }
                None => match self.commands.play(game, seat, &line) {
                    Ok(()) => return Ok(Done::Moved),
                    Err(slip) => report::line(&slip)?,
                },
            }
        }
    }

    /// Lets the next person sit down first, where hands are secret.
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
        if !self.commands.is_handed_over(game, before, seat) {
            return Ok(None);
        }
        // What the last person saw is out of sight.
        report::text(&"\n".repeat(60))?;
        let prompt = words::sits_down(self.commands.language, &game.names()[seat]);
        Ok(match input.ask(&prompt).await? {
            Typed::Line(_) => None,
            Typed::End => Some(After::Left),
            Typed::Interrupt => Some(After::Interrupted),
        })
    }

    /// Tells the moves since they were asked last, as far as they may know them.
    fn tell_moves(&mut self, game: &PeopleGame, seat: Seat) -> anyhow::Result<()> {
        let moves: Vec<_> = game.moves(seat).collect();
        // After a move was taken back, or somebody else has looked, the last ones are enough.
        let last = moves
            .len()
            .saturating_sub(usize::from(self.commands.kind.info().seats));
        for one in &moves[self.told.max(last).min(moves.len())..] {
            let who = self.commands.who(game, one.seat);
            let action = one.action.in_words(self.commands.language);
            report::line(&format!("{who}: {action}"))?;
        }
        self.told = moves.len();
        Ok(())
    }

    fn draw(&self, scene: &Scene) -> anyhow::Result<()> {
        let Commands {
            signs, language, ..
        } = self.commands;
        report::text(&format!("\n{}\n", draw::scene(scene, signs, language)))
    }

    /// Takes a move back, or says why not.
    async fn take_back(&mut self, game: &mut PeopleGame, seat: Seat) -> anyhow::Result<bool> {
        let taken = self.commands.take_back(game, seat).await;
        if taken.is_ok() {
            self.told = 0;
        }
        report::line(match &taken {
            Ok(said) => said,
            Err(why) => why,
        })?;
        Ok(taken.is_ok())
    }

    /// The choice of the people when the game is over; none where it goes on after all.
    async fn over(
        &mut self,
        game: &mut PeopleGame,
        input: &mut Input,
    ) -> anyhow::Result<Option<After>> {
        let language = self.commands.language;
        let Some(seat) = self.looks.or_else(|| game.people().next()) else {
            return Ok(Some(After::Left));
        };
        self.tell_moves(game, seat)?;
        self.draw(&self.commands.scene(game, seat))?;
        if let Some(result) = words::result(language, game) {
            report::line(&result)?;
        }
        report::line(words::after(language))?;
        loop {
            let line = match input.ask("").await? {
                Typed::Line(line) => line,
                Typed::End => return Ok(Some(After::Left)),
                Typed::Interrupt => return Ok(Some(After::Interrupted)),
            };
            match words::command(&line) {
                Some((Command::Save, file)) => {
                    report::line(&self.commands.save(game, seat, file))?;
                }
                Some((Command::Record, file)) => {
                    report::line(&self.commands.record(game, file))?;
                }
                Some((Command::Board, _)) => self.draw(&self.commands.scene(game, seat))?,
                Some((Command::Back, _)) => {
                    if self.take_back(game, seat).await? {
                        return Ok(None);
                    }
                }
                Some((Command::Again, _)) => return Ok(Some(After::Again)),
                Some((Command::Settings, _)) => return Ok(Some(After::Settings)),
                Some((Command::Quit, _)) => return Ok(Some(After::Left)),
                _ => report::line(words::after(language))?,
            }
        }
    }
}

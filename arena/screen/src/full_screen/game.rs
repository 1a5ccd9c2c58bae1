//! One game on the full screen: it is shown, and what is wanted is done.

use std::{
    path::PathBuf,
    pin::pin,
    time::{Duration, Instant},
};

use anstream::adapter::strip_str;
use arena_play::{PeopleGame, PeopleTurn};
use referee_bots::LaunchContext;
use referee_core::{Seat, printable};

use super::{
    super::{
        commands::{After, Commands, Done},
        left::GameSoFar,
        words::{self, Command},
    },
    Screen,
    view::{GamePhase, GameView, Intent, ShownGame},
};

/// Time between two drawings of the time that is left.
const TICK: Duration = Duration::from_millis(250);

/// Plays one game, and what people do after it.
pub(in super::super) async fn play(
    screen: &mut Screen,
    commands: Commands<'_>,
    begun: GameSoFar,
    context: &LaunchContext,
) -> anyhow::Result<After> {
    let mut shows = GameScreen {
        screen,
        commands,
        view: GameView::new(commands),
        looks: None,
        file: begun.file.clone(),
    };
    shows.view.show(ShownGame {
        status: words::starting(commands.language).to_owned(),
        ..ShownGame::default()
    });
    let resumed = PeopleGame::resume(begun.seating.clone(), begun.answers.clone(), context);
    let mut game = match shows.wait(resumed).await? {
        Ok(game) => game?,
        Err(after) => return Ok(after),
    };
    let after = loop {
        let after = shows.rounds(&mut game).await;
        if let Ok(After::Saved(file)) = &after
            && let Err(error) = begun.save(game.answers())
        {
            let file = printable(&file.to_string_lossy());
            let said = words::not_written(commands.language, &file, &error);
            shows.view.say(said);
            continue;
        }
        break after;
    };
    shows.view.leave(words::stopping(commands.language));
    let ended = shows.wait(game.end()).await;
    match (after?, ended?) {
        (after, Ok(())) => Ok(after),
        // Somebody left meanwhile.
        (_, Err(after)) => Ok(after),
    }
}

struct GameScreen<'a> {
    screen: &'a mut Screen,
    commands: Commands<'a>,
    view: GameView<'a>,
    /// The person who looks at the terminal, where others may not see the same.
    looks: Option<Seat>,
    /// The file that a game is saved in that is left.
    file: PathBuf,
}

impl GameScreen<'_> {
    async fn rounds(&mut self, game: &mut PeopleGame) -> anyhow::Result<After> {
        loop {
            self.show(game, GamePhase::Waiting, self.thinking(game));
            let turn = match self.wait(game.step()).await? {
                Ok(turn) => turn?,
                Err(after) => return Ok(after),
            };
            match turn {
                None => {}
                Some(PeopleTurn::People(seats)) => {
                    for seat in seats {
                        match self.turn(game, seat).await? {
                            Done::Moved => {}
                            Done::TakenBack => break,
                            Done::Left(after) => return Ok(after),
                        }
                    }
                }
                Some(PeopleTurn::Over) => {
                    if let Some(after) = self.over(game).await? {
                        return Ok(after);
                    }
                }
            }
        }
    }

    /// The bots that are waited for while no person is asked.
    fn thinking(&self, game: &PeopleGame) -> String {
        let people: Vec<Seat> = game.people().collect();
        let bots = (game.names().iter()).filter(|(seat, _)| !people.contains(seat));
        let bots: Vec<String> = bots.map(|(seat, _)| self.who(game, seat)).collect();
        words::thinking(self.commands.language, &bots)
    }

    /// A player's name, without colour.
    fn who(&self, game: &PeopleGame, seat: Seat) -> String {
        strip_str(&self.commands.who(game, seat)).to_string()
    }

    /// Shows the game as it is now.
    fn show(&mut self, game: &PeopleGame, phase: GamePhase, status: String) {
        let Some(seat) = self.looks.or_else(|| game.people().next()) else {
            return;
        };
        let mut shown = ShownGame {
            phase,
            status,
            deadline: game.deadline(),
            is_running: game.is_begun() && game.record().is_none(),
            saved_in: (game.bot_that_cant_resume().is_none()).then(|| self.file.clone()),
            ..ShownGame::default()
        };
        // Until the next person has sat down, nobody sees what they know.
        if phase != GamePhase::HandOver {
            shown.scene = self.commands.scene(game, seat);
            let moves = game.moves(seat);
            let moves = moves.map(|one| {
                let action = one.action.in_words(self.commands.language);
                format!("{}: {action}", self.who(game, one.seat))
            });
            shown.moves = moves.collect();
        }
        if phase == GamePhase::Playing {
            shown.legal = game.legal(seat);
        }
        self.view.show(shown);
    }

    /// A person's turn, until they have moved.
    async fn turn(&mut self, game: &mut PeopleGame, seat: Seat) -> anyhow::Result<Done> {
        let commands = self.commands;
        let before = self.looks.replace(seat);
        if commands.is_handed_over(game, before, seat) {
            let prompt = words::sits_down(commands.language, &game.names()[seat]);
            self.show(game, GamePhase::HandOver, String::new());
            self.view.say(prompt);
            loop {
                match self.intent().await? {
                    None => {
                        game.time_is_up();
                        return Ok(Done::Moved);
                    }
                    Some(Intent::SitDown) => break,
                    Some(intent) => {
                        if let Some(after) = leaves(&intent) {
                            return Ok(Done::Left(after));
                        }
                    }
                }
            }
            self.view.say("");
        }
        loop {
            let status = words::to_move(commands.language, &self.who(game, seat));
            self.show(game, GamePhase::Playing, status);
            let Some(intent) = self.intent().await? else {
                game.time_is_up();
                return Ok(Done::Moved);
            };
            match intent {
                Intent::Play(written) => match commands.play(game, seat, &written) {
                    Ok(()) => {
                        self.view.say("");
                        return Ok(Done::Moved);
                    }
                    Err(slip) => self.view.say(slip),
                },
                Intent::Run(Command::Hint, _) => {
                    let bot = format!("house:{}", commands.hints);
                    let status = words::thinking(commands.language, &[bot]);
                    self.view.wait(status);
                    match self.wait(commands.hint(game, seat)).await? {
                        Ok(hint) => self.view.say(hint?),
                        Err(after) => return Ok(Done::Left(after)),
                    }
                }
                Intent::Run(Command::Evaluate, _) => {
                    self.view
                        .wait(words::evaluating(commands.language).to_owned());
                    match self.wait(commands.evaluation(game, seat)).await? {
                        Ok(evaluation) => self.view.say(evaluation?),
                        Err(after) => return Ok(Done::Left(after)),
                    }
                }
                Intent::Run(Command::Back, _) => match self.take_back(game, seat).await? {
                    Ok(true) => return Ok(Done::TakenBack),
                    Ok(false) => {}
                    Err(after) => return Ok(Done::Left(after)),
                },
                Intent::Run(Command::Save, file) => self.view.say(commands.save(game, seat, &file)),
                Intent::Run(Command::Resign, _) => {
                    game.resign(seat);
                    return Ok(Done::Moved);
                }
                intent => {
                    if let Some(after) = leaves(&intent) {
                        return Ok(Done::Left(after));
                    }
                }
            }
        }
    }

    /// The choice of the people when the game is over; none where it goes on after all.
    async fn over(&mut self, game: &mut PeopleGame) -> anyhow::Result<Option<After>> {
        let commands = self.commands;
        let Some(seat) = self.looks.or_else(|| game.people().next()) else {
            return Ok(Some(After::Left));
        };
        let result = words::result(commands.language, game).unwrap_or_default();
        self.view.say(&result);
        loop {
            let status = words::is_over(commands.language).to_owned();
            self.show(game, GamePhase::Over, status);
            let Some(intent) = self.intent().await? else {
                continue;
            };
            match intent {
                // How it ended is still seen.
                Intent::Run(Command::Save, file) => {
                    let said = commands.save(game, seat, &file);
                    self.view.say(format!("{result}\n{said}"));
                }
                Intent::Run(Command::Record, file) => {
                    let said = commands.record(game, &file);
                    self.view.say(format!("{result}\n{said}"));
                }
                Intent::Run(Command::Back, _) => match self.take_back(game, seat).await? {
                    Ok(true) => return Ok(None),
                    Ok(false) => {}
                    Err(after) => return Ok(Some(after)),
                },
                Intent::Run(Command::Again, _) => return Ok(Some(After::Again)),
                Intent::Run(Command::Settings, _) => return Ok(Some(After::Settings)),
                intent => {
                    if let Some(after) = leaves(&intent) {
                        return Ok(Some(after));
                    }
                }
            }
        }
    }

    /// Takes a move back, or says why not.
    async fn take_back(
        &mut self,
        game: &mut PeopleGame,
        seat: Seat,
    ) -> anyhow::Result<Result<bool, After>> {
        self.view.wait(String::new());
        let commands = self.commands;
        let taken = match self.wait(commands.take_back(game, seat)).await? {
            Ok(taken) => taken,
            Err(after) => return Ok(Err(after)),
        };
        self.view.say(match &taken {
            Ok(said) => said,
            Err(why) => why.as_str(),
        });
        Ok(Ok(taken.is_ok()))
    }

    /// Waits until somebody wants something; none where their time is up.
    async fn intent(&mut self) -> anyhow::Result<Option<Intent>> {
        loop {
            let Self { screen, view, .. } = self;
            screen.draw(|frame| view.render(frame));
            let key = tokio::select! {
                key = screen.key() => Some(key?),
                () = tick(view.deadline()) => None,
            };
            if view.deadline().is_some_and(|at| Instant::now() >= at) {
                return Ok(None);
            }
            if let Some(intent) = key.and_then(|key| view.press(key)) {
                return Ok(Some(intent));
            }
        }
    }

    /// Waits for something that is not a person. Whoever leaves need not wait.
    async fn wait<T>(
        &mut self,
        future: impl Future<Output = T>,
    ) -> anyhow::Result<Result<T, After>> {
        let Self { screen, view, .. } = self;
        let mut future = pin!(future);
        loop {
            screen.draw(|frame| view.render(frame));
            let key = tokio::select! {
                done = &mut future => return Ok(Ok(done)),
                key = screen.key() => Some(key?),
                // When the time is up, this still is to be waited for.
                () = tick(view.deadline().filter(|at| *at > Instant::now())) => None,
            };
            let intent = key.and_then(|key| view.press(key));
            if let Some(after) = intent.as_ref().and_then(leaves) {
                return Ok(Err(after));
            }
        }
    }
}

/// When the time that is left is drawn again; never where there is no limit.
async fn tick(deadline: Option<Instant>) {
    match deadline {
        Some(deadline) => {
            let left = deadline.saturating_duration_since(Instant::now());
            tokio::time::sleep(left.min(TICK)).await;
        }
        None => std::future::pending().await,
    }
}

/// The way in which somebody leaves, if they do. Nothing is resigned.
fn leaves(intent: &Intent) -> Option<After> {
    match intent {
        Intent::Interrupt => Some(After::Interrupted),
        Intent::Save(file) => Some(After::Saved(file.clone())),
        Intent::Run(Command::Quit, _) => Some(After::Left),
        _ => None,
    }
}

//! `arena play`: a person at the terminal against bots, or several people at one terminal. Also the
//! full screen for a text that changes, as `arena watch` shows.

#![forbid(unsafe_code)]

mod commands;
mod full_screen;
mod input;
mod left;
mod program;
mod rules;
mod settings;
mod table;
mod words;

use std::{path::Path, time::Duration};

use anyhow::Context as _;
use arena_play::Seating;
use arena_terminal::{Format, Written, draw::Signs, move_limit, report, setup_help};
use arena_tournament::{parse_limit, secret_root};
use clap::{
    Args,
    builder::{PossibleValuesParser, TypedValueParser},
};
use referee_bots::{Entry, LaunchContext};
use referee_cli::{End, LaunchArgs, bots::schemes, usage};
use referee_core::{GameKind, Language, Root};

pub use self::full_screen::Pager;
use self::{
    commands::{After, Commands},
    full_screen::Screen,
    input::Input,
    left::GameSoFar,
    settings::{Settings, Settled},
    table::Table,
};

/// On a terminal it takes the full screen, with keys and a mouse. Through a pipe, or with --plain, it
/// reads lines: you type your moves, or `help`.
#[derive(Args)]
pub struct Play {
    /// The game, for example connect-four; or the file of a game that was left, to go on with it.
    game: String,
    /// A bot to play against, SPEC or NAME=SPEC; once for each, or once for all other seats
    /// [default: the strongest built-in bot].
    #[arg(long, value_name = "SPEC", conflicts_with = "hot_seat")]
    against: Vec<String>,
    /// People in every seat, at this terminal.
    #[arg(long)]
    hot_seat: bool,
    /// Your seat, from 0, or `random`; seat 0 begins in games of two.
    #[arg(long, default_value = "0")]
    seat: String,
    /// What you are called.
    #[arg(long, env = "USER", default_value = "you")]
    name: String,
    /// The set-up.
    #[arg(long, help = setup_help(), allow_hyphen_values = true, value_parser = Written)]
    setup: Option<String>,
    /// The same deal again: a number or a word.
    #[arg(long)]
    seed: Option<String>,
    /// The time limit of bots for one move. You have none without --timed.
    #[arg(long, default_value = move_limit(), value_parser = parse_limit)]
    move_limit: Duration,
    /// You have the same limit; an answer that comes later loses.
    #[arg(long)]
    timed: bool,
    /// The built-in bot that gives hints, house:NAME [default: the strongest one].
    #[arg(long, value_name = "SPEC")]
    hints: Option<String>,
    /// Begin at once, without asking for settings.
    #[arg(long)]
    start: bool,
    /// Lines of text in place of the full screen.
    #[arg(long)]
    plain: bool,
    /// The language: en or zh [default: that of the terminal].
    #[arg(long, value_parser = languages())]
    lang: Option<Language>,
    /// Draw with letters only.
    #[arg(long)]
    ascii: bool,
    /// What goes to standard output. With json a program plays one game in the place of people: each
    /// `turn` has what a seat was sent and its legal moves, and the next line of standard input is
    /// the move, or `resign`; see docs/events.md.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
    #[command(flatten)]
    launch: LaunchArgs,
}

/// The languages, by their codes.
fn languages() -> impl TypedValueParser<Value = Language> {
    PossibleValuesParser::new(Language::ALL.map(Language::code))
        .map(|code| Language::of_code(&code).unwrap_or_default())
}

/// The form in which people see the game, and say what they want.
enum TerminalForm {
    /// Lines, from a keyboard or a pipe.
    Lines(Input),
    /// Keys and a mouse.
    Screen(Box<Screen>),
}

impl TerminalForm {
    /// Asks for the settings.
    async fn settle(
        &mut self,
        settings: &mut Settings,
        language: Language,
    ) -> anyhow::Result<Settled> {
        match self {
            Self::Lines(input) => settings.ask(input).await,
            Self::Screen(screen) => full_screen::settle(screen, language, settings).await,
        }
    }

    /// Plays one game.
    async fn play(
        &mut self,
        commands: Commands<'_>,
        game: GameSoFar,
        context: &LaunchContext,
    ) -> anyhow::Result<After> {
        match self {
            Self::Lines(input) => Table::new(commands).play(game, context, input).await,
            Self::Screen(screen) => full_screen::play(screen, commands, game, context).await,
        }
    }
}

impl Play {
    /// Plays games until whoever sits there leaves.
    ///
    /// # Errors
    ///
    /// What was typed is wrong, or a bot or the terminal fails.
    pub async fn run(self) -> anyhow::Result<End> {
        let mut left = self.left_game()?;
        let kind = match &left {
            Some(left) => left.seating.kind,
            None => arena_tournament::find_game(&self.game)?,
        };
        let language = self.lang.unwrap_or_else(words::language_of_terminal);
        let signs = match self.ascii {
            true => Signs::Ascii,
            false => Signs::of_terminal(),
        };
        let mut settings = Settings::new(kind, language, signs, &self.name)?;
        if let Some(left) = &left {
            settings.of_game(&left.seating);
        } else if self.hot_seat {
            settings.set("against", "people")?;
        } else if !self.against.is_empty() {
            settings.against(&self.against)?;
        }
        if left.is_none() {
            settings.set("seat", &self.seat)?;
            settings.limit = self.move_limit;
            settings.is_timed = self.timed;
            settings.seed.clone_from(&self.seed);
        }
        if let Some(setup) = &self.setup {
            settings.set_up(setup)?;
        } else if let Some(usual) = settings.usual_setup().filter(|_| left.is_none()) {
            settings.set_up(usual)?;
        }
        if self.format == Format::Json {
            let game = left.map_or_else(|| self.dealt(&settings), Ok)?;
            let context = self.context(&game.seating)?;
            return program::play(game, &context).await;
        }
        let hints = self.hinter(kind)?;
        let commands = Commands {
            language,
            signs,
            kind,
            hints: &hints,
        };
        let mut form = match !self.plain && full_screen::is_there() {
            true => TerminalForm::Screen(Box::new(Screen::open()?)),
            false => TerminalForm::Lines(Input::new(language)),
        };
        if let TerminalForm::Lines(_) = form {
            report::text(&words::heading(language, kind.info()))?;
        }
        if !self.start
            && left.is_none()
            && form.settle(&mut settings, language).await? == Settled::Left
        {
            return Ok(End::Done);
        }
        loop {
            let game = left.take().map_or_else(|| self.dealt(&settings), Ok)?;
            let context = self.context(&game.seating)?;
            match form.play(commands, game, &context).await? {
                After::Left => return Ok(End::Done),
                After::Saved(file) => {
                    // Behind it there is the terminal as it was before.
                    drop(form);
                    report::line(&words::goes_on(language, &file))?;
                    return Ok(End::Done);
                }
                After::Interrupted => return Ok(End::Interrupted),
                After::Again => {}
                After::Settings => {
                    if form.settle(&mut settings, language).await? == Settled::Left {
                        return Ok(End::Done);
                    }
                }
            }
            // The same deal would be played again.
            settings.seed = None;
        }
    }

    /// The game that was left, where a file of one is named.
    fn left_game(&self) -> anyhow::Result<Option<GameSoFar>> {
        let file = Path::new(&self.game);
        if referee_games::game(&self.game).is_some() || !file.is_file() {
            return Ok(None);
        }
        let others = [&self.setup, &self.seed].into_iter().flatten().next();
        if self.hot_seat || !self.against.is_empty() || others.is_some() {
            return usage(format!(
                "{}: this game goes on as it has begun, without --against, --hot-seat, --setup and \
                 --seed",
                self.game
            ));
        }
        GameSoFar::read(file).map(Some)
    }

    /// The next game of these settings.
    fn dealt(&self, settings: &Settings) -> anyhow::Result<GameSoFar> {
        let root = match &settings.seed {
            Some(seed) => seed
                .parse::<Root>()
                .or_else(|error| usage(format!("--seed: {error}")))?,
            None => secret_root()?,
        };
        Ok(GameSoFar::new(settings.seating(&root)))
    }

    /// What the bots of a game are started with.
    fn context(&self, seating: &Seating) -> anyhow::Result<LaunchContext> {
        let bots = seating.players.iter().filter_map(|player| match player {
            arena_play::SeatPlayer::Bot(entry) => Some(entry),
            arena_play::SeatPlayer::Person(_) => None,
        });
        let bots: Vec<&Entry> = bots.collect();
        let sandbox = self.launch.around(bots, [])?;
        let directory = std::env::current_dir().context("the folder of this process is gone")?;
        Ok(self.launch.options(sandbox)?.open(directory)?)
    }

    /// Name of the bot that gives hints.
    fn hinter(&self, kind: &'static dyn GameKind) -> anyhow::Result<String> {
        let Some(spec) = &self.hints else {
            return Ok(house_bots::best(kind.info()).to_owned());
        };
        let Some(name) = spec.strip_prefix("house:") else {
            return usage(format!(
                "--hints {spec}: expected a built-in bot, house:NAME"
            ));
        };
        let entry = Entry::read(spec, &schemes()?)?;
        entry.check_plays(kind.info())?;
        house_bots::bot(name).or_else(|error| usage(error.to_string()))?;
        Ok(name.to_owned())
    }
}

//! `arena replay explain`: the move that turned a game.

use arena_events::{
    Event,
    replay::{ExpectedScore, ExplanationEvent},
};
use arena_review::{
    ExplainBy, ExplainOptions, ExplainedMove, Explanation, ReviewError, SEARCHES, explain,
};
use arena_terminal::{BuiltIn, Format, GameArgs, NotReplayed};
use arena_words::result_with_evidence;
use clap::Args;
use house_bots::HOUSE;
use referee_bots::Entry;
use referee_core::{FoulKind, Record, Root, shorten};
use referee_games::game;

use crate::{
    End,
    bots::schemes,
    report::{event, plain_table, plural, text, wrapped},
    usage,
};

/// For each move what its seat could expect after it, as a share of the points (100
/// is the first place alone), and what a better move was worth. The strongest built-in bot
/// estimates both, from what the seat knew. Or a built-in bot of your choice plays on in every
/// seat and knows what that seat knew.
#[derive(Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    game: GameArgs,
    /// A built-in bot, better limited by playouts than by time. It says what it
    /// would have played, and plays on in every seat; one answer in ten is random.
    #[arg(long, value_name = "SPEC")]
    bot: Option<String>,
    /// Search with all hands open, also where a built-in bot has estimates.
    #[arg(long, conflicts_with = "bot")]
    search: bool,
    /// How many playouts a move gets: more see further. A search has 8 times as many
    /// [default: 500; with --bot 100]. Estimates have none, so this searches if there is no --bot.
    #[arg(long, value_parser = clap::value_parser!(u32).range(2..=1_000_000))]
    playouts: Option<u32>,
    /// The seed of the playouts: a number or a word. The same seed gives the same result.
    #[arg(long, default_value = "explain")]
    seed: String,
    /// What goes to standard output.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

impl Explain {
    pub(super) async fn run(self) -> anyhow::Result<End> {
        let found = self.game.one().await?;
        let record = found.read_typed()?;
        let root: Root = self
            .seed
            .parse()
            .or_else(|error| usage(format!("--seed: {error}")))?;
        let bot = self.built_in(&record)?;
        let analyst = self.analyst(&record)?;
        let by = match (&bot, &analyst) {
            (Some(bot), _) => ExplainBy::PlayingOn {
                bot,
                playouts: self.playouts.unwrap_or(100),
            },
            (None, Some((_, bot))) => ExplainBy::Estimates(bot),
            (None, None) => ExplainBy::Search {
                playouts: self.playouts.unwrap_or(500),
            },
        };
        let judge = Judge {
            bot: self
                .bot
                .clone()
                .or(analyst.as_ref().map(|(spec, _)| spec.clone())),
            playouts: match by {
                ExplainBy::Search { playouts } | ExplainBy::PlayingOn { playouts, .. } => {
                    Some(playouts)
                }
                ExplainBy::Estimates(_) => None,
            },
        };
        let options = ExplainOptions {
            by,
            seat: None,
            root: &root,
            threads: referee::core_count(),
        };
        let explanation = match explain(&record, &options) {
            Err(ReviewError::Mismatch(mismatch)) => {
                return Err(NotReplayed(found.name(), mismatch).into());
            }
            explained => explained?,
        };
        match self.format {
            Format::Text => judge.show(&record, &explanation)?,
            Format::Json => judge.events(&record, &explanation)?,
        }
        Ok(End::Done)
    }

    /// The bot whose estimates are asked for, with its SPEC, where nothing else is.
    fn analyst(&self, record: &Record) -> anyhow::Result<Option<(String, BuiltIn)>> {
        if self.bot.is_some() || self.search || self.playouts.is_some() {
            return Ok(None);
        }
        analyst(record)
    }

    /// The bot that plays on, where one was named.
    fn built_in(&self, record: &Record) -> anyhow::Result<Option<BuiltIn>> {
        let Some(spec) = &self.bot else {
            return Ok(None);
        };
        let Some(name) = spec.strip_prefix("house:") else {
            return usage(format!("--bot {spec}: expected a built-in bot, house:NAME"));
        };
        let Some(kind) = game(&record.header.game) else {
            return usage(format!("there is no game \"{}\" here", record.header.game));
        };
        let entry = Entry::read(spec, &schemes()?)?;
        entry.check_game(kind.info(), &std::env::current_dir()?)?;
        let bot = house_bots::bot(name).or_else(|error| usage(error.to_string()))?;
        Ok(Some(BuiltIn(bot)))
    }
}

/// The bot that has estimates of a game, with its SPEC; none where no bot has.
pub(crate) fn analyst(record: &Record) -> anyhow::Result<Option<(String, BuiltIn)>> {
    let spec = game(&record.header.game).and_then(|kind| house_bots::analyst(kind.info()));
    let Some(spec) = spec else { return Ok(None) };
    let bot = house_bots::bot(spec).map_err(anyhow::Error::msg)?;
    Ok(Some((format!("house:{spec}"), BuiltIn(bot))))
}

/// The judge of the moves, for those who read about it.
struct Judge {
    /// The SPEC of the bot, where it was one.
    bot: Option<String>,
    /// None where the bot has estimates.
    playouts: Option<u32>,
}

impl Judge {
    fn show(&self, record: &Record, explanation: &Explanation) -> anyhow::Result<()> {
        let players = &record.header.players;
        let rows = explanation
            .moves
            .iter()
            .map(|one| row(one, &players[one.seat], self.playouts.is_some()));
        plain_table(&HEADER, rows)?;
        let written = |score| match self.playouts {
            Some(_) => percent(score),
            None => share(score),
        };
        let words = match (turning_point(explanation), &self.bot) {
            (Some((one, (better, score))), _) => format!(
                "move {} turned the game: {} played {} and could expect {}; {better} was worth {}",
                one.number,
                players[one.seat],
                played(one),
                written(&one.expects),
                written(score),
            ),
            (None, None) => format!(
                "no single move turned it, as far as a search can tell; a bot that \
                 knows the game may see more: --bot {}",
                bots_for(&record.header.game).join(", ")
            ),
            (None, Some(_)) => "no single move turned it".to_owned(),
        };
        let playouts = self.playouts.map(|playouts| plural(playouts, "playout"));
        let how = match (&self.bot, playouts) {
            (Some(bot), Some(playouts)) => {
                format!("± one standard error, by {playouts} by {bot} in every seat")
            }
            (Some(bot), None) => format!("as {bot} estimates them"),
            (None, playouts) => format!(
                "± one standard error, by {SEARCHES} searches of {} with all hands open",
                playouts.unwrap_or_default()
            ),
        };
        let how = format!("shares of the points, {how}");
        let [words, end, how] =
            [words, result_with_evidence(record), how].map(|line| wrapped(&line));
        text(&format!("\n{words}\n{end}\n{how}\n"))
    }

    fn events(&self, record: &Record, explanation: &Explanation) -> anyhow::Result<()> {
        let players = &record.header.players;
        for one in explanation.events(players) {
            event(Event::Explained(one))?;
        }
        let turning_point = explanation.turning_point.map(|at| &explanation.moves[at]);
        event(Event::Explanation(ExplanationEvent {
            turning_point: turning_point.map(|one| one.event(&players[one.seat])),
            difference_error: turning_point.and_then(ExplainedMove::loss_error),
            bot: self.bot.clone(),
            playouts: self.playouts.map(u64::from),
        }))
    }
}

/// The move that turned the game, and the better one.
fn turning_point(explanation: &Explanation) -> Option<(&ExplainedMove, &(String, ExpectedScore))> {
    let one = &explanation.moves[explanation.turning_point?];
    Some((one, one.better.as_ref()?))
}

const HEADER: [&str; 7] = ["move", "by", "plays", "expects", "best", "worth", "lost"];
/// The longest name and the longest move in a table, so that a line fits.
const SHORT_NAME: usize = 12;
const LONGEST_MOVE: usize = 14;

fn row(one: &ExplainedMove, player: &str, has_errors: bool) -> [String; 7] {
    let percent = |score| {
        if has_errors {
            percent(score)
        } else {
            share(score)
        }
    };
    let [best, worth, lost] = match one.better.as_ref().filter(|_| one.is_loss()) {
        Some((best, score)) => [
            shorten(best, LONGEST_MOVE),
            percent(score),
            format!("{:.0}", 100.0 * one.loss()),
        ],
        None => [const { String::new() }; 3],
    };
    [
        one.number.to_string(),
        shorten(player, SHORT_NAME),
        shorten(played(one), LONGEST_MOVE),
        percent(&one.expects),
        best,
        worth,
        lost,
    ]
}

/// The move, or the kind of the foul.
fn played(one: &ExplainedMove) -> &str {
    let foul = || one.foul.map_or("", FoulKind::words);
    one.notation.as_deref().unwrap_or_else(foul)
}

/// The built-in bots that play a game.
fn bots_for(game: &str) -> Vec<String> {
    let bots = HOUSE.iter().filter(|bot| bot.games.include(game));
    bots.map(|bot| format!("house:{}", bot.name)).collect()
}

/// An estimate whose error nobody knows.
fn share(expected: &ExpectedScore) -> String {
    format!("{:.0} %", 100.0 * expected.score)
}

fn percent(expected: &ExpectedScore) -> String {
    let ExpectedScore { score, error } = expected;
    format!("{:.0} ± {:.0} %", 100.0 * score, 100.0 * error)
}

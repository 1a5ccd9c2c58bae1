//! `arena replay explain`: the move that turned a game.

use arena_events::{
    Event,
    replay::{BetterMove, ExpectedScore, ExplainedEvent, ExplanationEvent},
};
use arena_review::{
    ExplainOptions, ExplainedMove, Explanation, InProcessBot, ReviewError, SEARCHES, explain,
};
use clap::Args;
use house_bots::HOUSE;
use referee_core::{FoulKind, Record, Root, shorten};
use referee_games::game;
use referee_worker::Entry;

use super::{games::GameArgs, in_words};
use crate::{
    End, NotReplayed,
    bots::schemes,
    built_in::BuiltIn,
    report::{event, plain_table, plural, text, wrapped},
    usage,
    verbs::Format,
};

/// For each move what its seat could expect after it, as a share of the points (100
/// is the first place alone), and what a better move was worth. Both are found by
/// searches with all hands open, which see more than any player did; or by a built-in
/// bot, which plays on in every seat and knows what that seat knew.
#[derive(Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    game: GameArgs,
    /// A built-in bot, better limited by playouts than by time. It says what it
    /// would have played, and plays on in every seat; one answer in ten is random.
    #[arg(long, value_name = "SPEC")]
    bot: Option<String>,
    /// How many playouts a move gets: more see further. A search has 8 times as many
    /// [default: 500; with --bot 100].
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
        let options = ExplainOptions {
            bot: bot.as_ref().map(|bot| bot as &dyn InProcessBot),
            playouts: self.playouts.unwrap_or(match self.bot {
                Some(_) => 100,
                None => 500,
            }),
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
            Format::Text => self.show(&record, &explanation, options.playouts)?,
            Format::Json => self.events(&record, &explanation, options.playouts)?,
        }
        Ok(End::Done)
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

    fn show(
        &self,
        record: &Record,
        explanation: &Explanation,
        playouts: u32,
    ) -> anyhow::Result<()> {
        let players = &record.header.players;
        let rows = explanation
            .moves
            .iter()
            .map(|one| row(one, &players[one.seat]));
        plain_table(&HEADER, rows)?;
        let words = match (turning_point(explanation), &self.bot) {
            (Some((one, (better, score))), _) => format!(
                "move {} turned the game: {} played {} and could expect {}; {better} was worth {}",
                one.number,
                players[one.seat],
                played(one),
                percent(&one.expects),
                percent(score),
            ),
            (None, None) => format!(
                "no single move turned it, as far as a search can tell; a bot that \
                 knows the game may see more: --bot {}",
                bots_for(&record.header.game).join(", ")
            ),
            (None, Some(_)) => "no single move turned it".to_owned(),
        };
        let playouts = plural(playouts, "playout");
        let by = match &self.bot {
            Some(bot) => format!("{playouts} by {bot} in every seat"),
            None => format!("{SEARCHES} searches of {playouts} with all hands open"),
        };
        let how = format!("shares of the points, ± one standard error, by {by}");
        let [words, end, how] = [words, in_words(record), how].map(|line| wrapped(&line));
        text(&format!("\n{words}\n{end}\n{how}\n"))
    }

    fn events(
        &self,
        record: &Record,
        explanation: &Explanation,
        playouts: u32,
    ) -> anyhow::Result<()> {
        let explained = |one: &ExplainedMove| ExplainedEvent {
            number: one.number as u64,
            seat: one.seat.index() as u8,
            player: record.header.players[one.seat].clone(),
            notation: one.notation.clone(),
            expects: one.expects,
            better: one.better.as_ref().map(|(notation, expects)| BetterMove {
                notation: notation.clone(),
                expects: *expects,
            }),
        };
        for one in &explanation.moves {
            event(Event::Explained(explained(one)))?;
        }
        let turning_point = explanation.turning_point.map(|at| &explanation.moves[at]);
        event(Event::Explanation(ExplanationEvent {
            turning_point: turning_point.map(explained),
            difference_error: turning_point.and_then(ExplainedMove::loss_error),
            bot: self.bot.clone(),
            playouts: u64::from(playouts),
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

fn row(one: &ExplainedMove, player: &str) -> [String; 7] {
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

fn percent(expected: &ExpectedScore) -> String {
    let ExpectedScore { score, error } = expected;
    format!("{:.0} ± {:.0} %", 100.0 * score, 100.0 * error)
}

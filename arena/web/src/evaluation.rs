//! The display of what players can expect: as bars at a table, and as a graph over a game.

use std::{sync::Arc, time::Duration};

use arena_review::ExpectedScore;
use maud::{Markup, html};
use parking_lot::Mutex;
use referee_core::{PerSeat, Record};

use crate::{
    advice::{Advice, AdviceRequest, Adviser, NoAdvice},
    client::Client,
    error::{Full, PageError},
    expectation::{Course, ExpectedShares, Turn},
    language::Language,
    plot,
    queue::WorkQueue,
    viewer::ViewedGame,
};

/// Of so many games evaluations are kept.
const KEPT: usize = 64;

/// Longest time that whoever asked for something waits for it: bots think when nobody else does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// Evaluations of games that somebody asked for.
pub(crate) struct Evaluations {
    adviser: Adviser,
    queue: Arc<WorkQueue>,
    kept: Arc<KeptEvaluations>,
}

/// The one that was asked for last is the last.
#[derive(Default)]
struct KeptEvaluations(Mutex<Vec<(String, Arc<Course>)>>);

impl Evaluations {
    pub(crate) fn new(adviser: Adviser, queue: Arc<WorkQueue>) -> Self {
        Self {
            adviser,
            queue,
            kept: Arc::default(),
        }
    }

    /// The evaluation of a game that is over, for this client. What takes longer than anybody waits
    /// is there when it is asked for again.
    pub(crate) async fn of(
        &self,
        record: &Record,
        client: Client,
    ) -> Result<Arc<Course>, PageError> {
        let key = record.play_hash();
        if let Some(kept) = self.kept.find(&key) {
            return Ok(kept);
        }
        let request = AdviceRequest::Course(record.to_json_lines());
        let (adviser, kept) = (self.adviser.clone(), self.kept.clone());
        let course = self.queue.submit(client, move || {
            // Somebody else may have asked for the same.
            if let Some(kept) = kept.find(&key) {
                return Ok(kept);
            }
            let advice = adviser(&request);
            let course = Arc::new(Course::of(advice)?);
            kept.add(key, course.clone());
            Ok(course)
        })?;
        let waited = tokio::time::timeout(PATIENCE, course);
        let course = waited.await.map_err(|_| Full::Work)?;
        course.map_err(|error| PageError::system("the game could not be evaluated", error))?
    }
}

impl KeptEvaluations {
    fn find(&self, key: &str) -> Option<Arc<Course>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(known, _)| known == key)?;
        let found = kept.remove(at);
        let course = found.1.clone();
        kept.push(found);
        Some(course)
    }

    fn add(&self, key: String, course: Arc<Course>) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((key, course));
    }
}

impl Course {
    fn of(advice: Result<Advice, NoAdvice>) -> Result<Self, PageError> {
        match advice {
            Ok(Advice::Course { bot, plies }) => Ok(Self {
                plies: plies.into_iter().map(PerSeat::from).collect(),
                by: bot,
            }),
            Ok(_) => Err(PageError::system(
                "the game could not be evaluated",
                "something else was answered",
            )),
            Err(error) => Err(PageError::NotFound(format!(
                "the game can't be evaluated: {error}"
            ))),
        }
    }
}

/// What is shown of the evaluation of a game.
#[derive(Clone, Copy)]
pub(crate) enum ShownCourse<'a> {
    Known(&'a Course),
    /// Whoever looks may ask for it.
    Offered,
    None,
}

impl<'a> ShownCourse<'a> {
    /// What is shown where it can be asked for.
    pub(crate) fn of(course: Option<&'a Course>) -> Self {
        course.map_or(Self::Offered, Self::Known)
    }

    /// The moves that turned the game.
    pub(crate) fn turns(self, game: &ViewedGame) -> Vec<Turn> {
        match self {
            Self::Known(course) => course.turns(game.movers()),
            Self::Offered | Self::None => Vec::new(),
        }
    }
}

/// The evaluation of a game after so many moves, with the moves that turned it; or the way to ask for
/// it. `turned` are these moves, and `at` is the address of the game's page.
pub(crate) fn section(
    game: &ViewedGame,
    course: ShownCourse<'_>,
    turned: &[Turn],
    (at, ply): (&str, usize),
    language: Language,
) -> Markup {
    match course {
        ShownCourse::None => html! {},
        ShownCourse::Offered => html! {
            section.evaluation #evaluation {
                p { a.button href=(format!("{at}?ply={ply}&evaluation=yes#evaluation")) {
                    (language.pick("Evaluate this game", "评估本局"))
                } }
            }
        },
        ShownCourse::Known(course) => html! {
            section.evaluation #evaluation {
                h2 { (language.pick("Evaluation", "评估")) }
                (bar(game.names(), course, ply, language))
                (graph(game.names(), course, ply, language))
                (turns(game, turned, at, language))
            }
        },
    }
}

/// What two players could expect at one position, as one bar. The script moves it.
fn bar(names: &[String], course: &Course, ply: usize, language: Language) -> Markup {
    let [first, second] = names else {
        return html! {};
    };
    let scores = course
        .plies
        .iter()
        .map(|expects| expects.as_slice()[0].score);
    let scores: Vec<String> = scores
        .map(|score| format!("{:.0}", score * 100.0))
        .collect();
    html! {
        div.balance {
            span { (first) }
            meter #balance min="0" max="100" value=[scores.get(ply)] data-scores=(scores.join(" "))
                aria-label=(match language {
                    Language::En => format!("what {first} could expect"),
                    Language::Zh => format!("{first} 的预期得分占比"),
                }) {}
            span { (second) }
        }
    }
}

/// The moves that turned a game, in words.
fn turns(game: &ViewedGame, turns: &[Turn], at: &str, language: Language) -> Markup {
    let said = |turn: &Turn| {
        let name = &game.names()[turn.seat.index()];
        let action = game.moment_words(turn.ply - 1, language);
        let [before, after] = [turn.before, turn.after].map(|share| share * 100.0);
        match language {
            Language::En => format!("{name}: {action}, from {before:.0} % to {after:.0} %"),
            Language::Zh => format!("{name}：{action}，从 {before:.0} % 到 {after:.0} %"),
        }
    };
    html! {
        @if !turns.is_empty() {
            h3 { (language.pick("Moves that turned the game", "转折点")) }
            ol.turns { @for turn in turns { li value=(turn.ply) {
                @match at {
                    "" => (said(turn)),
                    at => a href=(format!("{at}?ply={}&evaluation=yes", turn.ply)) data-ply=(turn.ply) { (said(turn)) },
                }
            } } }
        }
    }
}

/// A bar for each player.
pub(crate) fn bars(names: &[String], expected: &ExpectedShares, language: Language) -> Markup {
    html! {
        div.expects {
            p { @match &expected.by {
                Some(bot) => {
                    (language.pick("Expected shares of the points, as this bot estimates them: ", "预期得分占比，估计者："))
                    code { (bot) }
                }
                None => (language.pick("Expected shares of the points, by random playouts:", "随机模拟的预期得分占比：")),
            } }
            @for (name, one) in names.iter().zip(expected.shares.as_slice()) {
                div.expect {
                    span.who { (name) }
                    meter min="0" max="1" value=(format!("{:.3}", one.score)) aria-label=(name) {}
                    span.number { (percent(one, expected.by.is_none())) }
                }
            }
        }
    }
}

/// A share, with its standard error where it is known.
fn percent(one: &ExpectedScore, has_error: bool) -> String {
    match has_error {
        true => format!("{:.0} ± {:.0} %", one.score * 100.0, one.error * 100.0),
        false => format!("{:.0} %", one.score * 100.0),
    }
}

/// A graph of what each player could expect after each number of moves: a line for each player, or
/// the first player's alone where there are two.
fn graph(names: &[String], course: &Course, ply: usize, language: Language) -> Markup {
    let shown = match names.len() {
        2 => &names[..1],
        _ => names,
    };
    let lines = shown.iter().enumerate().map(|(seat, name)| plot::PlotLine {
        name: name.clone(),
        points: (course.plies.iter().enumerate())
            .map(|(ply, expects)| (ply as f64, expects.as_slice()[seat].score * 100.0))
            .collect(),
    });
    let axes = plot::Axes {
        label: language.pick("Evaluation of the game", "对局评估"),
        x: language.pick("move", "着法"),
        y: language.pick("expected share of the points, %", "预期得分占比，%"),
        range: Some((0.0, 100.0)),
        cursor: Some(ply as f64),
    };
    html! {
        figure {
            (plot::lines(&lines.collect::<Vec<_>>(), &axes))
            figcaption {
                (language.pick("What each player could expect before each move", "每步之前各方的预期得分占比"))
                @if names.len() == 2 { (language.pick("; the rest is for ", "；其余归 ")) (names[1]) }
                @match &course.by {
                    Some(bot) => {
                        (language.pick("; as this bot estimates it from what the player knew: ", "；估计者（只用该玩家当时知道的信息）："))
                        code { (bot) }
                    }
                    None => (language.pick(
                        "; by random playouts with all hands open, so a strong player may see it otherwise.",
                        "；由可见全部手牌的随机模拟得出，高手的判断可能不同。",
                    )),
                }
            }
        }
    }
}

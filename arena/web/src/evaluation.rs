//! The display of what players can expect, as bars at a table and as a graph over a game, and of how
//! the strongest bot would go on.

use std::{sync::Arc, time::Duration};

use arena_contest::EntryExplanation;
use arena_review::ExpectedScore;
use maud::{Markup, html};
use parking_lot::Mutex;
use referee_core::{PerSeat, Record, Seat};

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

/// Of so many games evaluations are kept, and explanations.
const KEPT: usize = 64;

/// Longest time that whoever asked for something waits for it: bots think when nobody else does.
pub(crate) const PATIENCE: Duration = Duration::from_secs(90);

/// What bots say of games, as somebody asked for it.
pub(crate) struct Evaluations {
    adviser: Adviser,
    queue: Arc<WorkQueue>,
    courses: Arc<Kept<Course>>,
    lines: Arc<Kept<BestLine>>,
    explanations: Arc<Kept<EntryExplanation>>,
}

/// What is kept by what it is of. The one that was asked for last is the last.
struct Kept<T>(Mutex<Vec<(String, Arc<T>)>>);

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

/// The moves with which a bot would go on from a position of a game.
pub(crate) struct BestLine {
    /// Its name.
    pub(crate) by: String,
    /// The number of moves that are played.
    pub(crate) after: usize,
    pub(crate) moves: Vec<(Seat, String)>,
}

impl Evaluations {
    pub(crate) fn new(adviser: Adviser, queue: Arc<WorkQueue>) -> Self {
        Self {
            adviser,
            queue,
            courses: Arc::default(),
            lines: Arc::default(),
            explanations: Arc::default(),
        }
    }

    /// The evaluation of a game that is over, for this client.
    pub(crate) async fn course(
        &self,
        record: &Record,
        client: Client,
    ) -> Result<Arc<Course>, PageError> {
        let request = AdviceRequest::Course(record.to_json_lines());
        let key = record.play_hash();
        self.ask(&self.courses, key, request, client, Course::of)
            .await
    }

    /// The line of the strongest bot after so many moves of a game that is over, for this client.
    pub(crate) async fn line(
        &self,
        record: &Record,
        after: usize,
        client: Client,
    ) -> Result<Arc<BestLine>, PageError> {
        let request = AdviceRequest::Line {
            record: record.to_json_lines(),
            after,
        };
        let key = format!("{} {after}", record.play_hash());
        let read = move |advice| BestLine::of(advice, after);
        self.ask(&self.lines, key, request, client, read).await
    }

    /// What the moves of one seat were worth by what it knew, likewise.
    pub(crate) async fn explanation(
        &self,
        record: &Record,
        seat: Seat,
        client: Client,
    ) -> Result<Arc<EntryExplanation>, PageError> {
        // The names of its players are not the same for everybody.
        let names = record.header.players.as_slice().join("\n");
        let key = format!("{} {seat} {names}", record.play_hash());
        let request = AdviceRequest::Explanation {
            record: record.to_json_lines(),
            seat: seat.index() as u8,
        };
        self.ask(&self.explanations, key, request, client, explanation_of)
            .await
    }

    /// What takes longer than anybody waits is there when it is asked for again.
    async fn ask<T: Send + Sync + 'static>(
        &self,
        kept: &Arc<Kept<T>>,
        key: String,
        request: AdviceRequest,
        client: Client,
        read: impl FnOnce(Result<Advice, NoAdvice>) -> Result<T, PageError> + Send + 'static,
    ) -> Result<Arc<T>, PageError> {
        if let Some(kept) = kept.find(&key) {
            return Ok(kept);
        }
        let (adviser, kept) = (self.adviser.clone(), kept.clone());
        let answer = self.queue.submit(client, move || {
            // Somebody else may have asked for the same.
            if let Some(kept) = kept.find(&key) {
                return Ok(kept);
            }
            let answer = Arc::new(read(adviser(&request))?);
            kept.add(key, answer.clone());
            Ok(answer)
        })?;
        let waited = tokio::time::timeout(PATIENCE, answer);
        let answer = waited.await.map_err(|_| Full::Work)?;
        answer.map_err(|error| PageError::system("the game could not be evaluated", error))?
    }
}

/// What the moves of a seat were worth.
fn explanation_of(advice: Result<Advice, NoAdvice>) -> Result<EntryExplanation, PageError> {
    match advice {
        Ok(Advice::Explanation(explanation)) => Ok(explanation),
        other => Err(unanswered(other)),
    }
}

impl<T> Kept<T> {
    fn find(&self, key: &str) -> Option<Arc<T>> {
        let mut kept = self.0.lock();
        let at = kept.iter().position(|(known, _)| known == key)?;
        let found = kept.remove(at);
        let answer = found.1.clone();
        kept.push(found);
        Some(answer)
    }

    fn add(&self, key: String, answer: Arc<T>) {
        let mut kept = self.0.lock();
        if kept.len() >= KEPT {
            kept.remove(0);
        }
        kept.push((key, answer));
    }
}

/// The error where a bot says nothing of a game, or something else than it was asked.
fn unanswered(advice: Result<Advice, NoAdvice>) -> PageError {
    match advice {
        Ok(_) => PageError::system(
            "the game could not be evaluated",
            "something else was answered",
        ),
        Err(error) => PageError::NotFound(format!("the game can't be evaluated: {error}")),
    }
}

impl BestLine {
    fn of(advice: Result<Advice, NoAdvice>, after: usize) -> Result<Self, PageError> {
        match advice {
            Ok(Advice::Line { bot, moves }) => Ok(Self {
                by: bot,
                after,
                moves,
            }),
            other => Err(unanswered(other)),
        }
    }
}

impl Course {
    fn of(advice: Result<Advice, NoAdvice>) -> Result<Self, PageError> {
        match advice {
            Ok(Advice::Course { bot, plies }) => Ok(Self {
                plies: plies.into_iter().map(PerSeat::from).collect(),
                by: bot,
            }),
            other => Err(unanswered(other)),
        }
    }
}

/// What is known of a game besides its moves.
#[derive(Clone, Default)]
pub(crate) struct Analysis {
    /// The evaluation.
    pub(crate) course: Option<Arc<Course>>,
    pub(crate) line: Option<Arc<BestLine>>,
    /// True if whoever looks may ask for what is not known.
    pub(crate) is_offered: bool,
}

impl Analysis {
    /// The moves that turned the game.
    pub(crate) fn turns(&self, game: &ViewedGame) -> Vec<Turn> {
        let course = self.course.as_ref();
        course.map_or_else(Vec::new, |course| course.turns(game.movers()))
    }

    /// The line after so many moves.
    pub(crate) fn line_after(&self, ply: usize) -> Option<&BestLine> {
        self.line.as_deref().filter(|line| line.after == ply)
    }
}

/// What is known of a game after so many moves, with the moves that turned it, and the ways to ask for
/// what is not. `turned` are these moves, and `at` is the address of the game's page.
pub(crate) fn section(
    game: &ViewedGame,
    analysis: &Analysis,
    turned: &[Turn],
    (at, ply): (&str, usize),
    language: Language,
) -> Markup {
    let course = analysis.course.as_deref();
    let line = analysis.line_after(ply);
    let is_played_on = !at.is_empty() && game.can_be_played_on();
    let evaluated = course.map_or("", |_| "&evaluation=yes");
    html! {
        @if is_played_on || analysis.is_offered {
            p.next {
                @if is_played_on {
                    a.button data-of-position="on" href=(format!("{at}/on?ply={ply}")) {
                        (language.pick("Play on from here", "从这里接着下"))
                    }
                }
                @if analysis.is_offered {
                    a.button.other data-asks="line" hidden[ply == game.plies() || line.is_some()]
                        href=(format!("{at}?ply={ply}{evaluated}&line=yes#viewer")) {
                        (language.pick("Best moves from here", "此处的最佳着法"))
                    }
                    @if course.is_none() {
                        a.button.other href=(format!("{at}?ply={ply}&evaluation=yes#evaluation")) {
                            (language.pick("Evaluate this game", "评估本局"))
                        }
                    }
                }
            }
        }
        @if course.is_some() || line.is_some() {
            section.evaluation #evaluation {
                @if let Some(line) = line { (best_line(game, line, language)) }
                @if let Some(course) = course {
                    h2 { (language.pick("Evaluation", "评估")) }
                    (bar(game.names(), course, ply, language))
                    (graph(game.names(), course, ply, language))
                    (turns(game, turned, at, language))
                }
            }
        }
    }
}

/// The moves with which the strongest bot would go on.
fn best_line(game: &ViewedGame, line: &BestLine, language: Language) -> Markup {
    html! {
        div #line {
            h2 { (language.pick("Best moves from here", "此处的最佳着法")) }
            @if line.moves.is_empty() {
                p { (language.pick("There is no move.", "没有着法。")) }
            }
            ol.moves start=(line.after + 1) {
                @for (seat, notation) in &line.moves { li {
                    span.who { (game.names()[seat.index()]) } " "
                    (game.kind.spoken_move(notation, language))
                } }
            }
            p.why {
                (language.pick("This bot would go on so in every seat: ", "以下机器人代替各方继续："))
                code { (line.by) }
            }
        }
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

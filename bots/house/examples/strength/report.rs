//! Makes docs/strength.md and its plots of the results.

use crate::{
    experiments::{Experiment, Part},
    plot,
    results::{Game, Results},
};

const INTRODUCTION: &str = "\
# How strong the built-in bots are

`cargo xtask strength --budget 2h` plays the games of this page and writes it. It can be stopped
at any moment and continues where it was; what has fewer deals than another table was stopped
early. Each deal of a game of two is played from both seats, and one of Big Two from all four;
the openings of Othello are 8 random plies, the boards of Connect Four are empty and random in
size and forbidden cell, as the game says. An interval is 1.96 standard errors of the
mean over deals (95 %).

A bot with `time=` has that much time of the wall for a move, with one thread unless it says
more; the others take what they take. *Longest* is the longest answer of the measured bot, which
includes what else the machine did meanwhile. These games have a limit of a minute for a move, and
none was lost on time. The limit of a match is 3 s unless it says otherwise; `edge`, `tenpai` and `ai4`
answer within it, also at a level, with what they have found until then.
";

/// The games in the order of the report, each with its title.
const GAMES: [(&str, &str); 4] = [
    ("othello", "Othello"),
    ("connect_four", "Connect Four with a forbidden cell"),
    ("mahjong", "Arcade Mahjong"),
    ("big_two", "Reversal Big Two"),
];

/// The parts in their order, each with its title.
const PARTS: [(Part, &str); 6] = [
    (Part::Gauntlet, "Against the other built-in bots"),
    (Part::Arcade, "In the arcade: its own score"),
    (Part::Time, "More time"),
    (Part::Threads, "More threads"),
    (Part::Levels, "Levels"),
    (Part::Ideas, "Without one idea, with the same work"),
];

/// A mean and half the width of its interval of 95 %.
#[derive(Clone, Copy)]
struct Estimate {
    mean: f64,
    error: f64,
}

impl Estimate {
    /// Of what each deal gave.
    fn of(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
        // One deal has no spread.
        let variance = squares / (count - 1.0);
        Self {
            mean,
            error: 1.96 * (variance / count).sqrt(),
        }
    }

    /// With so many digits behind the point.
    fn text(self, digits: usize) -> String {
        match self.error.is_finite() {
            true => format!("{:.digits$} ± {:.digits$}", self.mean, self.error),
            false => format!("{:.digits$} ± ?", self.mean),
        }
    }
}

/// The paths of the files below docs, with their texts.
pub(crate) fn files(experiments: &[Experiment], results: &Results) -> Vec<(String, String)> {
    let plots = GAMES.iter().filter_map(|(game, title)| {
        let points = points(experiments, results, game);
        let value = value_name(game, Part::Time);
        (points.len() > 1).then(|| (path(game), plot::svg(&format!("{title}: {value}"), &points)))
    });
    let page = format!("{INTRODUCTION}{}", page(experiments, results));
    plots.chain([("strength.md".to_owned(), page)]).collect()
}

/// The path of the plot of a game.
fn path(game: &str) -> String {
    format!("strength/{game}.svg")
}

/// By milliseconds a move: the main value and its error.
fn points(experiments: &[Experiment], results: &Results, game: &str) -> Vec<(f64, f64, f64)> {
    let of_game = experiments.iter().filter(|it| it.game == game);
    let mut points: Vec<_> = of_game
        .filter_map(|it| {
            let main = main_value(it, &results.of(it));
            let time = it.time.filter(|_| main.error.is_finite())?;
            Some((f64::from(time), main.mean, main.error))
        })
        .collect();
    points.sort_by(|one, other| one.0.total_cmp(&other.0));
    points
}

/// The tables of all experiments that have been played.
pub(crate) fn page(experiments: &[Experiment], results: &Results) -> String {
    let mut page = String::new();
    for (game, title) in GAMES {
        let of_game = experiments.iter().filter(|it| it.game == game);
        let played: Vec<_> = of_game
            .map(|it| (it, results.of(it)))
            .filter(|(_, deals)| !deals.is_empty())
            .collect();
        if played.is_empty() {
            continue;
        }
        page += &format!("\n## {title}\n");
        for (part, heading) in PARTS {
            let of_part: Vec<_> = played.iter().filter(|(it, _)| it.part == part).collect();
            if of_part.is_empty() {
                continue;
            }
            page += &format!("\n### {heading}\n\n{}", head(game, part));
            for (experiment, deals) in of_part {
                page += &row(experiment, deals);
            }
            if part == Part::Time && points(experiments, results, game).len() > 1 {
                let (value, path) = (value_name(game, part), path(game));
                page += &format!("\n![{title}: {value} by time a move]({path})\n");
            }
        }
    }
    page
}

/// The name of the main value of a part.
fn value_name(game: &str, part: Part) -> &'static str {
    match (game, part) {
        (_, Part::Arcade) => "score a round",
        ("mahjong", _) => "points a round more than the other",
        ("big_two", _) => "place",
        _ => "score in %",
    }
}

fn head(game: &str, part: Part) -> &'static str {
    match (game, part) {
        (_, Part::Arcade) => {
            "| bot | rounds | score a round | mean | longest |\n|---|---|---|---|---|\n"
        }
        ("mahjong", _) => {
            "| bot | against | deals | points a round more | mean | longest |\n|---|---|---|---|---|---|\n"
        }
        ("big_two", _) => {
            "| bot | against | deals | place | first, % | mean | longest |\n|---|---|---|---|---|---|---|\n"
        }
        _ => {
            "| bot | against | deals | won-drawn-lost | score, % | mean | longest |\n|---|---|---|---|---|---|---|\n"
        }
    }
}

/// The value of a deal: the mean over its games.
fn per_deal(deals: &[&[Game]], value: impl Fn(&Game) -> f64) -> Estimate {
    let of_deal = |games: &&[Game]| games.iter().map(&value).sum::<f64>() / games.len() as f64;
    Estimate::of(&deals.iter().map(of_deal).collect::<Vec<_>>())
}

fn main_value(experiment: &Experiment, deals: &[&[Game]]) -> Estimate {
    match (experiment.game, experiment.part) {
        (_, Part::Arcade) => per_deal(deals, |game| f64::from(game.score)),
        ("mahjong", _) => per_deal(deals, |game| f64::from(game.score - game.others)),
        ("big_two", _) => per_deal(deals, |game| game.place),
        _ => per_deal(deals, |game| 100.0 * (2.0 - game.place)),
    }
}

fn row(experiment: &Experiment, deals: &[&[Game]]) -> String {
    let games = || deals.iter().flat_map(|games| games.iter());
    let main = main_value(experiment, deals);
    let bot = format!("`{}`", experiment.bot);
    let others: Vec<_> = experiment
        .others
        .iter()
        .map(|it| format!("`{it}`"))
        .collect();
    let others = others.join(", ");
    let count = deals.len();
    let moves: u64 = games().map(|game| u64::from(game.moves)).sum();
    let total: u64 = games()
        .map(|game| game.mean_us * u64::from(game.moves))
        .sum();
    let mean = total as f64 / moves.max(1) as f64 / 1000.0;
    let longest = games().map(|game| game.longest_us).max().unwrap_or(0) as f64 / 1000.0;
    let times = format!("{mean:.1} ms | {longest:.1} ms |\n");
    match (experiment.game, experiment.part) {
        (_, Part::Arcade) => format!("| {bot} | {count} | {} | {times}", main.text(2)),
        ("mahjong", _) => {
            format!("| {bot} | {others} | {count} | {} | {times}", main.text(2))
        }
        ("big_two", _) => {
            let first = per_deal(deals, |game| if game.place < 1.5 { 100.0 } else { 0.0 });
            let (place, first) = (main.text(3), first.text(1));
            format!("| {bot} | {others} | {count} | {place} | {first} | {times}")
        }
        _ => {
            let with = |place: f64| {
                games()
                    .filter(|game| (game.place - place).abs() < 0.1)
                    .count()
            };
            let counts = format!("{}-{}-{}", with(1.0), with(1.5), with(2.0));
            let score = main.text(1);
            format!("| {bot} | {others} | {count} | {counts} | {score} | {times}")
        }
    }
}
